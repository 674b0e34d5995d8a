//! Gruber and Freinberger, pipelined allreduce algorithms (2023): block sizes, running-time estimates, and five implementations.

mod estimates;
mod figures;
mod measured;

use harness::Error;
use harness::markdown::digits;
use harness::plot::Axis;
use schedule::{Algorithm, Link};

use crate::cluster::{Best, Cluster, Run, Shape, fastest};
use crate::page::Page;
use crate::said::{count, if_any, line};
use crate::{Context, Exhibit, Paper};

const PAPER: Paper = Paper {
    name: "Report 2",
    pictures: &["report-2-figure-4.svg"],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("report-2-estimates", estimates::fill),
    PAPER.simulated("report-2-figure-4", block_sizes),
    PAPER.measured("report-2-figure-4-measured", measured::block_size),
    PAPER.simulated("report-2-figures", figures::fill),
    PAPER.measured("report-2-figures-measured", measured::figures),
];

/// The links of the report's cluster *Hydra*, 36 nodes of two Xeon Gold 6139 with Omni-Path. The constants are typical, not the report's.
///
/// Omni-Path carries 100 Gbit/s per rail, and by default a process uses only its socket's rail, so a byte takes 0.08 ns. A small message
/// takes about 1 us. Within a node, Open MPI copies a large message once, at 6 to 7 GB/s if all cores copy, and passes a small message on in
/// half a microsecond. A maximum of floats reads two streams from memory and writes one, at about 10 GB/s.
const HYDRA: Cluster = Cluster::new([500.0, 0.15], [1000.0, 0.08], 0.1);

/// The configurations of Table 2: nodes x processes.
const SHAPES: [Shape; 8] = [
    Shape::new(1, 16),
    Shape::new(1, 32),
    Shape::new(20, 1),
    Shape::new(20, 16),
    Shape::new(20, 32),
    Shape::new(36, 1),
    Shape::new(36, 16),
    Shape::new(36, 32),
];

/// The configurations that are drawn over all counts.
const DRAWN: [Shape; 2] = [Shape::new(20, 16), Shape::new(36, 32)];

/// The size of `MPI_FLOAT` in bytes.
const ELEMENT_BYTES: f64 = 4.0;

/// The report's greatest `count`.
const COUNT_MAX: usize = 10_000_000;

/// Describes the machine on every simulated page.
fn describe(page: &mut Page) {
    page.text(format!(
        "These are the programs that plans run, simulated message by message for *Hydra*, a cluster with an Omni-Path network, and `MPI_FLOAT`: {}. The constants are assumed for this hardware, not published. \
         Messages are synchronous, and links are not shared: unless mentioned, contention for memory or for a network interface is not simulated.",
        HYDRA.words()
    ));
}

/// The algorithms of exercises 1 to 5 (Figures 2, 3, 5, 6 and 7), then others that the report does not implement.
const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::ReduceBroadcast,
    Algorithm::LinearPipelined,
    Algorithm::LinearDoublyPipelined,
    Algorithm::BinaryPipelined,
    Algorithm::BinaryDoublyPipelined,
    Algorithm::DualRoot,
    Algorithm::TwoTree,
    Algorithm::Ring,
];

/// The report's block sizes, in elements.
const BLOCK_ELEMENTS: [usize; 7] = [10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

const ROW_BYTES: f64 = COUNT_MAX as f64 * ELEMENT_BYTES;

/// Explains why the published block is not the fastest one here, given the times in ns at each block size.
fn why(shape: Shape, times_ns: [f64; 7], (best, best_ns): Best) -> String {
    let Some(published) = published_elements(shape) else {
        return "the report's job exceeded the time limit".to_owned();
    };
    if published == best {
        return String::new();
    }
    let place = BLOCK_ELEMENTS.iter().position(|&size| size == published);
    let published_ns = times_ns[place.expect("a power of ten")];
    let (from, to) = ratios(shape, published);
    format!(
        "the published block takes {} times our best time; by Lemma 1 it is best if α/β is {} to {} bytes, but the simulated link has {}",
        digits(published_ns / best_ns),
        digits(from),
        digits(to),
        digits(ratio(HYDRA.slowest(shape))),
    )
}

/// α/β of a link in bytes. β includes half of γ, because a byte is combined on its way up, but not down.
fn ratio(link: Link) -> f64 {
    link.latency_ns / (link.byte_ns + HYDRA.near.combine_byte_ns / 2.0)
}

/// The best block size by section 2.3 of the report, in elements.
fn published_elements(shape: Shape) -> Option<usize> {
    match (shape.nodes, shape.processes) {
        (36, 32) => None,
        (1, _) => Some(100_000),
        (_, 1) => Some(1_000),
        _ => Some(10_000),
    }
}

/// The range of α/β, in bytes, for which blocks of this many elements are the best of those whose length is a power of ten.
///
/// Lemma 1's best block has b bytes, with b^2 = m α s / ((d - s) β) and (d - s)/s = p - 2. On a logarithmic scale, the time is symmetric
/// about b, so a power of ten is the best one if b is within a factor of sqrt(10) of it.
fn ratios(shape: Shape, elements: usize) -> (f64, f64) {
    let block_bytes = elements as f64 * ELEMENT_BYTES;
    let middle = block_bytes * block_bytes * (shape.ranks() as f64 - 2.0) / ROW_BYTES;
    (middle / 10.0, middle * 10.0)
}

/// Figure 4: the linear pipeline by the size of its blocks.
fn block_sizes(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 4, block sizes of the linear pipeline at 10^7 elements, simulated");
    describe(page);
    page.text(format!(
        "An allreduce of {COUNT_MAX} elements along a chain (Exercise 2: `linear-pipelined`), by the number of elements in a block. Many small blocks are simulated until the pipeline is full; from then on, each adds as much time as the one before."
    ));
    let shapes = SHAPES.into_iter();
    let shapes = shapes.filter(|shape| !context.settings.quick || shape.ranks() < 500);
    let studies = shapes.map(|shape| {
        let run = Run::allreduce(Algorithm::LinearPipelined, &HYDRA, shape);
        let blocks = |elements| run.time_ns(ROW_BYTES, COUNT_MAX / elements);
        let times_ns = BLOCK_ELEMENTS.map(blocks);
        (
            shape,
            times_ns,
            fastest(BLOCK_ELEMENTS.into_iter().zip(times_ns)),
        )
    });
    let studies: Vec<(Shape, [f64; 7], Best)> = studies.collect();
    let lines = studies.iter().map(|(shape, times_ns, _)| {
        let points = BLOCK_ELEMENTS.into_iter().zip(times_ns);
        line(shape.to_string(), points, |(elements, time_ns)| {
            (elements as f64, time_ns / 1e6)
        })
    });
    page.draw(
        "",
        "Simulated allreduce of 10^7 floats along a chain (linear-pipelined), nodes x processes",
        Axis::decades("block, elements"),
        Axis::decades("time, ms"),
        lines,
    );
    let best = studies.iter().map(|(_, _, best)| best.0);
    page.says(format!(
        "Blocks of {} to {} elements are best, depending on the nodes and processes",
        count(best.clone().min().unwrap_or(0)),
        count(best.max().unwrap_or(0))
    ));
    for (shape, times_ns, best) in studies {
        let published = if_any(published_elements(shape));
        let (elements, why) = (best.0, why(shape, times_ns, best));
        page.compare(format!(
            "best block of {shape}, elements | {published} | {elements} | {why}"
        ));
    }
    page.text(
        "With one process per node, the published block would be the best one only if messages had almost no latency. This is the likely cause: libraries send blocks of 4000 bytes without waiting for the \
         receiver, but not blocks of 40,000 bytes, and a message that need not wait costs its sender less than α. Neither Lemma 1 nor this simulator, in which all messages wait, models this difference.",
    );
    Ok(())
}
