//! Whole slices in one pass, with nothing on the heap.

use crate::counter::{ALL_HEIGHTS, Counter, fold_last};
use crate::dispatch::{Float, Operation};
use crate::level::Level;
use crate::source::Source;
use crate::stream::Fold;

/// Below this many leaves, a kernel's set-up costs more than it saves.
pub(crate) const SHORT_LEAVES: usize = 128;

/// The sum of the leaves, in tree order; `None` of none. All levels give the same bits.
///
/// ```
/// use simd_kernels::{Level, sum};
///
/// assert_eq!(sum(Level::best(), &[0.1, 0.2, 0.3]), Some((0.1 + 0.2) + 0.3));
/// assert_eq!(sum::<f32>(Level::best(), &[]), None);
/// ```
#[inline]
pub fn sum<T: Float>(level: Level, leaves: &[T]) -> Option<T> {
    fold(level, Operation::Sum, leaves)
}

/// The fold of the leaves by an operation that has vector instructions, in tree order; `None` of none.
///
/// One pass over the leaves, at the speed of memory; up to 64 values of state.
///
/// ```
/// use simd_kernels::{Level, Operation, fold};
///
/// let least = fold(Level::best(), Operation::Minimum, &[3.0, -0.0, 0.0, 7.5]);
/// assert_eq!(least.map(f64::to_bits), Some((-0.0_f64).to_bits()));
/// ```
#[inline]
pub fn fold<T: Float>(level: Level, operation: Operation, leaves: &[T]) -> Option<T> {
    let level = level.for_leaf_bytes(size_of_val(leaves));
    T::run(level, operation, Fold(leaves))
}

/// The fold of the items along the binary tree, for any operator; `None` of none.
///
/// `combine(left, right)` gets neighbours in their order, each pair once; it need be neither
/// associative nor commutative.
///
/// ```
/// let greatest = simd_kernels::tree_fold(&[3, 9, 2], |left, right| left.max(right));
/// assert_eq!(greatest, Some(9));
/// ```
#[inline]
pub fn tree_fold<T: Copy>(items: &[T], combine: impl FnMut(T, T) -> T) -> Option<T> {
    if items.len() < SHORT_LEAVES {
        return fold_few(items, combine);
    }
    Some(Counter::<T, ALL_HEIGHTS>::new(items[0]).finish(items, combine))
}

/// The fold of fewer than [`SHORT_LEAVES`] leaves; `None` of none.
///
/// Small counters for the many short slices: their memory is filled before it is used.
#[inline(always)]
pub(crate) fn fold_few<S: Source>(
    leaves: S,
    mut combine: impl FnMut(S::Leaf, S::Leaf) -> S::Leaf,
) -> Option<S::Leaf> {
    match leaves.len() {
        0 => None,
        1..8 => fold_last(leaves.leaves(&mut [leaves.filler(); 8]), &mut combine),
        _ => Some(Counter::<_, 7>::new(leaves.filler()).finish(leaves, combine)),
    }
}
