//! Folds of rows, element by element.

use crate::fold::runs::fold_runs_kernel;
use crate::rows::narrow::NarrowRows;
use crate::rows::panel::{REGISTER_ELEMENTS, Rows, panel_columns};
use crate::rows::tree_rows::tree_fold_rows;
use crate::sets::dispatch::Float;
use crate::sets::level::Level;
use crate::sets::operation::Operation;
use crate::sets::vector::Combine;

/// The number of values of scratch memory that [`fold_rows`] and [`tree_fold_rows`](crate::tree_fold_rows) need for `rows` rows
/// of `width` values: one row of at most 32 KiB for each level of the tree.
#[must_use]
pub const fn rows_scratch_len<T>(width: usize, rows: usize) -> usize {
    let columns = if width < panel_columns::<T>() {
        width.next_multiple_of(REGISTER_ELEMENTS)
    } else {
        panel_columns::<T>()
    };
    columns * (usize::BITS - rows.leading_zeros()) as usize
}

/// Folds rows of `width` values element by element: `result[c]` becomes the [`fold`](crate::fold) of element `c` of all rows, in
/// tree order. For no rows it returns `None` and does not change `result`. All levels give the same bits.
///
/// `items` are the rows, concatenated. The contents of `scratch` do not matter.
///
/// # Panics
/// `width` is 0, `items` are not whole rows, `result` does not have the length of a row, or `scratch` is shorter than
/// [`rows_scratch_len`] requires.
///
/// ```
/// use simd_kernels::{Level, Operation, fold_rows, rows_scratch_len};
///
/// let three_rows = [0.1, 1.0, 0.2, 2.0, 0.3, 3.0];
/// let mut scratch = [0.0; rows_scratch_len::<f64>(2, 3)];
/// let mut sums = [0.0; 2];
/// fold_rows(Level::best(), Operation::Sum, 2, &three_rows, &mut scratch, &mut sums);
/// assert_eq!(sums, [(0.1 + 0.2) + 0.3, (1.0 + 2.0) + 3.0]);
/// ```
#[inline]
pub fn fold_rows<T: Float>(
    level: Level,
    operation: Operation,
    width: usize,
    items: &[T],
    scratch: &mut [T],
    result: &mut [T],
) -> Option<()> {
    (T::kernels(operation).fold_rows)(level, width, items, scratch, result)
}

pub(crate) fn fold_rows_kernel<T: Float, O: Combine<T>>(
    level: Level,
    width: usize,
    items: &[T],
    scratch: &mut [T],
    result: &mut [T],
) -> Option<()> {
    let rows_count = check_lengths(width, items, scratch, result);
    if rows_count == 0 {
        return None;
    }
    if width == 1 {
        fold_runs_kernel::<T, O>(level, items, &[items.len()], result);
        return Some(());
    }
    if level == Level::SCALAR {
        return tree_fold_rows(width, items, scratch, result, O::single);
    }
    let bytes = width * size_of::<T>();
    let level = level.for_row_bytes(bytes);
    if bytes <= level.narrow_row_bytes() {
        let rows = NarrowRows {
            width,
            items,
            result,
        };
        T::compute::<O, _>(level, rows);
    } else {
        let rows = Rows {
            width,
            items,
            scratch,
            result,
        };
        T::compute::<O, _>(level, rows);
    }
    Some(())
}

/// Asserts that the lengths match, and returns the number of rows.
#[track_caller]
pub(crate) fn check_lengths<T>(width: usize, items: &[T], scratch: &[T], result: &[T]) -> usize {
    assert!(width > 0, "the width of a row is 0");
    assert!(
        items.len().is_multiple_of(width),
        "{} items are not rows of {width}",
        items.len()
    );
    assert!(
        result.len() == width,
        "the result of rows of {width} has {width} elements, not {}",
        result.len()
    );
    let rows = items.len() / width;
    let needed = rows_scratch_len::<T>(width, rows);
    assert!(
        scratch.len() >= needed,
        "{rows} rows of {width} need {needed} values of scratch memory, not {}",
        scratch.len()
    );
    rows
}
