//! Balaji and Kimpe, *On the Reproducibility of MPI Reduction Operations* (2013): the error of a sum, and what topology does to its bits and
//! its time.

mod bits;
mod cluster;
mod cost;
mod error;
mod exact;
mod figures;
mod points;

use super::{Exhibit, Paper};

/// In the order of the paper.
pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit::computed(
        Paper::Paper3,
        "paper-3-error",
        "Section VI-A, error against system size (eq. 1 and 2)",
        error::over_ranks,
    ),
    Exhibit::computed(
        Paper::Paper3,
        "paper-3-bits",
        "Section III-C, bits by topology",
        bits::by_topology,
    ),
    Exhibit::computed(
        Paper::Paper3,
        "paper-3-figure-2",
        "Figure 2, topology and MPI_Reduce (simulated)",
        figures::reduce,
    ),
    Exhibit::computed(
        Paper::Paper3,
        "paper-3-figure-3",
        "Figure 3, topology and MPI_Allreduce (simulated)",
        figures::allreduce,
    ),
    Exhibit::computed(
        Paper::Paper3,
        "paper-3-figure-4",
        "Figure 4, MPI_Reduce against system size (simulated)",
        figures::over_ranks,
    ),
    Exhibit::computed(
        Paper::Paper3,
        "paper-3-cost",
        "Section VI-B, what the same bits cost a topology-aware reduction (simulated)",
        cost::of_order,
    ),
];
