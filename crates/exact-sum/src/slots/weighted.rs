//! Computes weighted means.

use simd_kernels::is_zero;

use crate::number::counters::{LimitError, RemoveError};
use crate::number::float::Float;
use crate::number::round::ratio;
use crate::number::scaled::Scaled;
use crate::number::total::{Total, check_counts};
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;
use crate::statistic::{Options, Statistic};

/// A weighted mean: the sum of items times their weights, divided by the sum of the weights. It is computed exactly and rounded once.
///
/// ```
/// use exact_sum::WeightedMean;
///
/// let mut mean = WeightedMean::<f64>::new();
/// mean.add(&[1e200, 1.0, -1e200], &[1e200, 0.5, 1e200]);
/// mean.add(&[2.0, 9.0], &[-1e200, -1e200]);
/// assert_eq!(mean.value(), -22e200);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeightedMean<T: Float> {
    pub(crate) products: ProductSum<T>,
    pub(crate) weights: Sum<T>,
}

impl<T: Float> Eq for WeightedMean<T> {}

impl<T: Float> WeightedMean<T> {
    /// The weighted mean of no items.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds items with their weights.
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn add(&mut self, items: &[T], weights: &[T]) {
        self.products.add(items, weights);
        self.weights.add(weights);
    }

    /// Removes items that were added with their weights.
    ///
    /// # Panics
    /// The slices differ in length.
    ///
    /// # Errors
    /// Those of [`Sum::remove`]. A failed call changes nothing.
    pub fn remove(&mut self, items: &[T], weights: &[T]) -> Result<(), RemoveError> {
        let mut left = *self;
        left.products.remove(items, weights)?;
        left.weights.remove(weights)?;
        *self = left;
        Ok(())
    }

    /// Adds the items of `other`.
    ///
    /// # Errors
    /// Those of [`Sum::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        check_counts(self.weights.totals(), other.weights.totals())?;
        self.products.merge(&other.products)?;
        self.weights.merge(&other.weights)
    }

    /// The number of items.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.weights.items()
    }

    /// The sum of the weights.
    #[must_use]
    pub fn weights(&self) -> &Sum<T> {
        &self.weights
    }

    /// The weighted mean, rounded once. If the sum of the weights is zero, or one of the two sums is infinite or NaN, the result is the
    /// quotient of both rounded sums, as IEEE 754 defines it.
    #[must_use]
    pub fn value(&self) -> T {
        weighted_mean(&self.products.total, &self.weights.total)
    }
}

impl<T: Float> Sealed for WeightedMean<T> {}

impl<T: Float> Slot for WeightedMean<T> {
    type Item = T;
    type Items<'i> = [&'i [T]; 2];

    fn statistic(&self, statistic: Statistic, _: Options) -> Option<T> {
        (statistic == Statistic::WeightedMean).then(|| self.value())
    }
}

/// The sum of items times their weights, divided by the sum of the weights: see [`WeightedMean::value`].
pub(crate) fn weighted_mean<T: Float>(
    products: &Total<T::Products>,
    weights: &Total<T::Sums>,
) -> T {
    let is_special = products.special::<T>().is_some() || weights.special::<T>().is_some();
    let [numerator, denominator] = [Scaled::of(&products.fixed), Scaled::of(&weights.fixed)];
    let (above, below) = (
        numerator.integer.magnitude(),
        denominator.integer.magnitude(),
    );
    if is_special || above.bits() == 0 || below.bits() == 0 {
        return quotient_of_special(products.value::<T>(), weights.value::<T>());
    }
    let is_negative = numerator.integer.sign() != denominator.integer.sign();
    let mean = ratio(above, below, numerator.unit - denominator.unit);
    T::signed((is_negative, mean))
}

/// The quotient of two numbers as IEEE 754 defines it, but without raising an exception. At least one must be zero, infinite or NaN.
pub(crate) fn quotient_of_special<T: Float>(above: T, below: T) -> T {
    let [x, y] = [above, below].map(T::widened);
    let is_nan = x.is_nan() || y.is_nan();
    if is_nan || (x.is_infinite() && y.is_infinite()) || (is_zero(x) && is_zero(y)) {
        return T::NAN;
    }
    let magnitude = if x.is_infinite() || is_zero(y) {
        T::INFINITY
    } else {
        T::ZERO
    };
    if x.is_sign_negative() == y.is_sign_negative() {
        magnitude
    } else {
        magnitude.negate()
    }
}
