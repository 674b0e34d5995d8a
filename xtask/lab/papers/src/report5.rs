//! Winklehner and Friedl, *Reduction trees for MPI Reductions* (2016): three trees, their rounds, and a reduce by each.

mod array_size;
mod eager;
mod jupiter;
mod measured;
mod process_count;
mod trees;

use super::{Exhibit, Paper};

/// In the order of the paper.
pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit::computed(
        Paper::Report5,
        "report-5-trees",
        "Sections 1 and 2, sizes, depths and rounds of the trees",
        trees::fill,
    ),
    Exhibit::computed(
        Paper::Report5,
        "report-5-process-count",
        "Figure of section 3.1, 16 to 576 processes, simulated",
        process_count::fill,
    ),
    Exhibit::measured(
        Paper::Report5,
        "report-5-process-count-measured",
        "Figure of section 3.1 in kind, on the ranks of this machine",
        measured::process_count,
    ),
    Exhibit::computed(
        Paper::Report5,
        "report-5-array-size",
        "Figure of section 3.2, 1 to 10^6 elements on 36x16 processes, simulated",
        array_size::fill,
    ),
    Exhibit::measured(
        Paper::Report5,
        "report-5-array-size-measured",
        "Figure of section 3.2 in kind, on two ranks",
        measured::array_size,
    ),
];
