//! Implements sums of integers.

use crate::number::counters::{LimitError, RemoveError, check_items, items_of_both};
use crate::number::float::sealed::Conversions;
use crate::number::round::quotient;
use crate::number::wide::Wide;

/// The sum and the number of integers of up to 128 bits, in 32 bytes. Partial sums do not overflow.
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
    pub(crate) sum: Wide<3>,
    pub(crate) items: u64,
}

impl IntegerSum {
    /// The sum of no items.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A sum of `items` items that has the value `sum`.
    ///
    /// # Errors
    /// `items` is more than 2^63 - 1.
    pub fn with(sum: i128, items: u64) -> Result<Self, LimitError> {
        let items = items_of_both(items, 0)?;
        let sum = Wide::of(sum);
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
        self.sum = self.sum.plus(Wide::of(item.into()));
    }

    /// Removes items that were added.
    ///
    /// # Errors
    /// The sum has fewer items than are to be removed. A failed call changes nothing.
    pub fn remove(&mut self, items: &[impl Into<i128> + Copy]) -> Result<(), RemoveError> {
        let mut removed = Self::new();
        removed.add(items);
        check_items(self.items, removed.items)?;
        self.items -= removed.items;
        self.sum = self.sum.less(removed.sum);
        Ok(())
    }

    /// Adds another sum's items.
    ///
    /// # Errors
    /// There would be more than 2^63 - 1 items. A failed call changes nothing.
    #[inline]
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.items = items_of_both(self.items, other.items)?;
        self.sum = self.sum.plus(other.sum);
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
        let sum = self.sum.lower();
        (Wide::of(sum) == self.sum).then_some(sum)
    }

    /// The mean, rounded once to nearest; `None` if there are no items.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let mean = |(is_negative, sum)| f64::signed((is_negative, quotient(sum, self.items)));
        let sum = self.sum.magnitude(0);
        (self.items > 0).then(|| sum.map_or(0.0, mean))
    }
}
