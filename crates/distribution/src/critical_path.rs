//! Algorithm 1 on a clock: when rank 0 has the root.
//!
//! The score (eq. 3.7) adds up all messages as if they were sent one after another, and knows no
//! waiting; the thesis says so (section 3.1.2.5) and leaves the critical path to future work. Here every
//! rank is one machine that starts at time 0 and does one thing at a time, in the order of Algorithm 1:
//!
//! - It reduces its outbound subtrees in ascending order of x, and sends each as it is done.
//! - To combine two values takes add_ns.
//! - To send one takes send_ns of the *sender's* time, as a blocking `MPI_Send` does, and then it
//!   is there. Receiving takes no time, but the receiver waits for what it needs next.
//! - In a subtree that reaches past the rank's end, its own items come first; then it goes up from the last of them, and
//!   at each level combines with what lies to the left, its own, or to the right, received.
//!
//! The model has no message buffer, no distances and no congestion.
//!
//! What a boundary e cuts is sent to lower ranks by those from e on: e, f(e), f(f(e)), … with
//! f(x) = x + lowbit(x). So going down from the last rank the times of values under way are a
//! stack, and a distribution takes O(p log N).

use std::ops::Range;

use tree_index::largest_subtree_child_index;

use crate::Cost;

/// When rank 0 has the root, for the ranges of the ranks that own items, the last first.
pub(crate) fn critical_path_ns(
    items: u64,
    ranges_from_last: impl Iterator<Item = Range<u64>>,
    cost: &Cost,
) -> f64 {
    // When the values that boundary `start` cuts are there, the leftmost on top.
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
                    let arrival_ns = arrivals_ns.pop().expect("what is cut is sent");
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
    /// x.
    pub(crate) start: u64,
    height: u32,
    /// N.
    items: u64,
}

/// What a rank does on the way up from its last item, each with one combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It has the left sibling.
    Own,
    /// It needs the right sibling.
    Receive,
}

/// The subtrees that a rank with this first item sends, however many it owns: those that its
/// start cuts. For item 0 the tree.
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
    /// How many of its items lie before `end`, which lies behind its first.
    pub(crate) fn local_items(&self, end: u64) -> u64 {
        (end - self.start).min(self.len())
    }

    /// How many items it has.
    pub(crate) fn len(&self) -> u64 {
        let behind = self.items - self.start;
        1_u64
            .checked_shl(self.height)
            .map_or(behind, |full| full.min(behind))
    }

    /// The steps up to its root, for the owner of its first items.
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
