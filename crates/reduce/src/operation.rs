//! The collective operations of plans.

use std::fmt;

/// A collective operation of a [`Plan`](crate::Plan).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// [`Plan::reduce`](crate::Plan::reduce).
    Reduce,
    /// [`Plan::allreduce`](crate::Plan::allreduce).
    Allreduce,
    /// [`Plan::reduce_scatter`](crate::Plan::reduce_scatter).
    ReduceScatter,
    /// [`Plan::scan`](crate::Plan::scan).
    Scan,
    /// [`Plan::exscan`](crate::Plan::exscan).
    Exscan,
    /// [`Plan::broadcast`](crate::Plan::broadcast).
    Broadcast,
}

impl Operation {
    /// All of them, in the order of their declaration.
    pub const ALL: &[Self] = &[
        Self::Reduce,
        Self::Allreduce,
        Self::ReduceScatter,
        Self::Scan,
        Self::Exscan,
        Self::Broadcast,
    ];

    /// Its name in printed plans.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::ReduceScatter => "reduce-scatter",
            Self::Scan => "scan",
            Self::Exscan => "exscan",
            Self::Broadcast => "broadcast",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
