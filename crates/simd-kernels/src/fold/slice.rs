//! Folds whole slices in one pass, without allocation.

use crate::fold::counter::{Counter, fold_last};
use crate::fold::few::{FEW_LEAVES, fold_few};
use crate::fold::source::Source;
use crate::fold::stream::{Fold, ShortFold};
use crate::sets::dispatch::{Float, compute};
use crate::sets::level::Level;
use crate::sets::operation::Operation;

/// The sum of the leaves in tree order; `None` for no leaves. All levels give the same bits.
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

/// The fold of the leaves in tree order, by an operation with vector instructions; `None` for no leaves. All levels give the
/// same bits.
///
/// Takes one pass over the leaves, and keeps up to 64 values of state.
///
/// ```
/// use simd_kernels::{Level, Operation, fold};
///
/// let least = fold(Level::best(), Operation::Minimum, &[3.0, -0.0, 0.0, 7.5]);
/// assert_eq!(least.map(f64::to_bits), Some((-0.0_f64).to_bits()));
/// ```
#[inline]
pub fn fold<T: Float>(level: Level, operation: Operation, leaves: &[T]) -> Option<T> {
    (T::kernels(operation).fold)(level, leaves)
}

#[inline(always)]
pub(crate) fn sum_kernel<T: Float>(level: Level, leaves: &[T]) -> Option<T> {
    sum_of(level, leaves, FEW_LEAVES)
}

/// The sum of leaves, by a kernel unless they are fewer than `few_leaves`.
#[inline(always)]
pub(crate) fn sum_of<S: Source<Leaf: Float>>(
    level: Level,
    leaves: S,
    few_leaves: usize,
) -> Option<S::Leaf> {
    // Neither function is inlined, so that a call loads the code of only one.
    if leaves.len() < few_leaves {
        few(leaves)
    } else {
        many(level, leaves)
    }
}

/// The sum of leaves that are too few for a kernel.
#[inline(never)]
fn few<S: Source<Leaf: Float>>(leaves: S) -> Option<S::Leaf> {
    fold_few(leaves, |left, right| left + right)
}

/// Leaves of fewer bytes in total are folded by [`ShortFold`].
const SHORT_BYTES: usize = 4096;

/// The sum of leaves, computed by a kernel.
#[inline(never)]
fn many<S: Source<Leaf: Float>>(level: Level, leaves: S) -> Option<S::Leaf> {
    if leaves.len() < SHORT_BYTES / size_of::<S::Leaf>() {
        return compute(level, ShortFold(leaves));
    }
    compute(level.for_leaf_bytes(leaves.bytes()), Fold(leaves))
}

/// The fold of the items along the binary tree by any operator; `None` for no items.
///
/// `combine(left, right)` is called once for each pair of siblings, left operand first. `combine` need be neither associative nor
/// commutative.
///
/// ```
/// let greatest = simd_kernels::tree_fold(&[3, 9, 2], |left, right| left.max(right));
/// assert_eq!(greatest, Some(9));
/// ```
#[inline]
pub fn tree_fold<T: Copy>(items: &[T], mut combine: impl FnMut(T, T) -> T) -> Option<T> {
    if items.len() < 8 {
        return fold_last(items, &mut combine);
    }
    Some(Counter::new().finish(items, combine))
}
