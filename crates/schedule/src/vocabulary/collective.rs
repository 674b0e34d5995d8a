//! The collective operations.

use std::fmt;

/// An operation that all positions perform together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Collective {
    /// One position gets the reduction of all positions.
    Reduce {
        /// The position that gets the reduction.
        root: usize,
    },
    /// Every position gets the reduction of all positions.
    Allreduce,
    /// Position b gets block b of the reduction of all positions, which has p column blocks.
    ReduceScatter,
    /// Position r gets the reduction of positions 0..r: the exclusive scan of positions.
    Scan,
    /// Every position gets the root's row. Schedules treat a piece of this row as the reduction of all positions.
    Broadcast {
        /// The position whose row is sent.
        root: usize,
    },
}

impl Collective {
    /// The position at which a reduce ends or a broadcast begins.
    pub(crate) fn root(self) -> Option<usize> {
        match self {
            Self::Reduce { root } | Self::Broadcast { root } => Some(root),
            Self::Allreduce | Self::ReduceScatter | Self::Scan => None,
        }
    }

    /// The same operation with another root, if it has a root.
    pub(crate) fn with_root(self, root: usize) -> Self {
        match self {
            Self::Reduce { .. } => Self::Reduce { root },
            Self::Broadcast { .. } => Self::Broadcast { root },
            Self::Allreduce | Self::ReduceScatter | Self::Scan => self,
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reduce { root } => write!(f, "reduce to {root}"),
            Self::Allreduce => f.write_str("allreduce"),
            Self::ReduceScatter => f.write_str("reduce-scatter"),
            Self::Scan => f.write_str("scan"),
            Self::Broadcast { root } => write!(f, "broadcast from {root}"),
        }
    }
}
