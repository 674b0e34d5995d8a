//! Decides whether rank 0 can have the root of Algorithm 1 by a given time T, in the model of [`crate::critical_path`].
//!
//! Boundary b cuts b, f(b), f(f(b)), … with f(x) = x + lowbit(x); ranks before b need the values of these items. T determines
//! when each value is due: going down from the root, a combination takes add_ns and a message send_ns. What has to happen after
//! b depends only on b and on these due times, so boundaries are placed from left to right.
//!
//! For the end of a rank's items, the search tries the furthest item with which the rank finishes in time, and that number with
//! some of its lowest set bits cleared. No other end b' is needed. As in [`crate::searches::share_limit`], one of the tried ends,
//! a, is after b' and is cut by b'. The items that a cuts are due at the same times with a as with b', and later ranks do less with a.
//!
//! Trying all these ends decides whether T is possible. But many placements lead to the same last boundary, or to nearby ones,
//! with different due times. For each number of ranks, the search keeps the few placements that reach furthest right, where each
//! message counts as a loss of the items that could be added in its time. A placement is never better than another with the same
//! last boundary if none of its values is due later; it is dropped without loss. If any other placement is dropped, a "no" is not proven.

use tree_index::parent;

use crate::cost::Cost;
use crate::critical_path::{Step, Subtree, subtrees};

/// N, p and the costs.
pub(crate) struct Problem {
    pub(crate) items: u64,
    pub(crate) ranks: usize,
    pub(crate) cost: Cost,
}

/// Whether rank 0 can have the root's value by the given time.
pub(crate) enum Attempt {
    /// Yes, with these starts of all ranks, then N.
    Starts(Vec<u64>),
    /// No: the search considered every useful placement.
    Impossible,
    /// No placement was found, but some were dropped.
    NotFound,
}

/// A placement of some boundaries. Stores only the last boundary; `before` leads to the earlier ones.
#[derive(Clone, Debug)]
struct DueState {
    start: u64,
    /// When the values that the boundary at `start` cuts are due, the leftmost value last.
    due_ns: Vec<f64>,
    /// The index of the placement without the last boundary.
    before: usize,
}

impl Problem {
    /// Searches for boundaries with which rank 0 has the root's value by `limit_ns`. Keeps at most `kept` placements for each number
    /// of ranks.
    pub(crate) fn within(&self, limit_ns: f64, kept: usize) -> Attempt {
        let mut placed = vec![(0, 0)];
        let mut layer = vec![DueState {
            start: 0,
            due_ns: vec![limit_ns],
            before: 0,
        }];
        let mut is_dropped = false;
        for _ in 0..self.ranks {
            let mut next = Vec::new();
            for state in &layer {
                let furthest = self.furthest_end(state);
                if furthest == self.items {
                    return Attempt::Starts(self.trace(&placed, state.before));
                }
                let fewer_bits = |&end: &u64| (end > 0).then(|| parent(end));
                let ends = std::iter::successors(Some(furthest), fewer_bits);
                let ends = ends.take_while(|&end| end > state.start);
                next.extend(ends.map(|end| self.next(state, end)));
            }
            let dropped;
            (layer, dropped) = self.best(next, kept);
            is_dropped |= dropped;
            for state in &mut layer {
                placed.push((state.start, state.before));
                state.before = placed.len() - 1;
            }
        }
        if is_dropped {
            Attempt::NotFound
        } else {
            Attempt::Impossible
        }
    }

    fn trace(&self, placed: &[(u64, usize)], last: usize) -> Vec<u64> {
        let before = |&at: &usize| (at > 0).then(|| placed[at].1);
        let path = std::iter::successors(Some(last), before);
        let mut starts: Vec<u64> = path.map(|at| placed[at].0).collect();
        starts.reverse();
        starts.resize(self.ranks + 1, self.items);
        starts
    }

    /// Returns the best `kept` placements, and whether it dropped others that might have led further.
    fn best(&self, mut states: Vec<DueState>, kept: usize) -> (Vec<DueState>, bool) {
        let rating = |state: &DueState| {
            let Cost { send_ns, add_ns } = self.cost;
            state.start as f64 * add_ns - state.due_ns.len() as f64 * send_ns
        };
        states.sort_by(|a, b| {
            let by_rating = rating(b).total_cmp(&rating(a));
            by_rating.then_with(|| b.start.cmp(&a.start))
        });
        let mut best: Vec<DueState> = Vec::new();
        for state in states {
            if best.iter().any(|other| other.is_no_worse_than(&state)) {
                continue;
            }
            if best.len() == kept {
                return (best, true);
            }
            best.push(state);
        }
        (best, false)
    }

    /// The furthest end with which the next rank finishes in time if later ranks also do; the rank's start if there is no such end.
    fn furthest_end(&self, state: &DueState) -> u64 {
        let mut now_ns = 0.0;
        let mut end = state.start;
        for (subtree, &due_ns) in self.subtrees(state) {
            let done_ns = |combinations: u64| {
                now_ns + combinations as f64 * self.cost.add_ns + self.send_ns(subtree)
            };
            let whole_ns = done_ns(subtree.len() - 1);
            if whole_ns > due_ns {
                let is_in_time = |local_items: u64| {
                    let steps = subtree.climb(local_items);
                    let received = steps.filter(|&step| step == Step::Receive).count() as u64;
                    done_ns(local_items - 1 + received) <= due_ns
                };
                return end + most(subtree.len() - 1, is_in_time);
            }
            now_ns = whole_ns;
            end = subtree.start + subtree.len();
        }
        end
    }

    /// The placement `state` with one more boundary, at `end`.
    fn next(&self, state: &DueState, end: u64) -> DueState {
        let own = self.subtrees(state);
        let (cut, due_ns) = own
            .take_while(|(subtree, _)| subtree.start < end)
            .last()
            .expect("the rank owns items");
        let own_count = self.subtrees(state).filter(|(own, _)| own.start < end);
        let passed_on = state.due_ns.len() - own_count.count();
        let mut next = DueState {
            start: end,
            due_ns: state.due_ns[..passed_on].to_vec(),
            before: state.before,
        };
        let mut now_ns = due_ns - self.send_ns(cut);
        for step in cut.climb(cut.local_items(end)).rev() {
            now_ns -= self.cost.add_ns;
            if step == Step::Receive {
                next.due_ns.push(now_ns);
            }
        }
        next
    }

    /// The subtrees that the boundary cuts, from left to right, and when each is due.
    fn subtrees<'a>(&self, state: &'a DueState) -> impl Iterator<Item = (Subtree, &'a f64)> {
        subtrees(state.start, self.items).zip(state.due_ns.iter().rev())
    }

    fn send_ns(&self, subtree: Subtree) -> f64 {
        if subtree.start > 0 {
            self.cost.send_ns
        } else {
            0.0
        }
    }
}

impl DueState {
    /// Whether this placement is at least as good as the other: it has the same last boundary, and no value is due earlier.
    fn is_no_worse_than(&self, other: &Self) -> bool {
        let mut due_ns = self.due_ns.iter().zip(&other.due_ns);
        self.start == other.start && due_ns.all(|(own, other)| own >= other)
    }
}

/// The greatest number from 1 to `last` for which `holds` is true, or 0 if there is none. `holds` must be true for all smaller numbers.
fn most(last: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut known, mut left) = (0, last);
    while left > 0 {
        let step = left.div_ceil(2);
        if holds(known + step) {
            known += step;
            left -= step;
        } else {
            left = step - 1;
        }
    }
    known
}
