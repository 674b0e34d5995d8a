//! Sums of integers.

use crate::counters::{Counters, RemoveError};
use crate::total::short_mean;

/// The number and the sum of integers, in 128 bits.
///
/// ```
/// use exact_sum::IntegerSum;
///
/// let mut sum = IntegerSum::new();
/// sum.add(&[i64::MAX, i64::MAX, 7]);
/// sum.remove(&[7_i64])?;
/// assert_eq!(sum.value(), 2 * i128::from(i64::MAX));
/// assert_eq!(sum.mean(), i64::MAX as f64);
/// # Ok::<(), exact_sum::RemoveError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntegerSum {
    sum: i128,
    items: u64,
}

impl IntegerSum {
    /// The sum of no items.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds items.
    pub fn add(&mut self, items: &[impl Into<i128> + Copy]) {
        self.merge(Self::of(items));
    }

    /// Takes back items that were added.
    ///
    /// # Errors
    /// There are fewer. The sum stays as it was.
    pub fn remove(&mut self, items: &[impl Into<i128> + Copy]) -> Result<(), RemoveError> {
        let counted = |items: u64| Counters {
            items: items.cast_signed(),
            ..Counters::default()
        };
        let removed = Self::of(items);
        let left = counted(self.items).without(counted(removed.items))?;
        self.items = left.items.cast_unsigned();
        self.sum = self.sum.wrapping_sub(removed.sum);
        Ok(())
    }

    fn of(items: &[impl Into<i128> + Copy]) -> Self {
        Self {
            // Of items of 64 bits, there would have to be 2^63.
            sum: items
                .iter()
                .fold(0_i128, |sum, &item| sum.wrapping_add(item.into())),
            items: items.len() as u64,
        }
    }

    /// The sum of so many items.
    #[must_use]
    pub fn with(sum: i128, items: u64) -> Self {
        Self { sum, items }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Self) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.items += other.items;
    }

    /// The sum.
    #[must_use]
    pub fn value(&self) -> i128 {
        self.sum
    }

    /// The number of items.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The mean, rounded once; NaN if there are no items.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self.items {
            0 => f64::NAN,
            items => short_mean(self.sum, 0, items),
        }
    }
}
