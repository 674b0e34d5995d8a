//! Gruber and Freinberger, pipelined allreduce algorithms (2023): block sizes, running-time estimates, and five implementations.

mod block_size;
mod estimates;
mod figures;
mod hydra;
mod measured;

use crate::{Exhibit, Paper};

const PAPER: Paper = Paper {
    name: "Report 2",
    pictures: &["report-2-figure-4.svg"],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("report-2-estimates", estimates::fill),
    PAPER.simulated("report-2-figure-4", block_size::fill),
    PAPER.measured("report-2-figure-4-measured", measured::block_size),
    PAPER.simulated("report-2-figures", figures::fill),
    PAPER.measured("report-2-figures-measured", measured::figures),
];
