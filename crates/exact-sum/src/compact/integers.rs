//! Sums of integers.

use crate::number::counters::{Counters, LimitError, RemoveError, items_of_both};
use crate::number::float::sealed::Conversions;
use crate::number::round::quotient;
use crate::number::wide::{Wide, words_of};

/// The sum of integers of up to 128 bits and their number, in 32 bytes. Partial sums do not overflow.
///
/// ```
/// use exact_sum::IntegerSum;
///
/// let mut sum = IntegerSum::new();
/// sum.add(&[i128::MAX, i128::MAX, -i128::MAX, 7]);
/// assert_eq!(sum.value(), None);
/// sum.remove(&[7])?;
/// assert_eq!(sum.value(), Some(i128::MAX));
/// assert_eq!(sum.mean(), Some(i128::MAX as f64 / 3.0));
/// # Ok::<(), exact_sum::RemoveError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntegerSum {
    pub(crate) sum: Long,
    pub(crate) items: u64,
}

impl IntegerSum {
    /// The sum of no items.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The sum of `items` items.
    ///
    /// # Errors
    /// `items` is more than 2^63 - 1.
    pub fn with(sum: i128, items: u64) -> Result<Self, LimitError> {
        let items = items_of_both(items, 0)?;
        let sum = Long::of(sum);
        Ok(Self { sum, items })
    }

    /// Adds items.
    pub fn add(&mut self, items: &[impl Into<i128> + Copy]) {
        items.iter().for_each(|item| self.add_one(*item));
    }

    /// Adds an item.
    #[inline]
    pub fn add_one(&mut self, item: impl Into<i128>) {
        self.items += 1;
        self.sum.add(Long::of(item.into()));
    }

    /// Removes items that were added.
    ///
    /// # Errors
    /// The sum has fewer items. A failed call changes nothing.
    pub fn remove(&mut self, items: &[impl Into<i128> + Copy]) -> Result<(), RemoveError> {
        let counted = |items: u64| Counters {
            items: items.cast_signed(),
            ..Counters::default()
        };
        let mut removed = Self::new();
        removed.add(items);
        let left = counted(self.items).without(counted(removed.items))?;
        self.items = left.items.cast_unsigned();
        self.sum.add(removed.sum.negated());
        Ok(())
    }

    /// Adds another sum's items.
    ///
    /// # Errors
    /// There would be more than 2^63 - 1 items. A failed call changes nothing.
    #[inline]
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.items = items_of_both(self.items, other.items)?;
        self.sum.add(other.sum);
        Ok(())
    }

    /// The number of items.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The sum; `None` if it has more than 128 bits.
    #[must_use]
    pub fn value(&self) -> Option<i128> {
        let (lower, _) = self.sum.parts();
        let sum = lower.cast_signed();
        (Long::of(sum) == self.sum).then_some(sum)
    }

    /// The mean, rounded once to nearest; `None` if there are no items.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let mean = |(is_negative, sum)| f64::signed((is_negative, quotient(sum, self.items)));
        let sum = self.sum.wide().magnitude(0);
        (self.items > 0).then(|| sum.map_or(0.0, mean))
    }

    /// The sum, which may have more than 128 bits.
    pub(crate) fn wide(&self) -> Wide<4> {
        self.sum.wide()
    }
}

/// An integer of 192 bits, in two's complement. It consists of words of 64 bits, since databases
/// align states to 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Long([u64; 3]);

impl Long {
    #[inline]
    pub(crate) fn of_parts((lower, highest): (u128, u64)) -> Self {
        let [lowest, lower] = words_of(lower);
        Self([lowest, lower, highest])
    }

    #[inline]
    fn of(integer: i128) -> Self {
        let [sign, _] = words_of((integer >> 127).cast_unsigned());
        Self::of_parts((integer.cast_unsigned(), sign))
    }

    /// The lower 128 bits, and the word above them.
    #[inline]
    fn parts(self) -> (u128, u64) {
        let Self([lowest, lower, highest]) = self;
        (u128::from(lower) << 64 | u128::from(lowest), highest)
    }

    /// Adds an integer. There is room for the sum of 2^63 items of 128 bits.
    #[inline]
    pub(crate) fn add(&mut self, other: Self) {
        let ((own_lower, own_highest), (lower, highest)) = (self.parts(), other.parts());
        let (lower, carries) = own_lower.overflowing_add(lower);
        let highest = own_highest.wrapping_add(highest);
        *self = Self::of_parts((lower, highest.wrapping_add(carries.into())));
    }

    /// The lower 64 bits, and the integer above them.
    pub(crate) fn halves(self) -> [i128; 2] {
        let Self([lowest, lower, highest]) = self;
        let upper = i128::from(highest.cast_signed()) << 64 | i128::from(lower);
        [lowest.into(), upper]
    }

    /// The integer with one of its [`halves`](Self::halves) given, and the other one zero.
    pub(crate) fn of_half(half: usize, integer: i128) -> Self {
        let [lower, upper] = words_of(integer.cast_unsigned());
        match half {
            0 => Self::of(integer),
            _ => Self([0, lower, upper]),
        }
    }

    pub(crate) fn negated(self) -> Self {
        let mut negated = Self(self.0.map(|word| !word));
        negated.add(Self([1, 0, 0]));
        negated
    }

    pub(crate) fn wide(self) -> Wide<4> {
        let (lower, highest) = self.parts();
        Wide::of_halves((lower, highest.cast_signed().into()))
    }
}
