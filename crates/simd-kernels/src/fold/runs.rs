//! Computes several folds in one call, for the subtrees of a range of leaves.

use core::slice;

use crate::fold::few::fold_few;
use crate::fold::stream::{FOR_FOLDS, fold_any};
use crate::sets::dispatch::Float;
use crate::sets::kernel::{For, Kernel};
use crate::sets::level::Level;
use crate::sets::operation::Operation;
use crate::sets::vector::{Combine, Proven, Vector};

/// Folds consecutive runs of leaves: `results[k]` becomes the [`fold`](crate::fold) of the next `lengths[k]` leaves.
///
/// The subtrees at the ends of a fragment are small, so separate calls would cost more than the folds themselves.
///
/// # Panics
/// A run is empty, the numbers of results and runs differ, or the lengths do not add up to the number of leaves.
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
    (T::kernels(operation).fold_runs)(level, leaves, lengths, results);
}

pub(crate) fn fold_runs_kernel<T: Float, O: Combine<T>>(
    level: Level,
    leaves: &[T],
    lengths: &[usize],
    results: &mut [T],
) {
    assert_eq!(
        lengths.len(),
        results.len(),
        "the number of results is not the number of runs"
    );
    let runs = Runs {
        leaves,
        lengths,
        results,
    };
    let level = level.for_leaf_bytes(size_of_val(leaves));
    let rest = T::compute::<O, _>(level, runs);
    assert_eq!(rest, 0, "the lengths do not add up to the number of leaves");
}

/// The fold of one run; `None` for no leaves.
#[inline(always)]
pub(crate) fn fold_run_kernel<T: Float, O: Combine<T>>(level: Level, leaves: &[T]) -> Option<T> {
    let mut result = *leaves.first()?;
    fold_runs_kernel::<T, O>(level, leaves, &[leaves.len()], slice::from_mut(&mut result));
    Some(result)
}

struct Runs<'r, T> {
    leaves: &'r [T],
    lengths: &'r [usize],
    results: &'r mut [T],
}

impl<T: Float> Kernel<T> for Runs<'_, T> {
    /// The number of leaves after the last run.
    type Output = usize;

    const FOR: For = FOR_FOLDS;

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>) -> usize
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
