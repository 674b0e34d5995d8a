//! Reductions in lanes, the order of ISO C++'s P4016 (`docs/lanes.md`): item i belongs to lane i mod L, each lane is reduced in tree order,
//! and so are the results of the lanes.

use super::finished;
use super::rows::check_rows;
use crate::environment;
use crate::error::FoldError;
use crate::operator::{self, LANES_MAX, Operator, Sum, lane_row};

/// The sum of the items in `lanes` lanes: item i belongs to lane i mod `lanes`, each lane is summed in tree order, and then the lanes' sums are
/// summed. Returns 0 for no items.
///
/// With one lane, the result is that of [`sum`](crate::sum). Sums of floats in 16, 32, 64 or 128 lanes are the fastest.
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

/// The reduction of the items by `operator` in `lanes` lanes. For no items, returns the operator's empty value.
///
/// # Errors
/// Those of [`sum_lanes`], or an error if there are no items and the operator has no empty value.
pub fn fold_lanes<T: Copy + 'static, O: Operator<T>>(
    items: &[T],
    lanes: usize,
    operator: &O,
) -> Result<T, FoldError> {
    check_lanes(lanes)?;
    environment::check()?;
    finished(operator::fold_lanes(items, lanes, operator), operator)
}

/// The reduction of rows of `width` values in `lanes` lanes, element by element: row i belongs to lane i mod `lanes`. For no rows, the
/// result is the empty value.
///
/// # Errors
/// Those of [`fold_rows`](crate::fold_rows), or an error if `lanes` is not from 1 to 2^20.
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

/// Checks that the number of lanes is from 1 to [`LANES_MAX`].
pub(crate) fn check_lanes(lanes: usize) -> Result<(), FoldError> {
    if (1..=LANES_MAX).contains(&lanes) {
        return Ok(());
    }
    Err(FoldError::Lanes {
        lanes: lanes as u64,
    })
}
