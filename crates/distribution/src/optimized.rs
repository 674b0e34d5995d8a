//! Algorithm 3 of the thesis, which chooses start indices with more trailing zeros, so that boundaries cut fewer subtrees.
//!
//! If a rank's start index has t trailing zeros, the rank begins with a whole subtree of 2^t items. Clearing the lowest set bit
//! of the start, which gives its parent, moves the boundary left to a larger subtree. Two rules repeat this step while the
//! shares stay near N/p. The first rule limits how far a start moves; the second limits the share before the start.
//!
//! The thesis prints the first rule, but its results (Table 3.3) come from the second. The first rule sends fewer messages and has
//! a smaller largest share, so `Distribution::optimized` uses the first.

use tree_index::parent;

use crate::error::Error;
use crate::even::Even;
use crate::roundest::roundest;

/// The α that [`Scheme::distribute`](crate::Scheme::distribute) uses: the maximum deviation of an optimized distribution, as a
/// fraction of N/p. The thesis uses the same value (section 3.1.2.4).
pub const ALPHA: f64 = 0.2;

/// The rule that the thesis prints. It begins with the upper distribution. N, p and α determine each start, so no table is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Optimized {
    even: Even,
    ranks: u64,
    /// ⌊α N/p⌋: the most items by which a start may move left. This is less than a share, because α < 1.
    shift_items_max: u64,
}

impl Optimized {
    pub(crate) fn new(items: u64, ranks: u64, alpha: f64) -> Result<Self, Error> {
        let fair_share_items = fair_share_items(items, ranks);
        Ok(Self {
            even: Even::new(items, ranks),
            ranks,
            shift_items_max: floor(checked(alpha)? * fair_share_items),
        })
    }

    /// The start of a rank by Algorithm 3; N for `rank` = p.
    ///
    /// The start is the number with the most trailing zeros from start(i) - α N/p to start(i), where start(i) belongs to the
    /// upper distribution. As start(i) does not decrease with i, neither does the result.
    pub(crate) fn start(self, rank: u64) -> u64 {
        let initial = self.even.upper_start(rank);
        if rank == self.ranks {
            return initial;
        }
        roundest(initial.saturating_sub(self.shift_items_max), initial)
    }

    /// The owner of an item: the owner in the upper distribution or the rank after it, because starts move left by less than N/p.
    pub(crate) fn rank_of(self, item: u64) -> u64 {
        let rank = self.even.upper_rank_of(item);
        let next = rank + 1;
        if next < self.ranks && self.start(next) <= item {
            next
        } else {
            rank
        }
    }
}

/// The rule behind the thesis' published numbers. The rule begins with the lower distribution.
///
/// A start moves left while the share *before* it stays within (1 ± α) N/p. That share begins at the previous start, which has
/// already moved. Each start depends on all earlier starts, so the starts are stored in a table.
pub(crate) fn published_boundaries(items: u64, ranks: u64, alpha: f64) -> Result<Vec<u64>, Error> {
    let alpha = checked(alpha)?;
    let fair_share_items = fair_share_items(items, ranks);
    let accepted = (1.0 - alpha) * fair_share_items..=(1.0 + alpha) * fair_share_items;
    let even = Even::new(items, ranks);
    let mut boundaries = vec![0];
    let mut previous = 0;
    for rank in 1..ranks {
        // The start in the lower distribution is accepted even if it would fail the test below.
        let mut current = even.lower_start(rank);
        while current > previous {
            let proposed = parent(current);
            if proposed < previous || !accepted.contains(&((proposed - previous) as f64)) {
                break;
            }
            current = proposed;
        }
        boundaries.push(current);
        previous = current;
    }
    boundaries.push(items);
    Ok(boundaries)
}

fn checked(alpha: f64) -> Result<f64, Error> {
    if (0.0..1.0).contains(&alpha) {
        Ok(alpha)
    } else {
        Err(Error::Alpha { alpha })
    }
}

/// N/p. The roundings are the same on every machine, and far finer than α needs.
fn fair_share_items(items: u64, ranks: u64) -> f64 {
    items as f64 / ranks as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast cuts off the fraction and saturates at 2^64 - 1; no share is negative"
)]
fn floor(share_items: f64) -> u64 {
    share_items as u64
}
