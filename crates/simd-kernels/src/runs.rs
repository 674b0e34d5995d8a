//! Several folds in one call: the subtrees that a range of leaves is made of.

use crate::dispatch::{Float, Operation};
use crate::fold::fold_few;
use crate::kernel::Kernel;
use crate::level::Level;
use crate::stream::fold_any;
use crate::vector::{Combine, Proven, Vector};

/// Folds runs of leaves that lie side by side: `results[k]` becomes the [`fold`](crate::fold) of the next `lengths[k]` leaves.
///
/// The subtrees of a fragment are short at its ends, so a call for each would be mostly calls.
///
/// # Panics
/// A run is empty, there are not as many results as runs, or the runs are not all the leaves.
///
/// ```
/// use simd_kernels::{Level, Operation, fold_runs};
///
/// let mut sums = [0.0; 2];
/// fold_runs(Level::best(), Operation::Sum, &[0.1, 0.2, 0.3], &[1, 2], &mut sums);
/// assert_eq!(sums, [0.1, 0.2 + 0.3]);
/// ```
#[inline]
pub fn fold_runs<T: Float>(
    level: Level,
    operation: Operation,
    leaves: &[T],
    lengths: &[usize],
    results: &mut [T],
) {
    assert_eq!(lengths.len(), results.len(), "a result for each run");
    let runs = Runs {
        leaves,
        lengths,
        results,
    };
    let level = level.for_leaf_bytes(size_of_val(leaves));
    let rest = T::run(level, operation, runs);
    assert_eq!(rest, 0, "the runs are all the leaves");
}

struct Runs<'r, T> {
    leaves: &'r [T],
    lengths: &'r [usize],
    results: &'r mut [T],
}

impl<T: Float> Kernel<T> for Runs<'_, T> {
    /// The number of leaves beyond the runs.
    type Output = usize;

    #[inline(always)]
    fn run<V, O>(self, proven: Proven<V>) -> usize
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        let (mut leaves, all_bytes) = (self.leaves, size_of_val(self.leaves));
        for (&length, result) in self.lengths.iter().zip(self.results) {
            let (run, rest) = leaves.split_at(length);
            leaves = rest;
            *result = if length < V::LANES * V::LANES {
                fold_few(run, O::single).expect("a run has leaves")
            } else {
                fold_any::<V, O, _>(proven, run, all_bytes)
            };
        }
        leaves.len()
    }
}
