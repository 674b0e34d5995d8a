//! The sums that treefold is compared with: the fast ones without an order, and the slow one with another order.
//!
//! They are no part of the product, which offers tree order alone.

use distribution::Ownership;
use reduce::{Sum, World};
use simd_kernels::Level;

use crate::ordinary::Ordinary;
use crate::{Backend, Error};

/// A sum of doubles over ranks in another order than the tree's.
#[derive(Clone, Debug)]
pub struct Baseline {
    ordinary: Ordinary,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Each rank folds its own items, then the transport's ordinary allreduce.
    Folded(fn(&[f64]) -> f64),
    /// One rank gets all items, at most this number from each.
    Gathered { items_max: usize },
}

impl Baseline {
    /// Each rank sums its own items as fast as SIMD can: the fastest way, and not reproducible.
    pub fn unordered(world: &World, backend: Backend) -> Result<Self, Error> {
        Self::folded(world, backend, |local| {
            simd_kernels::unordered_sum(Level::best(), local)
        })
    }

    /// Each rank sums its own items from left to right: the papers' baseline, and not reproducible.
    pub fn locally_left_to_right(world: &World, backend: Backend) -> Result<Self, Error> {
        Self::folded(world, backend, left_to_right)
    }

    /// All items are gathered on rank 0, which sums them from left to right: reproducible and slow (thesis, eq. 1.5).
    pub fn left_to_right(
        world: &World,
        backend: Backend,
        ownership: &Ownership,
    ) -> Result<Self, Error> {
        let counts = (0..ownership.ranks()).map(|rank| ownership.count(rank));
        let items_max = usize::try_from(counts.max().unwrap_or(0)).unwrap_or(usize::MAX);
        Ok(Self {
            ordinary: Ordinary::new(world, backend)?,
            kind: Kind::Gathered { items_max },
        })
    }

    fn folded(world: &World, backend: Backend, fold: fn(&[f64]) -> f64) -> Result<Self, Error> {
        Ok(Self {
            ordinary: Ordinary::new(world, backend)?,
            kind: Kind::Folded(fold),
        })
    }

    /// The sum of all ranks' items, on every rank; returns 0 for no items. Collective.
    pub fn allreduce(&self, local: &[f64]) -> Result<f64, Error> {
        let mut total = [0.0];
        match self.kind {
            Kind::Folded(fold) => {
                let own = [fold(local)];
                self.ordinary.allreduce(&Sum, &own, &mut total)?;
            }
            Kind::Gathered { items_max } => {
                let items = self.ordinary.gather(local, items_max)?;
                total = [left_to_right(&items)];
                self.ordinary.broadcast(&mut total)?;
            }
        }
        Ok(total[0])
    }
}

fn left_to_right(items: &[f64]) -> f64 {
    simd_kernels::left_to_right(items).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use distribution::Ownership;
    use reduce::{World, threads};

    use super::Baseline;
    use crate::data::log_likelihoods;
    use crate::{Backend, Sharing};

    /// The sums on each rank, which are one.
    fn sums(
        items: &[f64],
        ownership: &Ownership,
        baseline: impl Fn(&World) -> Baseline + Sync,
    ) -> f64 {
        let sums = threads::run(ownership.ranks(), |world| {
            let range = ownership.as_distribution().unwrap().range(world.rank());
            let index = |item: u64| usize::try_from(item).unwrap();
            let local = &items[index(range.start)..index(range.end)];
            baseline(world).allreduce(local).unwrap().to_bits()
        });
        let sums = sums.unwrap();
        assert!(sums.iter().all(|&bits| bits == sums[0]));
        f64::from_bits(sums[0])
    }

    #[test]
    fn baselines_are_sums() {
        for count in [0, 1, 5, 1000] {
            let items = log_likelihoods(count, 3);
            let expected = simd_kernels::left_to_right(&items).unwrap_or(0.0);
            for ranks in [1, 2, 3, 8, 17] {
                for sharing in Sharing::contiguous() {
                    let ownership = sharing.distribute(count as u64, ranks, 1).unwrap();
                    let ordered = sums(&items, &ownership, |world| {
                        Baseline::left_to_right(world, Backend::Threads, &ownership).unwrap()
                    });
                    assert_eq!(ordered.to_bits(), expected.to_bits(), "{sharing}, {ranks}");
                    for baseline in [Baseline::unordered, Baseline::locally_left_to_right] {
                        let sum = sums(&items, &ownership, |world| {
                            baseline(world, Backend::Threads).unwrap()
                        });
                        let off = (sum - expected).abs();
                        assert!(off <= 1e-10 * expected.abs(), "{sharing}, {ranks}: {sum}");
                    }
                }
            }
        }
    }
}
