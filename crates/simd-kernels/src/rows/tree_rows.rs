//! Folds rows with any operator, by plain loops over columns that the compiler can vectorise.

use core::array;

use crate::processor::prefetch::RowsAhead;
use crate::rows::scratch::{check_lengths, panel_columns};

/// Folds rows of `width` values element by element: `result[c]` becomes the [`tree_fold`](crate::tree_fold) of element `c` of all
/// rows. For no rows, returns `None` and does not change `result`.
///
/// The order and the arguments are those of [`fold_rows`](crate::fold_rows). `combine(left, right)` gets two elements of one
/// column, left operand first. The order of the columns is unspecified.
///
/// # Panics
/// `width` is 0, `items` are not whole rows, `result` does not have the length of a row, or `scratch` is shorter than
/// [`rows_scratch_len`](crate::rows_scratch_len) requires.
///
/// ```
/// use simd_kernels::{rows_scratch_len, tree_fold_rows};
///
/// let mut scratch = [0; rows_scratch_len::<u32>(2, 3)];
/// let mut sums = [0; 2];
/// tree_fold_rows(2, &[1, 10, 2, 20, 3, 30], &mut scratch, &mut sums, |left, right| left + right);
/// assert_eq!(sums, [6, 60]);
/// ```
pub fn tree_fold_rows<T: Copy>(
    width: usize,
    items: &[T],
    scratch: &mut [T],
    result: &mut [T],
    mut combine: impl FnMut(T, T) -> T,
) -> Option<()> {
    check_lengths(width, items, scratch, result);
    if items.is_empty() {
        return None;
    }
    for first in (0..width).step_by(panel_columns::<T>()) {
        let end = width.min(first + panel_columns::<T>());
        let mut panel = RowPanel {
            width,
            first,
            rows_count: 0,
            ahead: RowsAhead::of_bytes(width * size_of::<T>(), size_of_val(items)),
            scratch: &mut *scratch,
            columns: end - first,
        };
        panel.add_all(items, &mut combine);
        panel.finish(&mut result[first..end], &mut combine);
    }
    Some(())
}

/// Some columns of all rows, and the counter of rows.
struct RowPanel<'a, T> {
    width: usize,
    first: usize,
    columns: usize,
    ahead: RowsAhead,
    /// The number of rows added.
    rows_count: usize,
    /// The waiting rows, highest subtree first: one for each set bit of `rows_count`.
    scratch: &'a mut [T],
}

impl<T: Copy> RowPanel<'_, T> {
    #[inline(always)]
    fn add_all(&mut self, items: &[T], combine: &mut impl FnMut(T, T) -> T) {
        let mut rest = items;
        while let Some((group, after)) = rest.split_at_checked(8 * self.width) {
            rest = after;
            let columns = self.first..self.first + self.columns;
            self.ahead.bring(group, self.width, &columns);
            self.add_eight(group, combine);
        }
        for row in rest.chunks_exact(self.width) {
            let columns = &row[self.first..][..self.columns];
            self.place().copy_from_slice(columns);
            self.carry(0, combine);
        }
    }

    /// Adds a subtree of eight rows.
    #[inline(always)]
    fn add_eight(&mut self, rows: &[T], combine: &mut impl FnMut(T, T) -> T) {
        let (width, first, columns) = (self.width, self.first, self.columns);
        let [a, b, c, d, e, f, g, h] =
            array::from_fn(|row| &rows[row * width + first..][..columns]);
        let place = self.place();
        for column in 0..columns {
            let (ab, cd) = (combine(a[column], b[column]), combine(c[column], d[column]));
            let (ef, gh) = (combine(e[column], f[column]), combine(g[column], h[column]));
            let (left, right) = (combine(ab, cd), combine(ef, gh));
            place[column] = combine(left, right);
        }
        self.carry(3, combine);
    }

    /// The place for the row of the next subtree: after all waiting rows.
    #[inline(always)]
    fn place(&mut self) -> &mut [T] {
        let waiting_count = self.rows_count.count_ones() as usize;
        &mut self.scratch[waiting_count * self.columns..][..self.columns]
    }

    /// Combines the row at [`place`](Self::place), the root of 2^height rows, with the waiting rows of the same height.
    #[inline(always)]
    fn carry(&mut self, height: u32, combine: &mut impl FnMut(T, T) -> T) {
        let mut waiting_count = self.rows_count.count_ones() as usize;
        for _ in 0..(self.rows_count >> height).trailing_ones() {
            self.combine_last(waiting_count, combine);
            waiting_count -= 1;
        }
        self.rows_count += 1 << height;
    }

    /// Combines row `right` with the row before it, which the result replaces.
    #[inline(always)]
    fn combine_last(&mut self, right: usize, combine: &mut impl FnMut(T, T) -> T) {
        let (before, from_right) = self.scratch.split_at_mut(right * self.columns);
        let left = &mut before[(right - 1) * self.columns..];
        for (left, &right) in left.iter_mut().zip(&from_right[..self.columns]) {
            *left = combine(*left, right);
        }
    }

    /// Combines the waiting rows, from right to left.
    #[inline(always)]
    fn finish(&mut self, result: &mut [T], combine: &mut impl FnMut(T, T) -> T) {
        let waiting_count = self.rows_count.count_ones() as usize;
        for right in (1..waiting_count).rev() {
            self.combine_last(right, combine);
        }
        result.copy_from_slice(&self.scratch[..self.columns]);
    }
}
