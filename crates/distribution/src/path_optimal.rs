//! A distribution that lets rank 0 have the root early, by the clock of [`crate::critical_path`].
//!
//! **Is T possible?** Boundary b cuts b, f(b), f(f(b)), … with f(x) = x + lowbit(x): these values are due at
//! ranks before b. Given T, when each is due follows from the boundaries up to b: going down from
//! the root, a combination takes add_ns and a message send_ns. What comes behind b depends
//! on b and on these times alone. So boundaries are placed from left to right. A rank ends as far right as
//! its own work lets it be in time, or there with some of the lowest set bits cleared. No other end b' is
//! needed: as in [`crate::share_limit`], one of these, a, lies behind b' and is among what b' cuts; what a
//! cuts is due at the same times after both; and the ranks that follow b', cut off at a, have
//! less to do.
//!
//! **What is proven.** Trying all these ends decides whether T is possible, and halving T finds the
//! shortest path. But many ways lead to the same boundary, or nearly, with other times due. For each number of
//! ranks the search keeps a few: those that are furthest right, where a message counts as many items as could be
//! added meanwhile. It drops those to which another one with the same boundary is never inferior,
//! which loses nothing. Whether it dropped more where it last said no, it knows: if not, the
//! result is the shortest, up to a sixteenth of the smaller cost. If so, all that is proven is that it is no
//! longer than the paths of one rank for all and of the even, power-of-two and optimized distributions.
//!
//! **What is measured.** The search says that it is proven for all N <= 40 and p <= 8 with six costs; keeping two
//! ways instead of 64 it finds the same in 97% of these cases, and at most 4% more in the others. For N = 504850 and
//! p = 256 keeping 1, 2, 4, … or 1000 ways gives 9933.2 ns, for N = 21410970 and p = 4096 keeping
//! 1 to 64 gives 24303.5 ns. With p = 4096 it takes 0.3 to 1 s.

use tree_index::parent;

use crate::critical_path::{Step, Subtree, critical_path_ns, subtrees};
use crate::{Cost, Error, Scheme};

/// Ways to place i boundaries that are kept: as many as make so many with all ranks, within limits.
const KEPT_WITH_ALL_RANKS: usize = 1 << 14;
const KEPT_MIN: usize = 2;
const KEPT_MAX: usize = 64;

/// The search for T ends at this part of the smaller cost.
const PRECISION: f64 = 1.0 / 16.0;

/// The start of every rank, then N.
pub(crate) fn boundaries(items: u64, ranks: usize, cost: &Cost) -> Result<Vec<u64>, Error> {
    let cost = cost.checked()?;
    let kept = (KEPT_WITH_ALL_RANKS / ranks).clamp(KEPT_MIN, KEPT_MAX);
    let search = Search { items, ranks, cost };
    search.shortest(kept).map(|shortest| shortest.starts)
}

struct Search {
    items: u64,
    ranks: usize,
    cost: Cost,
}

struct Shortest {
    starts: Vec<u64>,
    path_ns: f64,
    /// Whether no way was dropped where less time was found impossible.
    is_proven: bool,
}

/// The last of some boundaries.
#[derive(Clone, Debug)]
struct State {
    start: u64,
    /// When what it cuts has to be there, the leftmost last.
    due_ns: Vec<f64>,
    /// Where the boundary before it is kept.
    before: usize,
}

/// What came of one T.
enum Attempt {
    Starts(Vec<u64>),
    Impossible,
    NotFound,
}

impl Search {
    fn shortest(&self, kept: usize) -> Result<Shortest, Error> {
        let mut best = self.best_known()?;
        let half_ns = best.path_ns / 2.0;
        self.shorten(&mut best, KEPT_MIN, half_ns);
        // What few ways could not reach, more may; mostly one "no" ends it.
        let below_ns = best.path_ns - self.precision_ns();
        let below_ns = below_ns.min(best.path_ns.next_down());
        self.shorten(&mut best, kept, below_ns);
        Ok(best)
    }

    /// The best of those that take no search.
    fn best_known(&self) -> Result<Shortest, Error> {
        let mut starts = vec![self.items; self.ranks + 1];
        starts[0] = 0;
        let mut best = self.measured(starts);
        for scheme in [
            Scheme::Lower,
            Scheme::Upper,
            Scheme::PowerOfTwo,
            Scheme::Optimized,
        ] {
            let distribution = scheme.distribute(self.items, self.ranks)?;
            let other = self.measured(distribution.starts().collect());
            if other.path_ns < best.path_ns {
                best = other;
            }
        }
        Ok(best)
    }

    /// Halves what may be possible, beginning with a first T.
    fn shorten(&self, best: &mut Shortest, kept: usize, first_ns: f64) {
        let mut limit_ns = first_ns;
        let mut too_short_ns = 0.0;
        // Once there is no number between them, they are as close as can be.
        while too_short_ns < limit_ns && limit_ns < best.path_ns {
            match self.within(limit_ns, kept) {
                Attempt::Starts(starts) => {
                    *best = self.measured(starts);
                    // The two clocks may round differently.
                    best.path_ns = best.path_ns.min(limit_ns);
                }
                Attempt::Impossible => (too_short_ns, best.is_proven) = (limit_ns, true),
                Attempt::NotFound => (too_short_ns, best.is_proven) = (limit_ns, false),
            }
            let left_ns = best.path_ns - too_short_ns;
            if left_ns <= self.precision_ns() {
                break;
            }
            limit_ns = too_short_ns + left_ns / 2.0;
        }
    }

    fn precision_ns(&self) -> f64 {
        let Cost { send_ns, add_ns } = self.cost;
        let smaller_ns = match send_ns.min(add_ns) {
            0.0 => send_ns.max(add_ns),
            smaller_ns => smaller_ns,
        };
        smaller_ns * PRECISION
    }

    fn measured(&self, starts: Vec<u64>) -> Shortest {
        let ranges = starts.windows(2).rev().map(|pair| pair[0]..pair[1]);
        let owning = ranges.filter(|range| !range.is_empty());
        Shortest {
            path_ns: critical_path_ns(self.items, owning, &self.cost),
            starts,
            is_proven: true,
        }
    }

    /// Boundaries with which rank 0 has the root by `limit_ns`.
    fn within(&self, limit_ns: f64, kept: usize) -> Attempt {
        let mut placed = vec![(0, 0)];
        let mut layer = vec![State {
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

    /// The best so many states, and whether it dropped others than those that cannot be better.
    fn best(&self, mut states: Vec<State>, kept: usize) -> (Vec<State>, bool) {
        let rating = |state: &State| {
            let Cost { send_ns, add_ns } = self.cost;
            state.start as f64 * add_ns - state.due_ns.len() as f64 * send_ns
        };
        states.sort_by(|a, b| {
            let by_rating = rating(b).total_cmp(&rating(a));
            by_rating.then_with(|| b.start.cmp(&a.start))
        });
        let mut best: Vec<State> = Vec::new();
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

    /// Where the rank that starts there has to end to be in time, if later ones are: its start, if nowhere.
    fn furthest_end(&self, state: &State) -> u64 {
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

    /// The boundary after `state`'s.
    fn next(&self, state: &State, end: u64) -> State {
        let own = self.subtrees(state);
        let (cut, due_ns) = own
            .take_while(|(subtree, _)| subtree.start < end)
            .last()
            .expect("the rank owns items");
        let own_count = self.subtrees(state).filter(|(own, _)| own.start < end);
        let passed_on = state.due_ns.len() - own_count.count();
        let mut next = State {
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

    /// What the boundary cuts, from left to right, and when it is due.
    fn subtrees<'a>(&self, state: &'a State) -> impl Iterator<Item = (Subtree, &'a f64)> {
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

impl State {
    fn is_no_worse_than(&self, other: &Self) -> bool {
        let mut due_ns = self.due_ns.iter().zip(&other.due_ns);
        self.start == other.start && due_ns.all(|(own, other)| own >= other)
    }
}

/// The greatest number up to `last` for which it holds, if it holds up to there and no further; or 0.
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

#[cfg(test)]
mod tests {
    use super::{KEPT_MAX, Search};
    use crate::Cost;

    /// How far few ways lead, where all of them can be kept.
    #[test]
    fn few_ways_are_almost_always_enough() {
        let (mut cases, mut longer, mut ratio_max) = (0, 0, 1.0_f64);
        let costs = [
            (281.0, 4.0),
            (0.0, 1.0),
            (1.0, 1.0),
            (3.0, 2.0),
            (2.0, 7.0),
            (20.0, 1.0),
        ];
        for (send_ns, add_ns) in costs {
            for items in 1..=40 {
                for ranks in 1..=8 {
                    let cost = Cost { send_ns, add_ns };
                    let search = Search { items, ranks, cost };
                    let all = search.shortest(usize::MAX).unwrap();
                    assert!(all.is_proven);
                    let mut few = search.best_known().unwrap();
                    let half_ns = few.path_ns / 2.0;
                    search.shorten(&mut few, 2, half_ns);
                    let ratio = few.path_ns / all.path_ns.max(1e-9);
                    cases += 1;
                    longer += usize::from(ratio > 1.0);
                    ratio_max = ratio_max.max(ratio);
                    let case = format!("N = {items}, p = {ranks}, {cost:?}");
                    let found = search.shortest(KEPT_MAX).unwrap();
                    assert!(found.is_proven, "{case}");
                    assert!((found.path_ns - all.path_ns).abs() < 1e-9, "{case}");
                }
            }
        }
        println!("two ways: {longer} of {cases} are longer, at most {ratio_max} times");
        assert!(longer * 20 < cases && ratio_max < 1.2);
    }
}
