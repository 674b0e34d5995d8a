//! Computes the distribution with the least score (eq. 3.7) of all.
//!
//! Let m(M) be the fewest messages with which at most p ranks of at most M items each cover N
//! items. The least score is the minimum of send · m(M) + add · M over M; m does not increase with M.
//!
//! **Usually a formula suffices.** Let 2^L <= M < B = 2^(L+1). [`crate::searches::hops`] shows that the cut items include every
//! multiple of B, an item inside every full block and, if r > M, an item inside the last block of r = N mod B items:
//!
//! ```text
//! m(M) >= ⌊(N-1)/B⌋ + ⌊N/B⌋ + [r > M]
//! ```
//!
//! Boundaries at all multiples of 2^L, except the last multiple if 2^L < r <= M, reach this bound. They need at most ⌈N/2^L⌉
//! ranks, so at every level L with 2^L >= N/p only M = 2^L and M = r can be best.
//!
//! **One level is searched**, the level with 2^L < N/p < 2^(L+1), unless its bound cannot beat the best formula. Shares from
//! M1 to M2 score at least send · m(M2) + add · M1; branch and bound takes the interval with the least bound first.
//! [`crate::searches::share_limit`] finds a cover with m(M2) messages, or finds that m(M2) is too large. The cover's largest share
//! is often far below M2; then only smaller shares remain to be searched. Rounding is monotone, so the bounds hold for `f64` scores.
//!
//! **Without empty ranks**, a cover takes at least p - 1 messages; [`crate::searches::busy`] shows that max(m(M), p - 1) messages
//! suffice.
//!
//! Ties are resolved by fewer messages, then by a smaller largest share.
//!
//! **How long it takes.** The formulas take O(p). The search is needed where a message costs less than what a share between the
//! powers of two saves, roughly if N/p > 2 p · send/add. With the thesis' costs, this is true from about 10^7 items on for 256 ranks,
//! and from about 10^9 on for 4096. The search tries ten to fifty values of M; each value takes O(p) steps for each of p ranks.
//! With N = 2^64 - 1, it took 10 ms for p = 63, and 0.1 s for p = 300. With p = 4096, it took below 10 us where the formulas
//! suffice, 0.8 s of processor time for N = 5 · 10^9 and, for N from 10^11 on, 4 to 10 s and a few hundred MB.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::cost::Cost;
use crate::error::Error;
use crate::roundest::roundest;
use crate::searches::busy::split;
use crate::searches::hops::Blocks;
use crate::searches::share_limit::Cover;

/// Returns the start of every rank, then N, for the distribution with the least score.
///
/// With `is_busy`, no rank may be without items; if there are more ranks than items, the first N ranks get one item each.
pub(crate) fn boundaries(
    items: u64,
    ranks: u64,
    cost: &Cost,
    is_busy: bool,
) -> Result<Vec<u64>, Error> {
    let cost = Error::unless_valid(cost)?;
    let used_ranks = ranks.min(items);
    let mut boundaries = vec![0];
    if items > 0 {
        let messages_least = if is_busy { used_ranks - 1 } else { 0 };
        let best = ScoreSearch::new(cost, messages_least).search(items, used_ranks);
        boundaries.extend(best);
        if is_busy {
            split(&mut boundaries, items, used_ranks);
        }
    }
    let ranks = usize::try_from(ranks).expect("p is a usize");
    boundaries.resize(ranks + 1, items);
    Ok(boundaries)
}

/// Ratings are compared by score, then messages, then the largest share. More messages or a larger share never lower the score.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rating {
    score_ns: f64,
    messages: u64,
    share_items_max: u64,
}

impl Eq for Rating {}

impl Ord for Rating {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score_ns.total_cmp(&other.score_ns);
        let items = |rating: &Self| (rating.messages, rating.share_items_max);
        by_score.then_with(|| items(self).cmp(&items(other)))
    }
}

impl PartialOrd for Rating {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An interval of share limits, and a rating that no distribution within these limits can beat.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    bound: Rating,
    shares: (u64, u64),
}

struct ScoreSearch {
    cost: Cost,
    /// A lower bound on the messages of any cover: p - 1 if no rank may be empty, otherwise 0.
    messages_least: u64,
    best: Rating,
    inner: Vec<u64>,
}

impl ScoreSearch {
    fn new(cost: Cost, messages_least: u64) -> Self {
        let best = Rating {
            score_ns: f64::INFINITY,
            messages: u64::MAX,
            share_items_max: u64::MAX,
        };
        Self {
            cost,
            messages_least,
            best,
            inner: Vec::new(),
        }
    }

    /// The inner boundaries of the best distribution, for 1 <= p <= N.
    fn search(mut self, items: u64, ranks: u64) -> Vec<u64> {
        let fair_items = items.div_ceil(ranks);
        self.aligned(items, fair_items);
        if !fair_items.is_power_of_two() && fair_items < items {
            let block_items = fair_items.checked_next_power_of_two();
            let blocks = Blocks {
                items,
                ranks,
                block_items: block_items.expect("two ranks share at most 2^64 items"),
            };
            self.between_powers(blocks, fair_items);
        }
        self.inner
    }

    fn rating(&self, messages: u64, share_items_max: u64) -> Rating {
        let messages = messages.max(self.messages_least);
        Rating {
            score_ns: self.cost.score_ns(messages, share_items_max),
            messages,
            share_items_max,
        }
    }

    fn offer(&mut self, cover: Cover) {
        let rating = self.rating(cover.messages, cover.share_items_max);
        if rating < self.best {
            self.best = rating;
            self.inner = cover.inner;
        }
    }

    /// Offers the boundaries at the multiples of each power of two that is at least N/p.
    fn aligned(&mut self, items: u64, fair_items: u64) {
        let first = u64::BITS - (fair_items - 1).leading_zeros();
        for share_items in (first..u64::BITS).map(|level| 1_u64 << level) {
            let messages = (items - 1) / share_items;
            self.offer_multiples(messages, share_items, share_items.min(items));
            if messages & 1 == 1 {
                // The items after the last even multiple can be one share if they are fewer than two shares.
                let last_items = items - (messages - 1) * share_items;
                if last_items - share_items < share_items {
                    self.offer_multiples(messages - 1, share_items, last_items);
                }
            }
            if messages == 0 {
                break;
            }
        }
    }

    fn offer_multiples(&mut self, messages: u64, step_items: u64, share_items_max: u64) {
        if self.rating(messages, share_items_max) < self.best {
            self.offer(Cover {
                messages,
                share_items_max,
                inner: (1..=messages).map(|number| number * step_items).collect(),
            });
        }
    }

    /// Searches the distributions whose largest share is between N/p and the next power of two.
    fn between_powers(&mut self, blocks: Blocks, fair_items: u64) {
        let mut open = BinaryHeap::new();
        for interval in self.first_intervals(blocks, fair_items) {
            open.push(Reverse(interval));
        }
        while let Some(Reverse(Open { bound, shares })) = open.pop() {
            if bound >= self.best {
                break;
            }
            let (first, last) = shares;
            let messages_max = self.messages_max(first, blocks.items);
            let cover = messages_max.and_then(|most| blocks.cover(last, most));
            let Some(cover) = cover else {
                continue;
            };
            let (messages, reached) = (cover.messages, cover.share_items_max);
            self.offer(cover);
            if first < reached {
                let middle = roundest_in_the_middle(first, reached - 1);
                open.extend(self.open(messages, first, middle).map(Reverse));
                open.extend(self.open(messages, middle + 1, reached - 1).map(Reverse));
            }
        }
    }

    /// Divides the shares from N/p to the next power of two into intervals, at first guesses of the best share. A guess is N/p
    /// rounded up to a multiple of a power of two. The powers become smaller until a guess gains nothing.
    fn first_intervals(&mut self, blocks: Blocks, fair_items: u64) -> Vec<Open> {
        let mut intervals = Vec::new();
        let mut last = blocks.block_items - 1;
        let mut messages = blocks.messages_least(last);
        for level in (0..blocks.block_items.trailing_zeros()).rev() {
            let rounded = fair_items.next_multiple_of(1 << level);
            if rounded > last {
                continue;
            }
            let messages_max = self.messages_max(rounded, blocks.items);
            let cover = messages_max.and_then(|most| blocks.cover(rounded, most));
            let Some(cover) = cover else {
                break;
            };
            intervals.extend(self.open(messages, rounded + 1, last));
            messages = cover.messages;
            last = cover.share_items_max - 1;
            self.offer(cover);
        }
        intervals.extend(self.open(messages, fair_items, last));
        intervals
    }

    /// The interval from `first` to `last`, unless it is empty. With these shares, a cover takes at least `messages` messages.
    fn open(&self, messages: u64, first: u64, last: u64) -> Option<Open> {
        (first <= last).then(|| Open {
            bound: self.rating(messages, first),
            shares: (first, last),
        })
    }

    /// The most messages with which a cover with this largest share would beat `best`; `None` if no number would.
    fn messages_max(&self, share_items_max: u64, items: u64) -> Option<u64> {
        let is_better = |messages| self.rating(messages, share_items_max) < self.best;
        // At most `items` - 1 items are cut: all but item 0.
        let (mut tried, mut left) = (0, items);
        while left > 0 {
            let half = left / 2;
            if is_better(tried + half) {
                tried += half + 1;
                left -= half + 1;
            } else {
                left = half;
            }
        }
        tried.checked_sub(1)
    }
}

/// The number with the most trailing zeros in the middle half of `first` to `last`.
fn roundest_in_the_middle(first: u64, last: u64) -> u64 {
    let quarter = (last - first) / 4;
    roundest(first + quarter, last - quarter)
}
