//! The errors of building distributions and ownerships.

use std::ops::Range;

use crate::cost::Cost;

/// Why a distribution or an [`Ownership`](crate::Ownership) cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// p = 0.
    #[error("a distribution needs at least one rank, but p = 0")]
    NoRanks,
    /// α, the maximum deviation of an optimized distribution as a fraction of N/p, is negative, at least 1, or NaN.
    #[error("alpha must be at least 0 and less than 1, but is {alpha}")]
    Alpha {
        /// The α that was given.
        alpha: f64,
    },
    /// A cost is negative or not finite.
    #[error("costs must be finite and at least 0, but are {} ns per message and {} ns per addition", .cost.send_ns, .cost.add_ns)]
    Cost {
        /// The costs that were given.
        cost: Cost,
    },
    /// The item counts add up to more than a `u64` holds.
    #[error("ranks 0 to {rank} together own more than 2^64 - 1 items")]
    TooManyItems {
        /// The rank whose count overflows the sum.
        rank: usize,
    },
    /// The first boundary is not 0, so no rank would own the items before this boundary.
    #[error("rank 0 must start at item 0, but starts at item {start}")]
    FirstStart {
        /// The first boundary.
        start: u64,
    },
    /// A boundary is less than the one before it, so the rank between them would end before it starts.
    #[error("rank {rank} starts at item {start}, but ends before item {end}")]
    Decreasing {
        /// The rank between the two boundaries.
        rank: usize,
        /// The boundary at which the rank starts.
        start: u64,
        /// The boundary at which the rank ends.
        end: u64,
    },
    /// The blocks of a block-cyclic ownership have 0 items.
    #[error("a block-cyclic ownership needs blocks of at least 1 item")]
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
        /// The owners of the two ranges; they are equal if one rank owns both.
        ranks: (usize, usize),
        /// The common items.
        items: Range<u64>,
    },
    /// Some items below N have no owner.
    #[error("no rank owns {}; the next range belongs to rank {rank}", listed(.items))]
    Gap {
        /// The items without an owner.
        items: Range<u64>,
        /// The owner of the next range.
        rank: usize,
    },
    /// A new rank was given an old number that no rank had.
    #[error("no rank had the number {rank}: there were {ranks} ranks")]
    NoSuchRank {
        /// The old number that was given.
        rank: usize,
        /// How many ranks there were.
        ranks: usize,
    },
    /// Two new ranks were given the same old number.
    #[error("two new ranks have the old number {rank}")]
    TwiceARank {
        /// The old number that was given twice.
        rank: usize,
    },
}

impl Error {
    /// Returns the costs if they are valid, otherwise the error.
    pub(crate) fn unless_valid(cost: &Cost) -> Result<Cost, Self> {
        if cost.is_valid() {
            Ok(*cost)
        } else {
            Err(Self::Cost { cost: *cost })
        }
    }
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
