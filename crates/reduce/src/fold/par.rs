//! The folds of [`crate::fold`] and [`crate::sum`] by all threads of a process, on rayon.
//!
//! The slice is split where the tree splits it, so the number of threads, who steals what from whom, and
//! when, change nothing: the bits are those of the fold by one thread.

use crate::environment;
use crate::error::FoldError;
use crate::operator::{Operator, Sum};

/// A thread folds subtrees of up to so many items by itself: about as long as it takes to wake another.
const GRAIN_ITEMS: usize = 1 << 17;

/// The sum of the items, in tree order, by the threads of the current rayon pool. Of none, 0.
///
/// ```
/// let x: Vec<f64> = (1..=100_000).map(|i| 1.0 / f64::from(i)).collect();
/// assert_eq!(reduce::par::sum(&x)?.to_bits(), reduce::sum(&x)?.to_bits());
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// The floating-point environment of a thread that took part is not IEEE 754's default.
pub fn sum<T: Copy + Send + Sync>(items: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    fold(items, &Sum)
}

/// The reduction of the items by `operator`, in tree order, by the threads of the current rayon pool. Of none, its empty value.
///
/// # Errors
/// There are no items and the operator has no empty value, or the floating-point environment of a thread that took part is
/// not IEEE 754's default.
pub fn fold<T, O>(items: &[T], operator: &O) -> Result<T, FoldError>
where
    T: Copy + Send + Sync,
    O: Operator<T> + Sync,
{
    if items.len() <= GRAIN_ITEMS {
        return crate::fold(items, operator);
    }
    subtree(items, operator).map(|total| operator.canonical(total))
}

/// The value of the tree over at least one item.
fn subtree<T, O>(items: &[T], operator: &O) -> Result<T, FoldError>
where
    T: Copy + Send + Sync,
    O: Operator<T> + Sync,
{
    if items.len() <= GRAIN_ITEMS {
        // Every thread that combines has folded before, so it is checked here.
        environment::check()?;
        return Ok(operator.fold(items).expect("a subtree has items"));
    }
    // Half of the least power of two that holds all items: the root's right child begins there.
    let (left, right) = items.split_at(items.len().next_power_of_two() / 2);
    let (left, right) = rayon::join(|| subtree(left, operator), || subtree(right, operator));
    Ok(operator.combine(left?, right?))
}
