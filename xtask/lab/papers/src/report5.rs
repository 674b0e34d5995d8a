//! Winklehner and Friedl, *Reduction trees for MPI Reductions* (2016): three trees, their rounds, and a reduce by each.

mod eager;
mod jupiter;
mod measured;
mod simulated;
mod trees;

use crate::Fill;

/// What fills the pages.
pub(super) const FILLS: &[(&str, Fill)] = &[
    ("report-5-trees", trees::fill),
    ("report-5-process-count", simulated::process_count),
    ("report-5-process-count-measured", measured::process_count),
    ("report-5-array-size", simulated::array_size),
    ("report-5-array-size-measured", measured::array_size),
];
