//! Gruber and Freinberger, pipelined allreduce algorithms (2023): block sizes, running-time estimates, and five implementations.

mod block_size;
mod estimates;
mod figures;
mod hydra;
mod measured;

use crate::Fill;

/// What fills the pages.
pub(super) const FILLS: &[(&str, Fill)] = &[
    ("report-2-estimates", estimates::fill),
    ("report-2-figure-4", block_size::fill),
    ("report-2-figure-4-measured", measured::block_size),
    ("report-2-figures", figures::fill),
    ("report-2-figures-measured", measured::figures),
];
