//! Gruber and Freinberger, pipelined allreduce algorithms (2023).

use super::Exhibit;

/// In the order of the paper.
pub(super) const EXHIBITS: &[Exhibit] = &[];
