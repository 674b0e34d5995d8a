#![doc = include_str!("../README.md")]
//!
//! | type | holds |
//! |---|---|
//! | [`Sum`] | the sum of items, or of their magnitudes |
//! | [`ComplexSum`] | the sum of complex items |
//! | [`IntegerSum`] | the sum of integers |
//! | [`Mean`] | a mean |
//! | [`ProductSum`] | a dot product, or a sum of squares |
//! | [`ComplexProductSum`] | a dot product of complex items |
//! | [`Moments`], [`ComplexMoments`], [`IntegerMoments`] | a mean, a variance, a standard deviation |
//! | [`CoMoments`] | the covariance, correlation and regression line of two columns |
//! | [`Powers`] | a skewness, a kurtosis |
//! | [`WeightedMean`] | a weighted mean |
//! | [`Extrema`] | the least and the greatest item |
//! | types that implement [`CompactState`] | most of these statistics in fewer bytes, for many groups |
//!
//! All instruction sets give the same values; they differ only in speed. All floating-point environments give the same values, too:
//! if a thread flushes subnormal numbers to zero or does not round to nearest, its items are added with integer arithmetic.
//!
//! Adding finite items never traps: exceptions that the program has unmasked are masked during the call. On x86-64, the flags of
//! invalid operations, divisions by zero, overflows and underflows do not change. The flags of inexact results and of subnormal
//! operands may be set, but no flag changes if an exception is unmasked. On aarch64, any flag may be set.

mod bytes;
mod compact;
mod keyed;
mod number;
#[cfg(feature = "par")]
pub mod par;
mod rolling;
mod slots;
pub mod sql;
mod statistic;

pub use bytes::{BytesError, partial};
pub use compact::{
    CompactAny, CompactBytes, CompactCoMoments, CompactItem, CompactMoments, CompactNumber,
    CompactPowers, CompactProducts, CompactRows, CompactState, CompactSum, CompactWeightedMean,
    IntegerSum,
};
pub use keyed::ranks::sparse::SparseKey;
#[doc(hidden)]
pub use keyed::ranks::{sparse, wire};
pub use keyed::{Hashed, Key, KeyError, Keyed, KeyedSlot, RemoveKeyedError, by_key};
pub use number::counters::{LimitError, RemoveError};
pub use number::float::Float;
pub use rolling::{Placement, Rolling, RollingError, RollingIndex};
pub use slots::Slot;
pub use slots::accumulator::Accumulator;
pub use slots::co_moments::CoMoments;
pub use slots::complex::{ComplexProductSum, ComplexSum};
pub use slots::extrema::Extrema;
pub use slots::integers::IntegerMoments;
pub use slots::items::{Integers, Items};
pub use slots::mean::Mean;
pub use slots::moments::{ComplexMoments, Moments};
pub use slots::powers::Powers;
pub use slots::product_sum::ProductSum;
pub use slots::sum::Sum;
pub use slots::weighted::WeightedMean;
pub use statistic::{Held, MissingStatistic, Options, Statistic, UnknownStatistic};

/// The exact sum of items, rounded to nearest: see [`Sum::value`].
///
/// ```
/// assert_eq!(exact_sum::sum(&[1e100, 1.0, -1e100]), 1.0);
/// ```
#[must_use]
pub fn sum<T: Float>(items: &[T]) -> T {
    slots::short::sum(items)
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
    ProductSum::of(x, y).value()
}

/// Sums each column of rows of `width` items exactly, and rounds each sum to nearest. `result[c]` becomes the sum of item c of all rows.
///
/// # Panics
/// `width` is 0, `items` are not whole rows, or `result` is not as long as a row.
///
/// ```
/// let mut sums = [0.0; 2];
/// exact_sum::sum_rows(&[1e300, 1.0, 5.0, 2.0, -1e300, 3.0], 2, &mut sums);
/// assert_eq!(sums, [5.0, 6.0]);
/// ```
pub fn sum_rows<T: Float>(items: &[T], width: usize, result: &mut [T]) {
    assert_ne!(width, 0, "`width` must be at least 1");
    assert_eq!(result.len(), width, "the result is not as long as a row");
    let mut sums = vec![Sum::new(); width];
    Sum::add_rows(&mut sums, items);
    for (value, sum) in result.iter_mut().zip(&sums) {
        *value = sum.value();
    }
}

/// The exact mean of items, rounded to nearest: see [`Sum::mean`].
///
/// ```
/// assert_eq!(exact_sum::mean(&[1e300, 1e300, 1.0, -2e300]), 0.25);
/// ```
#[must_use]
pub fn mean<T: Float>(items: &[T]) -> T {
    Sum::of(items).mean()
}

/// The exact variance of items, rounded to nearest: see [`Moments::variance`].
#[must_use]
pub fn variance<T: Float>(items: &[T], ddof: f64) -> T {
    Moments::of(items).variance(ddof)
}

/// The square root of the exact variance of items, rounded to nearest: see [`Moments::standard_deviation`].
#[must_use]
pub fn standard_deviation<T: Float>(items: &[T], ddof: f64) -> T {
    Moments::of(items).standard_deviation(ddof)
}

/// The square root of the exact sum of x0 * x0, x1 * x1, …, rounded to nearest: see [`ProductSum::root`].
///
/// No intermediate square overflows or underflows.
///
/// ```
/// assert_eq!(exact_sum::norm(&[f64::MAX]), f64::MAX);
/// ```
#[must_use]
pub fn norm<T: Float>(x: &[T]) -> T {
    ProductSum::of(x, x).root()
}
