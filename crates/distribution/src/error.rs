//! What can be wrong with a distribution that a user asks for.

use std::ops::Range;

use crate::{Cost, Scheme};

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
    /// The least of some costs exists where they are finite and none is negative.
    #[error("{} ns a message and {} ns an addition are not two finite costs >= 0", .cost.send_ns, .cost.add_ns)]
    Cost {
        /// What was given.
        cost: Cost,
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
    /// A block-cyclic ownership needs blocks of at least one item.
    #[error("blocks of 0 items cannot be dealt out")]
    EmptyBlocks,
    /// A range of items ends before it starts.
    #[error("rank {rank}: range {range:?} ends before it starts")]
    Reversed {
        /// The rank that gave the range.
        rank: usize,
        /// The range.
        range: Range<u64>,
    },
    /// Two ranges have items in common.
    #[error("{} {}", both_own(*.ranks), listed(.items))]
    Overlap {
        /// The owners, which may be one and the same.
        ranks: (usize, usize),
        /// The items.
        items: Range<u64>,
    },
    /// Items that nobody owns lie before others.
    #[error("no rank owns {}; the next range belongs to rank {rank}", listed(.items))]
    Gap {
        /// The items.
        items: Range<u64>,
        /// The owner of the next range.
        rank: usize,
    },
}

fn both_own((first, second): (usize, usize)) -> String {
    if first == second {
        format!("two ranges of rank {first} share")
    } else {
        format!("ranks {first} and {second} both own")
    }
}

fn listed(items: &Range<u64>) -> String {
    let (first, last) = (items.start, items.end - 1);
    if first == last {
        format!("item {first}")
    } else {
        format!("items {first} to {last}")
    }
}

/// A name that no [`Scheme`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown distribution `{name}`; known are {}", Scheme::ALL.map(Scheme::name).join(", "))]
pub struct UnknownScheme {
    /// What was given.
    pub name: String,
}
