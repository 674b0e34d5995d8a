//! Sums of items.

use bytemuck::Zeroable;
use simd_kernels::{ColumnSplit, Exponents, Level, Quiet, SplitScale, without_traps};

use crate::accumulator::Accumulator;
use crate::accumulator::sealed::Sealed;
use crate::blocks::{Destination, Pace};
use crate::bytes::{self, BytesError, Kind};
use crate::counters::{Counters, RemoveError, is_negative_zero};
use crate::fixed::{Fixed, Window, add_to_words};
use crate::float::Float;
use crate::float::convert;
use crate::round::quotient;

/// What sums do alike, whatever the window of their total.
macro_rules! of_total {
    ($sum:ident, $window:ident, $kind:expr, $name:literal) => {
        impl<T: Float> $sum<T> {
            /// Adds another sum.
            pub fn merge(&mut self, other: &Self) {
                self.total.merge(&other.total);
            }

            /// Takes back what another sum was given.
            ///
            /// # Errors
            /// This sum has fewer items, or fewer of a kind: NaNs, infinities, negative zeros. It stays as it was.
            pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
                self.total.unmerge(&other.total)
            }

            /// The sum divided by the number of items, or of products, rounded once; NaN if there are none.
            #[must_use]
            pub fn mean(&self) -> T {
                self.total.mean()
            }

            /// The number of items, or of products.
            #[must_use]
            pub fn items(&self) -> u64 {
                self.total.counters.items.cast_unsigned()
            }
        }

        /// Sums are equal if their numbers are, and their counts of items of each kind.
        impl<T: Float> PartialEq for $sum<T> {
            fn eq(&self, other: &Self) -> bool {
                self.total == other.total
            }
        }

        impl<T: Float> Eq for $sum<T> {}

        impl<T: Float> Sealed for $sum<T> {}

        impl<T: Float> Accumulator for $sum<T> {
            type Words = <T::$window as Window>::Words;
            type Integers = <T::$window as Window>::Integers;

            fn name() -> String {
                format!("{} of {}", $name, T::NAME)
            }

            fn to_bytes(&self) -> Vec<u8> {
                bytes::write::<T, T::$window, 1>($kind, [&self.total])
            }

            fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
                let [total] = bytes::read::<T, T::$window, 1>($kind, bytes)?;
                let mut sum = Self::new();
                sum.total = total;
                Ok(sum)
            }

            fn words(&self) -> Self::Words {
                self.total.words()
            }

            fn add_words(&mut self, words: &Self::Words) {
                self.total.add_words(words);
            }

            fn merge_words(words: &mut Self::Words, other: &Self::Words) {
                Total::<T::$window>::merge_words(words, other);
            }

            fn integers(&self) -> Self::Integers {
                self.total.integers()
            }

            fn add_integers(&mut self, integers: &Self::Integers) {
                self.total.add_integers(integers);
            }
        }
    };
}
pub(crate) use of_total;

/// A sum that is exact until [`value`](Self::value) rounds it.
///
/// ```
/// use exact_sum::Sum;
///
/// let mut sum = Sum::<f32>::new();
/// sum.add(&[1e30, 1.0, -1e30]);
/// assert_eq!(sum.value(), 1.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sum<T: Float> {
    pub(crate) total: Total<T::Sums>,
    pace: Pace,
}

impl<T: Float> Default for Sum<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Float> Sum<T> {
    /// The sum of no items, +0.0.
    #[must_use]
    pub fn new() -> Self {
        Self {
            total: Total::ZERO,
            pace: Pace::START,
        }
    }

    /// The sum of items.
    #[must_use]
    #[inline]
    pub fn of(items: &[T]) -> Self {
        let mut sum = Self::new();
        sum.add(items);
        sum
    }

    /// Adds items.
    #[inline]
    pub fn add(&mut self, items: &[T]) {
        self.add_at(Level::best(), items);
    }

    /// [`add`](Self::add) with the instructions of a level.
    pub fn add_at(&mut self, level: Level, items: &[T]) {
        let Some(quiet) = Quiet::now() else {
            if !without_traps(&mut || self.add_at(level, items)) {
                let items = items.iter().copied().map(T::widened);
                self.total.add_by_integers(items);
            }
            return;
        };
        self.total.counters.items += items.len() as i64;
        let Self { total, pace } = self;
        T::in_doubles(items, |doubles| pace.add(level, doubles, total));
        quiet.forget_since();
    }

    /// The scale that the next items may be added at.
    pub(crate) fn guess(&self, first: impl FnOnce() -> Option<Exponents>) -> Option<SplitScale> {
        self.pace.guess(first)
    }

    /// Adds items that were split at a scale.
    pub(crate) fn add_split(
        &mut self,
        items: impl ExactSizeIterator<Item = f64>,
        split: ColumnSplit,
        scale: SplitScale,
    ) {
        let ColumnSplit {
            higher,
            lower,
            has_negative_zeros,
        } = split;
        self.total.counters.items += items.len() as i64;
        if has_negative_zeros {
            let zeros = items.filter(|&item| is_negative_zero(item));
            self.total.counters.negative_zeros += zeros.count() as i64;
        }
        self.total.add_parts([higher, 0], scale.higher_unit());
        self.total.add_parts([lower, 0], scale.lower_unit());
        self.pace.keep(scale);
    }

    pub(crate) fn totals(&self) -> [&Total<T::Sums>; 1] {
        [&self.total]
    }

    pub(crate) fn totals_mut(&mut self) -> [&mut Total<T::Sums>; 1] {
        [&mut self.total]
    }

    /// Takes back items that were added.
    ///
    /// ```
    /// use exact_sum::Sum;
    ///
    /// let mut sum = Sum::of(&[1e300, 0.1, f64::INFINITY]);
    /// sum.remove(&[f64::INFINITY, 1e300])?;
    /// assert_eq!(sum.value(), 0.1);
    /// # Ok::<(), exact_sum::RemoveError>(())
    /// ```
    ///
    /// # Errors
    /// There are fewer items, or fewer of a kind: NaNs, infinities, negative zeros. The sum stays as it was. That other items are removed than
    /// were added is not noticed.
    pub fn remove(&mut self, items: &[T]) -> Result<(), RemoveError> {
        let mut removed = Self {
            total: Total::ZERO,
            pace: self.pace,
        };
        removed.add(items);
        self.unmerge(&removed)?;
        self.pace = removed.pace;
        Ok(())
    }

    /// Adds the magnitudes of items.
    pub fn add_magnitudes(&mut self, items: &[T]) {
        let Some(quiet) = Quiet::now() else {
            if !without_traps(&mut || self.add_magnitudes(items)) {
                let magnitude = |item: &T| item.widened().abs();
                self.total.add_by_integers(items.iter().map(magnitude));
            }
            return;
        };
        let level = Level::best();
        self.total.counters.items += items.len() as i64;
        let Self { total, pace } = self;
        convert(
            items,
            |item| item.to_double().abs(),
            |doubles| pace.add(level, doubles, total),
        );
        quiet.forget_since();
    }

    /// The sum, rounded to nearest, ties to even.
    ///
    /// | items | sum |
    /// |---|---|
    /// | none | +0.0 |
    /// | all -0.0 | -0.0, as additions have it |
    /// | otherwise, an exact sum of zero | +0.0 |
    /// | a NaN, or infinities of both signs | NaN, canonical |
    /// | an infinity | that |
    ///
    /// It is infinite only if the exact sum is beyond the range, not if partial sums are.
    #[must_use]
    pub fn value(&self) -> T {
        self.total.value()
    }
}

of_total!(Sum, Sums, Kind::Sum, "exact sum");

/// The numbers, and what is not one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Total<W: Window> {
    pub(crate) fixed: Fixed<W>,
    pub(crate) counters: Counters,
}

impl<W: Window> Total<W> {
    pub(crate) const ZERO: Self = Self {
        fixed: Fixed::ZERO,
        counters: Counters {
            items: 0,
            negative_zeros: 0,
            nans: 0,
            infinities: 0,
            negative_infinities: 0,
        },
    };

    pub(crate) fn merge(&mut self, other: &Self) {
        self.fixed.merge(&other.fixed);
        self.counters.merge(other.counters);
    }

    pub(crate) fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        self.counters = self.counters.without(other.counters)?;
        self.fixed.unmerge(&other.fixed);
        Ok(())
    }

    pub(crate) fn words(&self) -> W::Words {
        let mut words = W::Words::zeroed();
        let (number, counters) = Self::split_mut(&mut words);
        self.fixed.write_words(number);
        counters.copy_from_slice(&self.counters.words());
        words
    }

    pub(crate) fn add_words(&mut self, words: &W::Words) {
        let (number, counters) = words.as_ref().split_at(Fixed::<W>::WORDS);
        self.fixed.add_words(number);
        let counters = counters.try_into().expect("there are as many words");
        self.counters.merge(Counters::of_words(counters));
    }

    pub(crate) fn merge_words(words: &mut W::Words, other: &W::Words) {
        let (number, counters) = Self::split_mut(words);
        let (other_number, other_counters) = other.as_ref().split_at(Fixed::<W>::WORDS);
        add_to_words(number, other_number);
        Counters::merge_words(counters, other_counters);
    }

    /// The words of the number, and those of the counters.
    fn split_mut(words: &mut W::Words) -> (&mut [u64], &mut [u64]) {
        words.as_mut().split_at_mut(Fixed::<W>::WORDS)
    }

    pub(crate) fn integers(&self) -> W::Integers {
        let mut integers = W::Integers::zeroed();
        let (limbs, counters) = integers.as_mut().split_at_mut(W::LIMBS);
        limbs.copy_from_slice(self.fixed.propagated_limbs().as_ref());
        counters.copy_from_slice(&self.counters.integers());
        integers
    }

    pub(crate) fn add_integers(&mut self, integers: &W::Integers) {
        let (limbs, counters) = integers.as_ref().split_at(W::LIMBS);
        self.fixed.add_limbs(limbs);
        let counters = counters.try_into().expect("there are as many integers");
        self.counters.merge(Counters::of_integers(counters));
    }

    /// Adds items by integer arithmetic alone, in an environment that the loops are not made for, or that is not known.
    #[cold]
    pub(crate) fn add_by_integers(&mut self, items: impl Iterator<Item = f64>) {
        for item in items {
            self.counters.items += 1;
            self.counters.negative_zeros += i64::from(is_negative_zero(item));
            self.add_one(item);
        }
    }

    /// Adds an item, which was counted.
    #[inline]
    pub(crate) fn add_one(&mut self, item: f64) {
        if item.is_finite() {
            let (value, unit) = integer(item);
            // What a float as a double has below the window is zero.
            let below = (W::LOWEST - unit).max(0);
            self.fixed.add(value >> below.min(63), unit + below);
        } else {
            self.counters.count_special(item);
        }
    }

    /// Takes back an item, which was counted if it is finite.
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
        match self.fixed.magnitude() {
            Some((true, magnitude)) => T::nearest(magnitude).negate(),
            Some((false, magnitude)) => T::nearest(magnitude),
            None => self.zero(),
        }
    }

    pub(crate) fn mean<T: Float>(&self) -> T {
        self.mean_of(self.counters.items.cast_unsigned())
    }

    /// The sum divided by a number of items.
    pub(crate) fn mean_of<T: Float>(&self, items: u64) -> T {
        if items == 0 {
            return T::NAN;
        }
        if let Some(special) = self.special() {
            return special;
        }
        match self.fixed.magnitude() {
            Some((true, magnitude)) => T::nearest(quotient(magnitude, items)).negate(),
            Some((false, magnitude)) => T::nearest(quotient(magnitude, items)),
            None => self.zero(),
        }
    }

    /// The sum of items that are not all finite.
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

    /// The sum of items that is zero.
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

impl<W: Window> PartialEq for Total<W> {
    fn eq(&self, other: &Self) -> bool {
        self.fixed == other.fixed && self.counters == other.counters
    }
}

impl<W: Window> Destination for Total<W> {
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

/// A finite number as an integer of 53 bits and a sign, in units of 2^unit.
#[inline(always)]
pub(crate) fn integer(item: f64) -> (i64, i32) {
    let bits = item.to_bits();
    let biased = (bits >> 52) as i32 & 0x7FF;
    let fraction = (bits & ((1 << 52) - 1)).cast_signed();
    // Subnormal numbers have the unit of the smallest normal ones.
    let significand = fraction | i64::from(biased != 0) << 52;
    let sign = bits.cast_signed() >> 63;
    ((significand ^ sign) - sign, biased.max(1) - 1075)
}
