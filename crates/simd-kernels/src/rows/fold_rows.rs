//! Folds rows, element by element, with the operations that have vector instructions.

use crate::fold::runs::fold_runs_kernel;
use crate::fold::slice::tree_fold;
use crate::rows::narrow::NarrowRows;
use crate::rows::panel::Rows;
use crate::rows::scratch::check_lengths;
use crate::rows::tree_rows::tree_fold_rows;
use crate::sets::dispatch::{Float, compute};
use crate::sets::level::Level;
use crate::sets::operation::Operation;
use crate::sets::vector::Combine;

/// Folds rows of `width` values element by element: `result[c]` becomes the [`fold`](crate::fold) of element `c` of all rows, in
/// tree order. For no rows, returns `None` and does not change `result`. All levels give the same bits.
///
/// `items` are the rows, concatenated. The contents of `scratch` do not matter.
///
/// # Panics
/// `width` is 0, `items` are not whole rows, `result` does not have the length of a row, or `scratch` is shorter than
/// [`rows_scratch_len`](crate::rows_scratch_len) requires.
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

/// For fewer pairs, setting up the kernel costs more than it saves.
const FEW_PAIRS: usize = 128;

/// The sum of the first values and the sum of the second values of pairs, such as complex numbers, in tree order; `None` for no pairs. All levels
/// give the same bits.
///
/// ```
/// use simd_kernels::{Level, sum_pairs};
///
/// let sums = sum_pairs(Level::best(), &[[0.1, 1.0], [0.2, 2.0], [0.3, 3.0]]);
/// assert_eq!(sums, Some([(0.1 + 0.2) + 0.3, (1.0 + 2.0) + 3.0]));
/// ```
#[inline]
pub fn sum_pairs<T: Float>(level: Level, pairs: &[[T; 2]]) -> Option<[T; 2]> {
    T::sum_pairs_kernel(level, pairs)
}

pub(crate) fn sum_pairs_kernel<T: Float>(level: Level, pairs: &[[T; 2]]) -> Option<[T; 2]> {
    if pairs.len() < FEW_PAIRS || level == Level::SCALAR {
        return tree_fold(pairs, |[a, b], [c, d]| [a + c, b + d]);
    }
    let mut sums = [T::ZERO; 2];
    let rows = NarrowRows {
        width: 2,
        items: pairs.as_flattened(),
        result: &mut sums,
    };
    compute(level.for_row_bytes(size_of::<[T; 2]>()), rows);
    Some(sums)
}
