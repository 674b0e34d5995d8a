//! Balaji and Kimpe, *On the Reproducibility of MPI Reduction Operations* (2013).

use super::Exhibit;

/// In the order of the paper.
pub(super) const EXHIBITS: &[Exhibit] = &[];
