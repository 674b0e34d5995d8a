//! Balaji and Kimpe, *On the Reproducibility of MPI Reduction Operations* (2013): the error of a sum, and what topology does to its bits and
//! its time.

mod bits;
mod cluster;
mod cost;
mod error;
mod figures;

use crate::Fill;

/// What fills the pages.
pub(super) const FILLS: &[(&str, Fill)] = &[
    ("paper-3-error", error::over_ranks),
    ("paper-3-bits", bits::by_topology),
    ("paper-3-figure-2", figures::reduce),
    ("paper-3-figure-3", figures::allreduce),
    ("paper-3-figure-4", figures::over_ranks),
    ("paper-3-cost", cost::of_order),
];
