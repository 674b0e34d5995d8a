//! Why a schedule does not exist.

use std::fmt;

/// Why [`Schedule::new`](crate::Schedule::new) or [`Schedule::with`](crate::Schedule::with) failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// p = 0.
    #[error("a schedule needs at least one rank, but p = 0")]
    NoRanks,
    /// The root is not one of the positions.
    #[error("root {root} does not exist, because p = {ranks}")]
    Root {
        /// The root that was given.
        root: usize,
        /// p.
        ranks: usize,
    },
    /// A number that must not be 0 is 0.
    #[error("{count} must be at least 1")]
    Zero {
        /// Which number.
        count: Count,
    },
    /// A number is above its limit.
    #[error("{count} is {value}, but must be at most {limit}")]
    TooLarge {
        /// Which number.
        count: Count,
        /// The number that was given.
        value: usize,
        /// The largest number that is allowed.
        limit: usize,
    },
    /// A level of a hierarchical schedule is hierarchical.
    #[error("the levels of `hierarchical` cannot be hierarchical themselves")]
    Nested,
}

/// A number among the arguments of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Count {
    /// p.
    Ranks,
    /// [`Parameters::blocks`](crate::Parameters::blocks).
    Blocks,
    /// [`Parameters::ports`](crate::Parameters::ports).
    Ports,
    /// [`Parameters::node_ranks`](crate::Parameters::node_ranks).
    NodeRanks,
}

impl Count {
    /// Returns an error if `value` is more than `limit`.
    pub(super) fn at_most(self, value: usize, limit: usize) -> Result<(), Error> {
        if value > limit {
            return Err(Error::TooLarge {
                count: self,
                value,
                limit,
            });
        }
        Ok(())
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ranks => "the number of ranks",
            Self::Blocks => "the number of blocks",
            Self::Ports => "the number of ports",
            Self::NodeRanks => "the number of ranks of a node",
        })
    }
}
