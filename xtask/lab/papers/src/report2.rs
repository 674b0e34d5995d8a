//! Gruber and Freinberger, pipelined allreduce algorithms (2023): block sizes, running-time estimates, and five implementations.

mod block_size;
mod block_size_measured;
mod claims;
mod estimates;
mod figures;
mod figures_measured;
mod hydra;
mod points;
mod rounds;

use super::{Exhibit, Paper};

/// In the order of the paper.
pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit::computed(
        Paper::Report2,
        "report-2-estimates",
        "Sections 2.5 and 4.3, running-time estimates against the programs",
        estimates::fill,
    ),
    Exhibit::computed(
        Paper::Report2,
        "report-2-figure-4",
        "Figure 4, block sizes of the linear pipeline at 10^7 elements, simulated",
        block_size::fill,
    ),
    Exhibit::measured(
        Paper::Report2,
        "report-2-figure-4-measured",
        "Figure 4 in kind, block sizes on two ranks",
        block_size_measured::fill,
    ),
    Exhibit::computed(
        Paper::Report2,
        "report-2-figures",
        "Figures 2, 3, 5, 6 and 7, five implementations against an allreduce, simulated",
        figures::fill,
    ),
    Exhibit::measured(
        Paper::Report2,
        "report-2-figures-measured",
        "Figures 2, 3, 5, 6 and 7 in kind, on two ranks",
        figures_measured::fill,
    ),
];
