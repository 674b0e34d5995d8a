//! Reductions in lanes, the order of ISO C++'s P4016 (`docs/lanes.md`): item i belongs to lane i mod L, each lane is reduced in tree order,
//! and so are the results of the lanes.

use super::finished;
use super::rows::check_rows;
use crate::environment;
use crate::error::FoldError;
use crate::operator::{Operator, Sum};

/// The greatest number of lanes.
pub(crate) const LANES_MAX: usize = 1 << 20;

/// The sum of the items in `lanes` lanes: item i belongs to lane i mod `lanes`, each lane is summed in tree order, and then their sums.
/// Returns 0 for no items.
///
/// With one lane it is [`sum`](crate::sum). Sums of floats in 16, 32, 64 or 128 lanes are the fastest.
///
/// ```
/// let x = [0.1, 0.2, 0.3, 0.4, 0.5];
/// assert_eq!(reduce::sum_lanes(&x, 2)?, ((0.1 + 0.3) + 0.5) + (0.2 + 0.4));
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// `lanes` is not from 1 to 2^20, or this thread's floating-point environment is not IEEE 754's default.
pub fn sum_lanes<T: Copy + 'static>(items: &[T], lanes: usize) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    fold_lanes(items, lanes, &Sum)
}

/// The reduction of the items by `operator` in `lanes` lanes. Returns its empty value for no items.
///
/// # Errors
/// As [`sum_lanes`], or there are no items and the operator has no empty value.
pub fn fold_lanes<T: Copy + 'static, O: Operator<T>>(
    items: &[T],
    lanes: usize,
    operator: &O,
) -> Result<T, FoldError> {
    check_lanes(lanes)?;
    environment::check()?;
    finished(operator.fold_lanes(items, lanes), operator)
}

/// The reduction of rows of `width` values in `lanes` lanes, element by element: row i belongs to lane i mod `lanes`. No rows give the
/// empty value.
///
/// # Errors
/// Those of [`fold_rows`](crate::fold_rows), or `lanes` is not from 1 to 2^20.
pub fn fold_rows_lanes<T: Copy + 'static, O: Operator<T>>(
    items: &[T],
    width: usize,
    lanes: usize,
    operator: &O,
    result: &mut [T],
) -> Result<(), FoldError> {
    check_lanes(lanes)?;
    environment::check()?;
    check_rows(items, width, result)?;
    let row = lane_row(items, width.saturating_mul(lanes), operator);
    crate::fold_rows(&row, width, operator, result)
}

/// The reduction in lanes by rows of them, which any operator has.
pub(crate) fn fold_by_rows<T: Copy + 'static, O: Operator<T> + ?Sized>(
    items: &[T],
    lanes: usize,
    operator: &O,
) -> Option<T> {
    if lanes == 1 || items.len() <= lanes {
        return operator.fold(items);
    }
    operator.fold(&lane_row(items, lanes, operator))
}

/// Whether there can be so many lanes.
pub(crate) fn check_lanes(lanes: usize) -> Result<(), FoldError> {
    if (1..=LANES_MAX).contains(&lanes) {
        return Ok(());
    }
    Err(FoldError::Lanes {
        lanes: lanes as u64,
    })
}

/// The reductions of the columns of rows of `stride` values, of which the last may be shorter. Fewer values than a row are themselves.
pub(crate) fn lane_row<T: Copy + 'static, O: Operator<T> + ?Sized>(
    items: &[T],
    stride: usize,
    operator: &O,
) -> Vec<T> {
    let rows_count = items.len() / stride;
    let (mut rows, last) = items.split_at(rows_count * stride);
    let mut scratch = Vec::new();
    // Largest subtrees, from right to left.
    let mut subtree = || {
        let count = rows.len() / stride;
        let right_count = 1_usize.checked_shl(count.trailing_zeros())?;
        let (left, right) = rows.split_at((count - right_count) * stride);
        rows = left;
        let mut row = right[..stride].to_vec();
        let folded = operator.fold_rows(right, stride, &mut scratch, &mut row);
        folded.expect("a subtree has rows");
        Some(row)
    };
    let Some(row) = subtree() else {
        return last.to_vec();
    };
    let mut row = joined(row, last, operator);
    while let Some(left) = subtree() {
        row = joined(left, &row, operator);
    }
    row
}

/// Two rows of lanes, of which the right one may be shorter: the other lanes of the left one stay.
pub(super) fn joined<T: Copy + 'static, O: Operator<T> + ?Sized>(
    mut left: Vec<T>,
    right: &[T],
    operator: &O,
) -> Vec<T> {
    let with = left[..right.len()].to_vec();
    operator.combine_rows(&with, right, &mut left[..right.len()]);
    left
}
