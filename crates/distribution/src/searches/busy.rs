//! Splits shares until every rank owns items, and adds as few messages as possible.
//!
//! Let m(M) be the fewest messages with which at most p ranks of at most M items each cover N items. If exactly p <= N ranks must
//! own items, the fewest messages are max(m(M), p - 1).
//!
//! Fewer are impossible, because each boundary cuts its own item, which costs a message (see [`crate::searches::hops`]).
//! To reach this number, take a cover with m(M) messages and fewer than p ranks, and split shares at their roundest item x, the
//! item with the most trailing zeros. Let the share be [s, e), and f(x) = x + lowbit(x). f(x) has more trailing zeros than x,
//! so f(x) >= e. And f(x) - lowbit(f(x)) <= x < e, so f(x) is cut already if it is below N. A split at x therefore cuts x and
//! nothing else. The split is free if x was cut before, which is true if and only if x - lowbit(x) < s. As long as a cut item is
//! not a boundary, there is a share whose split is free; such shares are split first. Splitting makes no share larger.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tree_index::parent;

use crate::roundest::roundest;

/// Splits shares until each of p ranks has one: first the shares whose split costs no message, then the largest shares.
pub(crate) fn split(boundaries: &mut Vec<u64>, items: u64, ranks: u64) {
    let ends = boundaries.iter().skip(1).copied().chain([items]);
    let shares = boundaries.iter().copied().zip(ends);
    let mut shares: BinaryHeap<_> = shares.map(|(start, end)| Share::new(start, end)).collect();
    while (boundaries.len() as u64) < ranks {
        let largest = shares.pop().expect("a rank that owns items");
        let middle = largest.roundest;
        boundaries.push(middle);
        shares.push(Share::new(largest.start.0, middle));
        shares.push(Share::new(middle, largest.end));
    }
    boundaries.sort_unstable();
}

/// The items of a rank, and where to split them. The share that compares greatest is split first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Share {
    /// Whether a split costs no message.
    is_free: bool,
    count: u64,
    /// Of shares with equal counts, the one that starts first is split first.
    start: Reverse<u64>,
    end: u64,
    roundest: u64,
}

impl Share {
    fn new(start: u64, end: u64) -> Self {
        let roundest = if end - start > 1 {
            roundest(start + 1, end - 1)
        } else {
            // A share of one item is never split, because another share has more items.
            start
        };
        Self {
            is_free: roundest > start && parent(roundest) < start,
            count: end - start,
            start: Reverse(start),
            end,
            roundest,
        }
    }
}
