//! Items that are rows: element by element over the tree of rows.

use crate::dispatch::{Float, Operation};
use crate::level::Level;
use crate::panel::Rows;

/// A panel has so many bytes of each row.
const PANEL_BYTES: usize = 4096;

/// A panel's rows in scratch memory are whole registers, of up to so many elements.
pub(crate) const REGISTER_ELEMENTS: usize = 16;

/// The columns of a panel, if there are so many.
pub(crate) const fn panel_columns<T>() -> usize {
    let columns = PANEL_BYTES
        / if size_of::<T>() == 0 {
            1
        } else {
            size_of::<T>()
        };
    if columns < REGISTER_ELEMENTS {
        REGISTER_ELEMENTS
    } else {
        columns
    }
}

/// How many values of scratch memory [`fold_rows`] and [`tree_fold_rows`](crate::tree_fold_rows) need for so many rows of
/// `width` values: a row of at most 4 KiB for each level of the tree.
#[must_use]
pub const fn rows_scratch_len<T>(width: usize, rows: usize) -> usize {
    let columns = if width < panel_columns::<T>() {
        width.next_multiple_of(REGISTER_ELEMENTS)
    } else {
        panel_columns::<T>()
    };
    columns * (usize::BITS - rows.leading_zeros()) as usize
}

/// Folds rows of `width` values element by element: `result[c]` becomes the [`fold`](crate::fold) of every row's element `c`, in
/// tree order. `None` of no rows, and `result` is left alone. All levels give the same bits.
///
/// `items` are the rows one after the other. The content of `scratch` does not matter.
///
/// # Panics
/// `width` is 0, `items` are not whole rows, `result` is not as long as a row, or `scratch` is shorter than
/// [`rows_scratch_len`] says.
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
pub fn fold_rows<T: Float>(
    level: Level,
    operation: Operation,
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
        result[0] = crate::fold(level, operation, items)?;
        return Some(());
    }
    let rows = Rows {
        width,
        items,
        scratch,
        result,
    };
    T::run(level.for_row_bytes(width * size_of::<T>()), operation, rows);
    Some(())
}

/// Asserts that the lengths fit; the number of rows.
#[track_caller]
pub(crate) fn check_lengths<T>(width: usize, items: &[T], scratch: &[T], result: &[T]) -> usize {
    assert!(width > 0, "rows have no elements");
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
