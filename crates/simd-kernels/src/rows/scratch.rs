//! Computes the width of the panels of rows, and the size of the scratch memory of their folds.

/// The number of bytes of each row in a panel.
const PANEL_BYTES: usize = 1 << 15;

/// The largest number of elements in a register. Rows in scratch memory are padded to a multiple of this number.
pub(crate) const REGISTER_ELEMENTS: usize = 16;

/// The largest number of columns in a panel.
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

/// The number of values of scratch memory that [`fold_rows`](crate::fold_rows) and [`tree_fold_rows`](crate::tree_fold_rows) need for `rows` rows
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

/// Asserts that the lengths match, and returns the number of rows.
#[track_caller]
pub(crate) fn check_lengths<T>(width: usize, items: &[T], scratch: &[T], result: &[T]) -> usize {
    assert!(width > 0, "the width of a row is 0");
    assert!(
        items.len().is_multiple_of(width),
        "{} items are not whole rows of {width}",
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
