//! The baselines of treefold: fast sums without a fixed order, and a slow sum from left to right; and [`Runner`], which runs any algorithm.
//!
//! The baselines are not part of the product, which does not offer their orders.

use distribution::Ownership;
use reduce::{Plan, Sum, World, exact};
use simd_kernels::Level;

use crate::ordinary::Ordinary;
use crate::way::Way;
use crate::{Backend, Error};

/// A sum of doubles over ranks in an order that differs from the tree's.
#[derive(Clone, Debug)]
pub struct Baseline {
    ordinary: Ordinary,
    fold: fn(&[f64]) -> f64,
    /// If given, rank 0 gathers all items, at most this number from each rank. Otherwise, each rank folds its own items before an allreduce.
    gathered_max: Option<usize>,
}

impl Baseline {
    /// The fastest sum, but not reproducible: each rank sums its own items as fast as SIMD can.
    pub fn unordered(world: &World, backend: Backend) -> Result<Self, Error> {
        let fold = |local: &[f64]| simd_kernels::unordered_sum(Level::best(), local);
        Self::of(world, backend, fold, None)
    }

    /// The papers' baseline, not reproducible: each rank sums its own items from left to right.
    pub fn locally_left_to_right(world: &World, backend: Backend) -> Result<Self, Error> {
        Self::of(world, backend, left_to_right, None)
    }

    /// A reproducible but slow sum: rank 0 gathers all items and sums them from left to right (thesis, eq. 1.5).
    pub fn left_to_right(
        world: &World,
        backend: Backend,
        ownership: &Ownership,
    ) -> Result<Self, Error> {
        let counts = (0..ownership.ranks()).map(|rank| ownership.count(rank));
        let items_max = usize::try_from(counts.max().unwrap_or(0)).unwrap_or(usize::MAX);
        Self::of(world, backend, left_to_right, Some(items_max))
    }

    fn of(
        world: &World,
        backend: Backend,
        fold: fn(&[f64]) -> f64,
        gathered_max: Option<usize>,
    ) -> Result<Self, Error> {
        Ok(Self {
            ordinary: Ordinary::new(world, backend)?,
            fold,
            gathered_max,
        })
    }

    /// Returns the sum of all ranks' items on every rank; 0 if there are none. Collective.
    pub fn allreduce(&self, local: &[f64]) -> Result<f64, Error> {
        let mut total = [0.0];
        if let Some(items_max) = self.gathered_max {
            total = [(self.fold)(&self.ordinary.gather(local, items_max)?)];
            self.ordinary.broadcast(&mut total)?;
        } else {
            let own = [(self.fold)(local)];
            self.ordinary.allreduce(&Sum, &own, &mut total)?;
        }
        Ok(total[0])
    }
}

fn left_to_right(items: &[f64]) -> f64 {
    simd_kernels::left_to_right(items).unwrap_or(0.0)
}

/// A sum of doubles over the ranks of a world.
#[derive(Debug)]
pub enum Runner {
    /// By a plan of treefold, in tree order.
    Plan(Box<Plan<f64, Sum>>),
    /// By an exact plan of treefold.
    Exact(Box<exact::Plan<exact::Sum<f64>>>),
    /// By one of the baselines.
    Baseline(Baseline),
    /// By treefold's local fold of this rank's items, which is the whole sum if there is one rank.
    LocalFold,
}

impl Runner {
    /// Prepares an algorithm. Collective.
    pub fn new(
        way: Way,
        world: &World,
        backend: Backend,
        ownership: &Ownership,
    ) -> Result<Self, Error> {
        Ok(match way {
            Way::Tree(algorithm) => {
                let builder = Plan::builder(world).ownership(ownership);
                Runner::plan(builder.algorithm(algorithm).build()?)
            }
            Way::Exact => Runner::Exact(Box::new(Plan::builder(world).build_exact()?)),
            Way::Unordered => Runner::Baseline(Baseline::unordered(world, backend)?),
            Way::LeftToRight => {
                Runner::Baseline(Baseline::left_to_right(world, backend, ownership)?)
            }
        })
    }

    /// A runner of a plan.
    pub fn plan(plan: Plan<f64, Sum>) -> Self {
        Runner::Plan(Box::new(plan))
    }

    /// The sum of all ranks' items. Collective.
    pub fn allreduce(&self, local: &[f64]) -> Result<f64, Error> {
        match self {
            Runner::Plan(plan) => Ok(plan.allreduce(local)?),
            Runner::Exact(plan) => Ok(plan.sum(local)?),
            Runner::Baseline(baseline) => baseline.allreduce(local),
            Runner::LocalFold => Ok(reduce::sum(local)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use reduce::threads;

    use super::Baseline;
    use crate::data::log_likelihoods;
    use crate::{Backend, Sharing};

    /// All ranks get the same sum. It is close to the left-to-right sum over all items, or equal if the baseline adds in that order.
    #[test]
    fn baselines_are_sums() {
        for (count, ranks) in [(0, 1), (1, 3), (5, 8), (1000, 1), (1000, 17)] {
            let items = log_likelihoods(count, 3);
            let expected = super::left_to_right(&items);
            for sharing in Sharing::contiguous() {
                let ownership = sharing.distribute(count as u64, ranks, 1).unwrap();
                let sums = threads::run(ranks, |world| {
                    let range = ownership.as_distribution().unwrap().range(world.rank());
                    let index = |item: u64| usize::try_from(item).unwrap();
                    let local = &items[index(range.start)..index(range.end)];
                    let backend = Backend::Threads;
                    let ordered = Baseline::left_to_right(world, backend, &ownership);
                    let others = [Baseline::unordered, Baseline::locally_left_to_right];
                    let sum = |baseline: Baseline| baseline.allreduce(local).unwrap();
                    let others = others.map(|other| sum(other(world, backend).unwrap()).to_bits());
                    [sum(ordered.unwrap()).to_bits(), others[0], others[1]]
                });
                let sums = sums.unwrap();
                assert!(sums.iter().all(|bits| *bits == sums[0]));
                assert_eq!(sums[0][0], expected.to_bits(), "{sharing}, {ranks}");
                for sum in sums[0].map(f64::from_bits) {
                    let off = (sum - expected).abs();
                    assert!(off <= 1e-10 * expected.abs(), "{sharing}, {ranks}: {sum}");
                }
            }
        }
    }
}
