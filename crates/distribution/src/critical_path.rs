//! The critical path of Algorithm 1: the time until rank 0 has the value of the root.
//!
//! The score (eq. 3.7) adds the times of all messages as if they were sent one after another, and ignores waiting. The thesis
//! notes both (section 3.1.2.5) and leaves the critical path to future work. In the model of this module, every rank starts at
//! time 0 and does one thing at a time, in the order of Algorithm 1:
//!
//! - A rank reduces its outbound subtrees in ascending order of x, and sends each value as soon as it is reduced.
//! - Combining two values takes add_ns.
//! - A message takes send_ns of the *sender's* time, as with a blocking `MPI_Send`, and arrives at the end of this time. Receiving
//!   takes no time, but the receiver waits for the value that it needs next.
//! - In a subtree that extends past the rank's last item, the rank reduces its own items first. Then it climbs from its last item.
//!   At each level it combines its value with the left sibling, which it owns, or with the right sibling, which it receives.
//!
//! The model has no message buffer, no distances and no congestion.
//!
//! Let f(x) = x + lowbit(x), where lowbit(x) is the lowest set bit of x. A boundary at item e cuts the subtrees that begin at
//! e, f(e), f(f(e)), …. Ranks after the boundary send the values of these subtrees to ranks before the boundary. If ranks are
//! visited from last to first, the arrival times of the values in transit form a stack, so the computation takes O(p log N).

use std::ops::Range;

use tree_index::largest_subtree_child_index;

use crate::cost::Cost;

/// The time at which rank 0 has the root. `ranges_from_last` yields the ranges of the ranks that own items, the last rank first.
pub(crate) fn critical_path_ns(
    items: u64,
    ranges_from_last: impl Iterator<Item = Range<u64>>,
    cost: &Cost,
) -> f64 {
    // The arrival time of each subtree that the start of the previously visited range cuts; the leftmost subtree is on top.
    let mut arrivals_ns: Vec<f64> = Vec::new();
    let mut own_ns = Vec::new();
    let mut now_ns = 0.0;
    for range in ranges_from_last {
        now_ns = 0.0;
        own_ns.clear();
        for subtree in subtrees(range.start, items).take_while(|own| own.start < range.end) {
            let local_items = subtree.local_items(range.end);
            let combinations = local_items - u64::from(local_items.count_ones());
            now_ns += combinations as f64 * cost.add_ns;
            for step in subtree.climb(local_items) {
                if step == Step::Receive {
                    let arrival_ns = arrivals_ns.pop().expect("every cut subtree is sent");
                    now_ns = arrival_ns.max(now_ns);
                }
                now_ns += cost.add_ns;
            }
            if subtree.start > 0 {
                now_ns += cost.send_ns;
                own_ns.push(now_ns);
            }
        }
        arrivals_ns.extend(own_ns.iter().rev());
    }
    now_ns
}

/// The subtree of all items below node (x, max_y(x)).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subtree {
    pub(crate) start: u64,
    height: u32,
    /// N, the number of items of the whole tree.
    items: u64,
}

/// The sibling with which a rank combines its value, on the way up from its last item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The left sibling, which the rank owns.
    Own,
    /// The right sibling, which the rank receives.
    Receive,
}

/// The subtrees that a boundary at `start` cuts, from left to right. For `start` = 0, the whole tree.
pub(crate) fn subtrees(start: u64, items: u64) -> impl Iterator<Item = Subtree> {
    let next = move |&x: &u64| {
        let behind = (x > 0).then(|| largest_subtree_child_index(x).checked_add(1))??;
        (behind < items).then_some(behind)
    };
    std::iter::successors((start < items).then_some(start), next).map(move |x| {
        let height = match x {
            0 => u64::BITS - (items - 1).leading_zeros(),
            _ => x.trailing_zeros(),
        };
        Subtree {
            start: x,
            height,
            items,
        }
    })
}

impl Subtree {
    /// The number of the subtree's items before `end`, which must be greater than `start`.
    pub(crate) fn local_items(&self, end: u64) -> u64 {
        (end - self.start).min(self.len())
    }

    /// The number of items in the subtree.
    pub(crate) fn len(&self) -> u64 {
        let behind = self.items - self.start;
        1_u64
            .checked_shl(self.height)
            .map_or(behind, |full| full.min(behind))
    }

    /// The steps up to the subtree's root, for a rank that owns the subtree's first `local_items` items.
    pub(crate) fn climb(self, local_items: u64) -> impl DoubleEndedIterator<Item = Step> {
        let last = local_items - 1;
        let lowest = local_items.trailing_zeros();
        (lowest..self.height.max(lowest)).filter_map(move |level| {
            if last >> level & 1 == 1 {
                return Some(Step::Own);
            }
            let right_sibling = ((last >> level) + 1) << level;
            (right_sibling < self.len()).then_some(Step::Receive)
        })
    }
}
