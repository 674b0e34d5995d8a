//! The search for a distribution with a short critical path, in the model of [`crate::critical_path`].
//!
//! [`crate::searches::time_limit`] decides whether rank 0 can have the root's value by a given time; bisection finds the shortest time.
//!
//! **What is proven.** If the last answer "no" is proven, the path is the shortest, to within a sixteenth of the smaller cost.
//! Otherwise the path is no longer than the critical path of one rank that owns all items, nor than the critical paths of the
//! lower, upper, power-of-two and optimized distributions.
//!
//! **What is measured.** The search keeps up to 64 placements of i boundaries, for each i. For N <= 40 and p <= 8 with six costs,
//! every "no" is proven. With 2 placements instead of 64, the path is as short in 97% of these cases, and at most 4% longer in
//! the rest. For N = 504850 and p = 256, the path takes 9933.2 ns whether 1, 2, 4, … or 1000 placements are kept. For N = 21410970
//! and p = 4096, it takes 24303.5 ns whether 1 or up to 64 are kept. With p = 4096 the search takes 0.3 to 1 s.

use crate::cost::Cost;
use crate::critical_path::critical_path_ns;
use crate::error::Error;
use crate::searches::time_limit::{Attempt, Problem};

/// For each i, the search keeps `KEPT_WITH_ALL_RANKS` / p placements of i boundaries, clamped to the limits below.
const KEPT_WITH_ALL_RANKS: usize = 1 << 14;
const KEPT_MIN: usize = 2;
const KEPT_MAX: usize = 64;

/// The bisection ends when the interval of times is at most this fraction of the smaller cost.
const PRECISION: f64 = 1.0 / 16.0;

/// Returns the start of every rank, then N. The critical path is no longer than that of any list of starts in `known`.
pub(crate) fn boundaries(
    items: u64,
    ranks: usize,
    cost: &Cost,
    known: &[Vec<u64>],
) -> Result<Vec<u64>, Error> {
    let cost = Error::unless_valid(cost)?;
    let kept = (KEPT_WITH_ALL_RANKS / ranks).clamp(KEPT_MIN, KEPT_MAX);
    let search = PathSearch(Problem { items, ranks, cost });
    Ok(search.shortest(known, kept).starts)
}

/// A bisection of the times by which rank 0 can have the root's value.
struct PathSearch(Problem);

struct Shortest {
    starts: Vec<u64>,
    path_ns: f64,
    /// Whether the last "no" was proven.
    is_proven: bool,
}

impl PathSearch {
    fn shortest(&self, known: &[Vec<u64>], kept: usize) -> Shortest {
        let mut best = self.best_known(known);
        let half_ns = best.path_ns / 2.0;
        self.shorten(&mut best, KEPT_MIN, half_ns);
        // A search that keeps more placements may succeed where the first search failed. Usually a single "no" ends the second.
        let below_ns = best.path_ns - self.precision_ns();
        let below_ns = below_ns.min(best.path_ns.next_down());
        self.shorten(&mut best, kept, below_ns);
        best
    }

    /// The best of the distributions in `known` and of the one in which rank 0 owns all items.
    fn best_known(&self, known: &[Vec<u64>]) -> Shortest {
        let mut starts = vec![self.0.items; self.0.ranks + 1];
        starts[0] = 0;
        let mut best = self.measured(starts);
        for starts in known {
            let other = self.measured(starts.clone());
            if other.path_ns < best.path_ns {
                best = other;
            }
        }
        best
    }

    /// Searches for shorter paths than `best` by bisection of the time. The first time tried is `first_ns`.
    fn shorten(&self, best: &mut Shortest, kept: usize, first_ns: f64) {
        let mut limit_ns = first_ns;
        let mut too_short_ns = 0.0;
        // The loop ends at the latest when no f64 lies between the two times.
        while too_short_ns < limit_ns && limit_ns < best.path_ns {
            match self.0.within(limit_ns, kept) {
                Attempt::Starts(starts) => {
                    *best = self.measured(starts);
                    // `measured` and the search may round differently.
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
        let Cost { send_ns, add_ns } = self.0.cost;
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
            path_ns: critical_path_ns(self.0.items, owning, &self.0.cost),
            starts,
            is_proven: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_MAX, PathSearch};
    use crate::searches::time_limit::Problem;
    use crate::{Cost, Scheme};

    /// Compares a search that keeps two placements with a search that keeps all of them.
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
                    let search = PathSearch(Problem { items, ranks, cost });
                    let upper = Scheme::Upper.distribute(items, ranks).unwrap();
                    let known = [upper.starts().collect()];
                    let all = search.shortest(&known, usize::MAX);
                    assert!(all.is_proven);
                    let mut few = search.best_known(&known);
                    let half_ns = few.path_ns / 2.0;
                    search.shorten(&mut few, 2, half_ns);
                    let ratio = few.path_ns / all.path_ns.max(1e-9);
                    cases += 1;
                    longer += usize::from(ratio > 1.0);
                    ratio_max = ratio_max.max(ratio);
                    let case = format!("N = {items}, p = {ranks}, {cost:?}");
                    let found = search.shortest(&known, KEPT_MAX);
                    assert!(found.is_proven, "{case}");
                    assert!((found.path_ns - all.path_ns).abs() < 1e-9, "{case}");
                }
            }
        }
        println!("2 placements: {longer} of {cases} paths are longer, by a factor <= {ratio_max}");
        assert!(longer * 20 < cases && ratio_max < 1.2);
    }
}
