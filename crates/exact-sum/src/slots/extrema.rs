//! Finds the least and the greatest item.

use std::marker::PhantomData;

use crate::number::float::Float;
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::statistic::{Options, Statistic};

/// The least and the greatest item, where -0.0 is less than 0.0. Items cannot be removed.
///
/// ```
/// use exact_sum::Extrema;
///
/// let mut extrema = Extrema::of(&[0.5, 7.0, -0.5]);
/// assert_eq!([extrema.minimum(), extrema.maximum()], [Some(-0.5), Some(7.0)]);
/// extrema.add(&[f64::NAN]);
/// assert!(extrema.minimum().is_some_and(f64::is_nan));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extrema<T: Float> {
    /// The least and the greatest item, as integers with the order of the items. A NaN is both less and greater than all numbers.
    pub(crate) bounds: [i64; 2],
    item: PhantomData<T>,
}

/// The bounds if an item is NaN. No number has these bounds.
const NAN: [i64; 2] = [i64::MIN, i64::MAX];

/// Maps the bits of doubles to integers with the same order, and such integers back to the bits.
pub(crate) fn ordered(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl<T: Float> Default for Extrema<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Float> Eq for Extrema<T> {}

impl<T: Float> Extrema<T> {
    /// The extrema of no items.
    const NONE: [i64; 2] = [i64::MAX, i64::MIN];

    /// The extrema of no items.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_bounds(Self::NONE)
    }

    /// The extrema of items.
    #[must_use]
    pub fn of(items: &[T]) -> Self {
        let mut extrema = Self::new();
        extrema.add(items);
        extrema
    }

    pub(crate) const fn of_bounds(bounds: [i64; 2]) -> Self {
        Self {
            bounds,
            item: PhantomData,
        }
    }

    /// Adds items.
    pub fn add(&mut self, items: &[T]) {
        for item in items {
            self.merge(&Self::of_item(*item));
        }
    }

    /// The extrema of one item.
    #[inline]
    pub(crate) fn of_item(item: T) -> Self {
        let item = item.widened();
        let number = ordered(item.to_bits().cast_signed());
        Self::of_bounds(if item.is_nan() { NAN } else { [number; 2] })
    }

    /// Adds the items of `other`.
    #[inline]
    pub fn merge(&mut self, other: &Self) {
        let ([low, high], [other_low, other_high]) = (self.bounds, other.bounds);
        self.bounds = [low.min(other_low), high.max(other_high)];
    }

    /// The least item; NaN if any item is NaN; `None` if there are no items.
    #[must_use]
    pub fn minimum(&self) -> Option<T> {
        self.bound(0)
    }

    /// The greatest item; NaN if any item is NaN; `None` if there are no items.
    #[must_use]
    pub fn maximum(&self) -> Option<T> {
        self.bound(1)
    }

    fn bound(&self, which: usize) -> Option<T> {
        if self.bounds == Self::NONE {
            return None;
        }
        if self.bounds == NAN {
            return Some(T::NAN);
        }
        let bits = ordered(self.bounds[which]).cast_unsigned();
        Some(T::narrowed(f64::from_bits(bits)))
    }
}

impl<T: Float> Sealed for Extrema<T> {}

impl<T: Float> Slot for Extrema<T> {
    type Item = T;
    type Items<'i> = &'i [T];

    fn statistic(&self, statistic: Statistic, _: Options) -> Option<T> {
        let bound = match statistic {
            Statistic::Minimum => self.minimum(),
            Statistic::Maximum => self.maximum(),
            _ => return None,
        };
        Some(bound.unwrap_or(T::NAN))
    }
}
