#![doc = include_str!("../README.md")]
//!
//! | type | holds |
//! |---|---|
//! | [`Sum`] | the sum of items, or of their magnitudes |
//! | [`ComplexSum`] | the sums of the two parts of complex items |
//! | [`ProductSum`] | a dot product, or a sum of squares |
//! | [`ComplexProductSum`] | a dot product of complex items |
//!
//! All levels give the same values: they differ only in speed.

mod blocks;
mod complex;
mod counters;
mod fixed;
mod float;
mod product_sum;
mod round;
mod sum;

use simd_kernels::Level;

pub use complex::{ComplexProductSum, ComplexSum};
pub use float::Float;
pub use product_sum::ProductSum;
pub use sum::Sum;

/// The exact sum of items, rounded to nearest: see [`Sum::value`].
///
/// ```
/// assert_eq!(exact_sum::sum(&[1e100, 1.0, -1e100]), 1.0);
/// ```
#[must_use]
pub fn sum<T: Float>(items: &[T]) -> T {
    let mut sum = Sum::new();
    sum.add_at(Level::best(), items);
    sum.value()
}

/// The exact sum of x0 * y0, x1 * y1, …, rounded to nearest: see [`ProductSum::value`].
///
/// # Panics
/// The slices differ in length.
///
/// ```
/// assert_eq!(exact_sum::dot(&[1e200, 3.0, 1e200], &[1e200, 4.0, -1e200]), 12.0);
/// ```
#[must_use]
pub fn dot<T: Float>(x: &[T], y: &[T]) -> T {
    let mut sum = ProductSum::new();
    sum.add_at(Level::best(), x, y);
    sum.value()
}

/// The square root of the exact sum of x0 * x0, x1 * x1, …, rounded to nearest: see [`ProductSum::root`].
///
/// No square overflows or underflows on the way.
///
/// ```
/// assert_eq!(exact_sum::norm(&[f64::MAX]), f64::MAX);
/// ```
#[must_use]
pub fn norm<T: Float>(x: &[T]) -> T {
    let mut sum = ProductSum::new();
    sum.add_at(Level::best(), x, x);
    sum.root()
}
