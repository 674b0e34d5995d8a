//! Exact dot products, and exact sums of rows. The lengths of slices are checked as for sums in tree order.

use exact_sum::Float;

use crate::error::FoldError;
use crate::fold::{check_lengths, check_rows};

/// The exact sum of x0 * y0, x1 * y1, …, rounded to nearest: see [`ProductSum::value`](super::ProductSum::value).
///
/// ```
/// use reduce::exact;
///
/// assert_eq!(exact::dot(&[1e200, 3.0, 1e200], &[1e200, 4.0, -1e200])?, 12.0);
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// The slices differ in length.
pub fn dot<T: Float>(x: &[T], y: &[T]) -> Result<T, FoldError> {
    check_lengths(x, y)?;
    Ok(exact_sum::dot(x, y))
}

/// The exact sums of the columns of rows of `width` items, rounded to nearest: `result[c]` becomes the sum of every row's item c.
///
/// ```
/// use reduce::exact;
///
/// let mut sums = [0.0; 2];
/// exact::sum_rows(&[1e300, 1.0, 5.0, 2.0, -1e300, 3.0], 2, &mut sums)?;
/// assert_eq!(sums, [5.0, 6.0]);
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// `width` is 0, `items` are not whole rows, or `result` is not as long as a row.
pub fn sum_rows<T: Float>(items: &[T], width: usize, result: &mut [T]) -> Result<(), FoldError> {
    check_rows(items, width, result)?;
    exact_sum::sum_rows(items, width, result);
    Ok(())
}
