//! Computes means.

use crate::number::counters::{LimitError, RemoveError};
use crate::number::float::Float;
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::sum::Sum;
use crate::statistic::{Options, Statistic};

/// The mean of items, computed exactly and rounded once. A [`Keyed`](crate::Keyed) of means counts the items of each key.
///
/// ```
/// use exact_sum::{Keyed, Mean};
///
/// let mut means = Keyed::<Mean<f64>>::new(2)?;
/// means.add(&[0, 1, 0_u8], &[1e300, 7.0, -1e300])?;
/// assert_eq!(means.counts(), Some(&[2, 1][..]));
/// assert_eq!(means.values(), [0.0, 7.0]);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean<T: Float>(pub(crate) Sum<T>);

impl<T: Float> Eq for Mean<T> {}

impl<T: Float> Mean<T> {
    /// The sum and the number of the items.
    #[must_use]
    pub fn sum(&self) -> &Sum<T> {
        &self.0
    }

    /// Adds items.
    pub fn add(&mut self, items: &[T]) {
        self.0.add(items);
    }

    /// Adds the items of `other`.
    ///
    /// # Errors
    /// Those of [`Accumulator::merge`](crate::Accumulator::merge).
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        crate::Accumulator::merge(&mut self.0, &other.0)
    }

    /// Removes items that were added.
    ///
    /// # Errors
    /// Those of [`Sum::remove`].
    pub fn remove(&mut self, items: &[T]) -> Result<(), RemoveError> {
        self.0.remove(items)
    }

    /// The mean, rounded once: see [`Sum::mean`].
    #[must_use]
    pub fn value(&self) -> T {
        self.0.mean()
    }
}

impl<T: Float> Sealed for Mean<T> {}

impl<T: Float> Slot for Mean<T> {
    type Item = T;
    type Items<'i> = &'i [T];

    fn statistic(&self, statistic: Statistic, options: Options) -> Option<T> {
        self.0.statistic(statistic, options)
    }
}
