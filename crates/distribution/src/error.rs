//! What can be wrong with a distribution that a user asks for.

use crate::Scheme;

/// Why there is no such distribution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not even no items can be spread over no ranks.
    #[error("a distribution needs at least one rank, but p = 0")]
    NoRanks,
    /// The maximum deviation of an optimized distribution is a share of N/p.
    #[error("alpha = {alpha} does not lie in 0 <= alpha < 1")]
    Alpha {
        /// What was given.
        alpha: f64,
    },
    /// The item counts add up to more than a `u64` holds.
    #[error("ranks 0 to {rank} own more than 2^64 - 1 items together")]
    TooManyItems {
        /// The rank whose count overflows the sum.
        rank: usize,
    },
    /// Items before the first boundary would belong to nobody.
    #[error("rank 0 starts at item {start}, not at item 0")]
    FirstStart {
        /// The first boundary.
        start: u64,
    },
    /// A rank would end before it starts.
    #[error("rank {rank} starts at item {start}, behind its end {end}")]
    Decreasing {
        /// The rank between the two boundaries.
        rank: usize,
        /// Its first boundary.
        start: u64,
        /// Its second boundary, the smaller one.
        end: u64,
    },
}

/// A name that no [`Scheme`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown distribution `{name}`; known are {}", Scheme::ALL.map(Scheme::name).join(", "))]
pub struct UnknownScheme {
    /// What was given.
    pub name: String,
}
