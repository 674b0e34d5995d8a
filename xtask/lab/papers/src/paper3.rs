//! Balaji and Kimpe, *On the Reproducibility of MPI Reduction Operations* (2013): the error of a sum, and what topology does to its bits and
//! its time.

mod bits;
mod cluster;
mod cost;
mod error;
mod figures;

use crate::{Exhibit, Paper};

const PAPER: Paper = Paper {
    name: "Paper 3",
    pictures: &["paper-3-error.svg", "paper-3-cost-512.svg"],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("paper-3-error", error::over_ranks),
    PAPER.computed("paper-3-bits", bits::by_topology),
    PAPER.simulated("paper-3-figure-2", figures::reduce),
    PAPER.simulated("paper-3-figure-3", figures::allreduce),
    PAPER.simulated("paper-3-figure-4", figures::over_ranks),
    PAPER.simulated("paper-3-cost", cost::of_order),
];
