//! Reductions in one process by the threads of a rayon pool: parallel versions of [`sum`](crate::sum), [`fold`](crate::fold),
//! [`dot`](crate::dot), [`squared_norm`](crate::squared_norm), [`sum_and_absolute_sum`](crate::sum_and_absolute_sum),
//! [`sum_rows`](crate::sum_rows), [`fold_rows`](crate::fold_rows), [`fields`](crate::fields) and the reductions in lanes.
//!
//! A slice is split where the tree splits it, so the bits are those of the fold by one thread. The bits depend
//! neither on the number of threads, nor on which thread folds which part and when.

mod iterator;

use std::ops::Range;

use simd_kernels::{Float, Level};

use super::fused::{canonical_or_zero, check_lengths};
use super::lanes::check_lanes;
use super::rows::{check_fields, check_rows};
use crate::environment;
use crate::error::FoldError;
use crate::operator::{Operator, Sum, WordsOperator, joined, lane_row};

#[doc(hidden)]
pub use exact_sum::par::{install, join};
pub use iterator::ParallelTreeIterator;

/// A thread folds a subtree of up to this number of values alone, since that takes about as long as waking another thread.
const GRAIN_VALUES: usize = 1 << 17;

/// The sum of the items, in tree order, by the threads of the current rayon pool. Returns 0 for no items.
///
/// ```
/// let x: Vec<f64> = (1..=100_000).map(|i| 1.0 / f64::from(i)).collect();
/// assert_eq!(reduce::par::sum(&x)?.to_bits(), reduce::sum(&x)?.to_bits());
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// The floating-point environment of a thread that took part is not IEEE 754's default.
pub fn sum<T: Copy + Send + Sync + 'static>(items: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    fold(items, &Sum)
}

/// The reduction of the items by `operator`, in tree order. For no items, returns the operator's empty value.
///
/// # Errors
/// There are no items and the operator has no empty value, or the floating-point environment of a thread that took part is
/// not IEEE 754's default.
pub fn fold<T, O>(items: &[T], operator: &O) -> Result<T, FoldError>
where
    T: Copy + Send + Sync + 'static,
    O: Operator<T> + Sync,
{
    if items.len() <= GRAIN_VALUES {
        return crate::fold(items, operator);
    }
    let leaf = |range: Range<usize>| operator.fold(&items[range]).expect(NOT_EMPTY);
    let combine = |left, right| operator.combine(left, right);
    let total = by_subtrees(0..items.len(), GRAIN_VALUES, &leaf, &combine)?;
    Ok(operator.canonical(total))
}

/// Like [`WordsOperator::fold`], but uses the threads of the current rayon pool.
///
/// # Errors
/// Those of [`WordsOperator::fold`], for any thread that took part.
#[doc(hidden)]
pub fn fold_words(items: &[u64], operator: &WordsOperator) -> Result<Vec<u64>, FoldError> {
    let words = operator.words();
    if items.len() <= GRAIN_VALUES {
        return operator.fold(items);
    }
    let leaf = |range: Range<usize>| {
        let mut root = vec![0; words];
        let items = &items[range.start * words..range.end * words];
        let folded = operator.fold_rows(items, &mut Vec::new(), &mut root);
        folded.expect(NOT_EMPTY);
        root
    };
    let combine = |left: Vec<u64>, right: Vec<u64>| {
        let mut root = vec![0; words];
        operator.combine_rows(&left, &right, &mut root);
        root
    };
    let grain_items = (GRAIN_VALUES / words).max(1);
    by_subtrees(0..items.len() / words, grain_items, &leaf, &combine)
}

/// The sum of the items in `lanes` lanes, like [`sum_lanes`](crate::sum_lanes). Returns 0 for no items.
///
/// # Errors
/// `lanes` is not from 1 to 2^20, or the floating-point environment of a thread that took part is not IEEE 754's default.
pub fn sum_lanes<T>(items: &[T], lanes: usize) -> Result<T, FoldError>
where
    T: Copy + Send + Sync + 'static,
    Sum: Operator<T>,
{
    fold_lanes(items, lanes, &Sum)
}

/// The reduction of the items by `operator` in `lanes` lanes. For no items, returns the operator's empty value.
///
/// # Errors
/// Those of [`sum_lanes`], or an error if there are no items and the operator has no empty value.
pub fn fold_lanes<T, O>(items: &[T], lanes: usize, operator: &O) -> Result<T, FoldError>
where
    T: Copy + Send + Sync + 'static,
    O: Operator<T> + Sync,
{
    check_lanes(lanes)?;
    if items.len() <= GRAIN_VALUES {
        return crate::fold_lanes(items, lanes, operator);
    }
    crate::fold(&lanes_by_subtrees(items, lanes, operator)?, operator)
}

/// The reduction of rows of `width` values in `lanes` lanes, element by element. For no rows, the result is the empty value.
///
/// # Errors
/// Those of [`fold_rows`], or an error if `lanes` is not from 1 to 2^20.
pub fn fold_rows_lanes<T, O>(
    items: &[T],
    width: usize,
    lanes: usize,
    operator: &O,
    result: &mut [T],
) -> Result<(), FoldError>
where
    T: Copy + Send + Sync + 'static,
    O: Operator<T> + Sync,
{
    check_lanes(lanes)?;
    check_rows(items, width, result)?;
    if items.len() <= GRAIN_VALUES {
        return crate::fold_rows_lanes(items, width, lanes, operator, result);
    }
    let row = lanes_by_subtrees(items, width.saturating_mul(lanes), operator)?;
    crate::fold_rows(&row, width, operator, result)
}

/// The sum of x0 * y0, x1 * y1, … in tree order. Returns +0.0 for no items.
///
/// # Errors
/// The slices differ in length, or the floating-point environment of a thread that took part is not IEEE 754's default.
pub fn dot<T: Float + Send + Sync>(x: &[T], y: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    check_lengths(x, y)?;
    fused(x.len(), |range| {
        simd_kernels::dot(Level::best(), &x[range.clone()], &y[range])
    })
}

/// The sum of x0 * x0, x1 * x1, … in tree order. Returns +0.0 for no items.
///
/// # Errors
/// The floating-point environment of a thread that took part is not IEEE 754's default.
pub fn squared_norm<T: Float + Send + Sync>(x: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    fused(x.len(), |range| {
        simd_kernels::squared_norm(Level::best(), &x[range])
    })
}

/// The sum of the items and the sum of their absolute values, each in tree order. Both are +0.0 if there are no items.
///
/// # Errors
/// The floating-point environment of a thread that took part is not IEEE 754's default.
pub fn sum_and_absolute_sum<T: Float + Send + Sync>(items: &[T]) -> Result<(T, T), FoldError>
where
    Sum: Operator<T>,
{
    if items.is_empty() {
        return crate::sum_and_absolute_sum(items);
    }
    let leaf = |range: Range<usize>| {
        simd_kernels::sum_and_absolute_sum(Level::best(), &items[range]).expect(NOT_EMPTY)
    };
    let combine =
        |left: (T, T), right: (T, T)| (Sum.combine(left.0, right.0), Sum.combine(left.1, right.1));
    let (sum, absolute_sum) = by_subtrees(0..items.len(), GRAIN_VALUES, &leaf, &combine)?;
    Ok((Sum.canonical(sum), Sum.canonical(absolute_sum)))
}

/// The sums of rows of `width` values, element by element, each in tree order.
///
/// # Errors
/// Those of [`fold_rows`], except that the sums of no rows are 0.
pub fn sum_rows<T>(items: &[T], width: usize, result: &mut [T]) -> Result<(), FoldError>
where
    T: Copy + Send + Sync + 'static,
    Sum: Operator<T>,
{
    fold_rows(items, width, &Sum, result)
}

/// The reduction of rows of `width` values by `operator`, element by element, each in tree order. For no rows, the result is the empty value.
///
/// # Errors
/// `width` is 0, `items` are not whole rows, `result` is not as long as a row, there are no rows and the operator has no
/// empty value, or the floating-point environment of a thread that took part is not IEEE 754's default.
pub fn fold_rows<T, O>(
    items: &[T],
    width: usize,
    operator: &O,
    result: &mut [T],
) -> Result<(), FoldError>
where
    T: Copy + Send + Sync + 'static,
    O: Operator<T> + Sync,
{
    check_rows(items, width, result)?;
    if items.len() <= GRAIN_VALUES {
        return crate::fold_rows(items, width, operator, result);
    }
    let leaf = |rows: Range<usize>| {
        let rows = &items[rows.start * width..rows.end * width];
        let mut row = rows[..width].to_vec();
        let folded = operator.fold_rows(rows, width, &mut Vec::new(), &mut row);
        folded.expect(NOT_EMPTY);
        row
    };
    let combine = |left: Vec<T>, right: Vec<T>| {
        let mut row = left.clone();
        operator.combine_rows(&left, &right, &mut row);
        row
    };
    let grain_rows = (GRAIN_VALUES / width).max(1);
    let row = by_subtrees(0..items.len() / width, grain_rows, &leaf, &combine)?;
    operator.copy_canonical(&row, result);
    Ok(())
}

/// The reductions of several fields of the same items, each field in a slice of its own: value f is the [`fold`] of field f.
///
/// # Errors
/// The fields differ in length, there are no items and the operator has no empty value, or the floating-point environment of
/// a thread that took part is not IEEE 754's default.
pub fn fields<T, O>(fields: &[&[T]], operator: &O) -> Result<Vec<T>, FoldError>
where
    T: Copy + Send + Sync + 'static,
    O: Operator<T> + Sync,
{
    check_fields(fields)?;
    fields.iter().map(|field| fold(field, operator)).collect()
}

const NOT_EMPTY: &str = "a subtree has items";

/// The sum of values computed from items. `leaf` returns the sum over a range of items.
fn fused<T: Float + Send + Sync>(
    count: usize,
    leaf: impl Fn(Range<usize>) -> Option<T> + Sync,
) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    if count == 0 {
        environment::check()?;
        return Ok(canonical_or_zero(None));
    }
    let leaf = |range: Range<usize>| leaf(range).expect(NOT_EMPTY);
    let combine = |left, right| Sum.combine(left, right);
    let total = by_subtrees(0..count, GRAIN_VALUES, &leaf, &combine)?;
    Ok(canonical_or_zero(Some(total)))
}

/// Reduces at least one item, as rows of `stride` values, column by column. The last row may be shorter.
fn lanes_by_subtrees<T, O>(items: &[T], stride: usize, operator: &O) -> Result<Vec<T>, FoldError>
where
    T: Copy + Send + Sync + 'static,
    O: Operator<T> + Sync,
{
    let leaf = |rows: Range<usize>| {
        let end = items.len().min(rows.end.saturating_mul(stride));
        lane_row(&items[rows.start * stride..end], stride, operator)
    };
    let combine = |left, right: Vec<T>| joined(left, &right, operator);
    let grain_rows = (GRAIN_VALUES / stride).max(1);
    by_subtrees(0..items.len().div_ceil(stride), grain_rows, &leaf, &combine)
}

/// The value of the tree over a range of at least one item. The range begins where a subtree of its size may begin.
fn by_subtrees<V: Send>(
    items: Range<usize>,
    grain: usize,
    leaf: &(dyn Fn(Range<usize>) -> V + Sync),
    combine: &(dyn Fn(V, V) -> V + Sync),
) -> Result<V, FoldError> {
    if items.len() <= grain {
        // Every thread that combines has folded before, so checking here checks all threads.
        environment::check()?;
        let value = leaf(items);
        // An operator may have changed the environment.
        environment::check()?;
        return Ok(value);
    }
    // The number of items of the root's left child is the greatest power of two less than the number of all items.
    let middle = items.start + items.len().next_power_of_two() / 2;
    let (left, right) = join(
        || by_subtrees(items.start..middle, grain, leaf, combine),
        || by_subtrees(middle..items.end, grain, leaf, combine),
    );
    let value = combine(left?, right?);
    environment::check()?;
    Ok(value)
}
