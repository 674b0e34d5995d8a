//! Winklehner and Friedl, *Reduction trees for MPI Reductions* (2016).

use super::Exhibit;

/// In the order of the paper.
pub(super) const EXHIBITS: &[Exhibit] = &[];
