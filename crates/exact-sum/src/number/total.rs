//! Defines totals. A total is the sum of finite items, with counts of NaNs, infinities and negative zeros.

use bytemuck::Zeroable;

use crate::number::counters::{Counters, LimitError, is_negative_zero, items_of_both};
use crate::number::destination::Destination;
use crate::number::fixed::{Fixed, FixedFormat, add_to_words, integer, short_magnitude};
use crate::number::float::Float;
use crate::number::round::quotient;

/// The sum of the finite items, and the counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Total<F: FixedFormat> {
    pub(crate) fixed: Fixed<F>,
    pub(crate) counters: Counters,
}

impl<F: FixedFormat> Total<F> {
    pub(crate) const ZERO: Self = Self {
        fixed: Fixed::ZERO,
        counters: Counters::NONE,
    };

    pub(crate) fn merge(&mut self, other: &Self) {
        self.fixed.merge(&other.fixed);
        self.counters.merge(other.counters);
    }

    /// Subtracts a total that is known to be included in this one.
    pub(crate) fn unmerge(&mut self, other: &Self) {
        self.fixed.unmerge(&other.fixed);
        self.counters.subtract(other.counters);
    }

    pub(crate) fn words(&self) -> F::Words {
        let mut words = F::Words::zeroed();
        let (number, counters) = Self::split_mut(&mut words);
        self.fixed.write_words(number);
        counters.copy_from_slice(&self.counters.words());
        words
    }

    pub(crate) fn add_words(&mut self, words: &F::Words) -> Result<(), LimitError> {
        let (number, counters) = words.as_ref().split_at(Fixed::<F>::WORDS);
        let counters = counters.try_into().expect("the length is right");
        self.counters = self.counters.with(Counters::of_words(counters))?;
        self.fixed.add_words(number);
        Ok(())
    }

    pub(crate) fn check_words(words: &F::Words) -> Result<(), LimitError> {
        let (_, counters) = words.as_ref().split_at(Fixed::<F>::WORDS);
        let mut counters = counters.iter();
        counters.try_for_each(|count| items_of_both(*count, 0).map(drop))
    }

    pub(crate) fn merge_words(words: &mut F::Words, other: &F::Words) {
        let (number, counters) = Self::split_mut(words);
        let (other_number, other_counters) = other.as_ref().split_at(Fixed::<F>::WORDS);
        add_to_words(number, other_number);
        Counters::merge_words(counters, other_counters);
    }

    /// Splits words into those of the number and those of the counters.
    fn split_mut(words: &mut F::Words) -> (&mut [u64], &mut [u64]) {
        words.as_mut().split_at_mut(Fixed::<F>::WORDS)
    }

    pub(crate) fn integers(&self) -> F::Integers {
        let mut integers = F::Integers::zeroed();
        let (limbs, counters) = integers.as_mut().split_at_mut(F::LIMBS);
        limbs.copy_from_slice(self.fixed.propagated_limbs().as_ref());
        counters.copy_from_slice(&self.counters.integers());
        integers
    }

    pub(crate) fn add_integers(&mut self, integers: &F::Integers) -> Result<(), LimitError> {
        let (limbs, counters) = integers.as_ref().split_at(F::LIMBS);
        let counters = counters.try_into().expect("the length is right");
        self.counters = self.counters.with(Counters::of_integers(counters))?;
        self.fixed.add_limbs(limbs);
        Ok(())
    }

    /// Adds items by integer arithmetic alone, for floating-point environments that are not the default, or not known.
    #[cold]
    pub(crate) fn add_by_integers(&mut self, items: impl Iterator<Item = f64>) {
        for item in items {
            self.counters.count(1);
            self.counters.negative_zeros += i64::from(is_negative_zero(item));
            self.add_one(item);
        }
    }

    /// Adds an item. The number of items does not change: the caller counts the item.
    #[inline]
    pub(crate) fn add_one(&mut self, item: f64) {
        if item.is_finite() {
            let (value, unit) = integer(item);
            // An `f32` as a double has only zeros below the format's range.
            let below = (F::LOWEST - unit).max(0);
            self.fixed.add(value >> below.min(63), unit + below);
        } else {
            self.counters.count_special(item);
        }
    }

    /// Removes an item. The number of items does not change: the caller counts the item.
    #[inline]
    pub(crate) fn remove_one(&mut self, item: f64) {
        match item {
            f64::INFINITY => self.counters.infinities -= 1,
            f64::NEG_INFINITY => self.counters.negative_infinities -= 1,
            _ if item.is_finite() => self.add_one(-item),
            _ => self.counters.nans -= 1,
        }
    }

    pub(crate) fn value<T: Float>(&self) -> T {
        if let Some(special) = self.special() {
            return special;
        }
        let magnitude = self.fixed.magnitude();
        magnitude.map_or_else(|| self.zero(), T::signed)
    }

    pub(crate) fn mean<T: Float>(&self) -> T {
        self.mean_of(self.counters.items.cast_unsigned())
    }

    /// The sum divided by `items`; NaN if `items` is 0.
    pub(crate) fn mean_of<T: Float>(&self, items: u64) -> T {
        if items == 0 {
            return T::NAN;
        }
        if let Some(special) = self.special() {
            return special;
        }
        let magnitude = self.fixed.magnitude();
        let mean = |(is_negative, sum)| T::signed((is_negative, quotient(sum, items)));
        magnitude.map_or_else(|| self.zero(), mean)
    }

    /// The sum, if not all items are finite; otherwise `None`.
    pub(crate) fn special<T: Float>(&self) -> Option<T> {
        let Counters {
            nans,
            infinities,
            negative_infinities,
            ..
        } = self.counters;
        match (nans, infinities, negative_infinities) {
            (0, 0, 0) => None,
            (0, _, 0) => Some(T::INFINITY),
            (0, 0, _) => Some(T::INFINITY.negate()),
            _ => Some(T::NAN),
        }
    }

    /// The sum, if it is zero: -0.0 if all items are -0.0, otherwise +0.0.
    pub(crate) fn zero<T: Float>(&self) -> T {
        match self.counters {
            Counters {
                items,
                negative_zeros,
                ..
            } if items != 0 && negative_zeros == items => T::NEGATIVE_ZERO,
            _ => T::ZERO,
        }
    }
}

/// Checks that no total of `own` has too many items together with the total of the same index in `others`.
pub(crate) fn check_counts<F: FixedFormat, const P: usize>(
    own: [&Total<F>; P],
    others: [&Total<F>; P],
) -> Result<(), LimitError> {
    let mut pairs = own.into_iter().zip(others);
    pairs.try_for_each(|(own, other)| own.counters.with(other.counters).map(drop))
}

/// The mean of `items` items whose sum is integer * 2^unit; +0.0 for zero.
#[inline]
pub(crate) fn short_mean<T: Float>(integer: i128, unit: i32, items: u64) -> T {
    let mean = |(is_negative, sum)| T::signed((is_negative, quotient(sum, items)));
    short_magnitude(integer, unit).map_or(T::ZERO, mean)
}

impl<F: FixedFormat> PartialEq for Total<F> {
    fn eq(&self, other: &Self) -> bool {
        self.fixed == other.fixed && self.counters == other.counters
    }
}

impl<F: FixedFormat> Destination for Total<F> {
    #[inline]
    fn add_parts(&mut self, [even, odd]: [i64; 2], unit: i32) {
        self.fixed.add_long(even + odd, unit);
    }

    #[inline]
    fn add_item(&mut self, _index: usize, item: f64) {
        self.add_one(item);
    }

    #[inline]
    fn count_negative_zeros(&mut self, [even, odd]: [u64; 2]) {
        self.counters.negative_zeros += (even + odd).cast_signed();
    }
}

/// A total in which negative zeros are not counted.
pub(crate) struct WithoutZeros<'t, F: FixedFormat>(pub(crate) &'t mut Total<F>);

impl<F: FixedFormat> Destination for WithoutZeros<'_, F> {
    const COUNTS_ZEROS: bool = false;

    #[inline]
    fn add_parts(&mut self, parts: [i64; 2], unit: i32) {
        self.0.add_parts(parts, unit);
    }

    #[inline]
    fn add_item(&mut self, index: usize, item: f64) {
        self.0.add_item(index, item);
    }

    #[inline]
    fn count_negative_zeros(&mut self, _counts: [u64; 2]) {}
}
