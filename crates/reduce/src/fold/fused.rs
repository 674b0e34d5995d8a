//! Sums of values that are computed from slices, in one pass over memory and without an intermediate array.
//!
//! The leaves are rounded one by one, in the element's own type, and then added as [`sum`](crate::sum) adds items.

use simd_kernels::{Float, Level};

use crate::environment;
use crate::error::FoldError;
use crate::operator::{Operator, Sum};

/// The sum of x0 * y0, x1 * y1, … in tree order. Returns +0.0 for no items.
///
/// Each product is rounded separately: there is no fused multiply-add.
///
/// ```
/// let (x, y) = ([0.1, 0.2, 0.3], [0.7, 0.8, 0.9]);
/// assert_eq!(reduce::dot(&x, &y)?, (0.1 * 0.7 + 0.2 * 0.8) + 0.3 * 0.9);
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// The slices differ in length, or this thread's floating-point environment is not IEEE 754's default.
pub fn dot<T: Float>(x: &[T], y: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    environment::check()?;
    check_lengths(x, y)?;
    Ok(canonical_or_zero(simd_kernels::dot(Level::best(), x, y)))
}

/// Checks that two factors have the same number of items.
pub(crate) fn check_lengths<T>(x: &[T], y: &[T]) -> Result<(), FoldError> {
    if x.len() == y.len() {
        return Ok(());
    }
    Err(FoldError::Lengths {
        first: x.len() as u64,
        position: 1,
        found: y.len() as u64,
    })
}

/// The sum of x0 * x0, x1 * x1, … in tree order. It has the bits of [`dot`] of the slice with itself. Returns +0.0 for no items.
///
/// # Errors
/// This thread's floating-point environment is not IEEE 754's default.
pub fn squared_norm<T: Float>(x: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    environment::check()?;
    let sum = simd_kernels::squared_norm(Level::best(), x);
    Ok(canonical_or_zero(sum))
}

/// The sum of the items and the sum of their absolute values, each in tree order. Both are +0.0 if there are no items.
///
/// The first sum has the bits of [`sum`](crate::sum). Its error bound (see `docs/order.md`) is proportional to the second sum.
///
/// ```
/// assert_eq!(reduce::sum_and_absolute_sum(&[3.0, -4.0])?, (-1.0, 7.0));
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// This thread's floating-point environment is not IEEE 754's default.
pub fn sum_and_absolute_sum<T: Float>(items: &[T]) -> Result<(T, T), FoldError>
where
    Sum: Operator<T>,
{
    environment::check()?;
    let (sum, absolute_sum) = simd_kernels::sum_and_absolute_sum(Level::best(), items).unzip();
    Ok((canonical_or_zero(sum), canonical_or_zero(absolute_sum)))
}

/// The sum in canonical form; +0.0 for no items.
pub(super) fn canonical_or_zero<T: Float>(sum: Option<T>) -> T
where
    Sum: Operator<T>,
{
    let sum = sum.or_else(|| Sum.empty());
    Sum.canonical(sum.expect("a sum of no floats is +0.0"))
}
