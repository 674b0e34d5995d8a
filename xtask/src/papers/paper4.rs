//! End and others, *Butterfly-like Algorithms for GASPI Split Phase Allreduce* (2016).

use super::Exhibit;

/// In the order of the paper.
pub(super) const EXHIBITS: &[Exhibit] = &[];
