//! Winklehner and Friedl, *Reduction trees for MPI Reductions* (2016): three trees, their rounds, and a reduce by each, on *jupiter*, a cluster
//! of 36 nodes of 16 cores, and the library NEC MPI.

mod eager;
mod measured;
mod simulated;
mod trees;

use schedule::Algorithm;

use crate::cluster::{Cluster, Shape};
use crate::page::Page;
use crate::{Exhibit, Paper};

const PAPER: Paper = Paper {
    name: "Report 5",
    pictures: &[
        "report-5-process-count-eager.svg",
        "report-5-array-size.svg",
    ],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("report-5-trees", trees::fill),
    PAPER.simulated("report-5-process-count", simulated::process_count),
    PAPER.measured("report-5-process-count-measured", measured::process_count),
    PAPER.simulated("report-5-array-size", simulated::array_size),
    PAPER.measured("report-5-array-size-measured", measured::array_size),
];

/// Typical constants of such hardware; the report names neither processors nor network, and gives none.
///
/// Nodes of two eight-core Opterons and InfiniBand QDR, as clusters of that year and size have: 3.2 GB/s and 1.7 us between nodes; half of a copy's memory
/// bandwidth and 0.8 us within; a sum of doubles at 4 GB/s.
const JUPITER: Cluster = Cluster::new([800.0, 0.4], [1700.0, 0.31], 0.25);

/// All 16 processes of this number of nodes.
fn nodes(nodes: usize) -> Shape {
    Shape::new(nodes, 16)
}

/// All nodes.
const NODES: usize = 36;

/// A double; the report does not say what its elements are.
const ELEMENT_BYTES: f64 = 8.0;

/// The report's trees.
const TREES: [Algorithm; 3] = [Algorithm::Binomial, Algorithm::Fibonacci, Algorithm::Binary];

/// The description of the machine on every simulated page, and of the two cost models of messages.
fn describe(page: &mut Page, what: &str) {
    page.text(format!(
        "{what}, simulated for *jupiter*, nodes of 16 processes, elements of {ELEMENT_BYTES} bytes: {}. The constants are assumed for InfiniBand QDR and processors of its time, not published. Links are not shared. \
         *Synchronous*: a message begins when both ends are there and takes both of them α + β b, so a parent takes its children one after the other. *Eager*: a sender goes on at once, a message is under way \
         for α, and only its bytes take the receiver one after the other: what libraries do with short messages.",
        JUPITER.words()
    ));
}
