//! Sums of integers by key.

use super::key::{self, Key, KeyError};
use crate::number::counters::{LimitError, check_memory, reserve};
use crate::number::total::short_mean;

/// The number and the sum of integers of each of the keys 0 to K - 1, in 64 and 128 bits.
///
/// ```
/// use exact_sum::KeyedIntegers;
///
/// let mut sums = KeyedIntegers::new(2)?;
/// sums.add(&[0, 1, 0_u8], &[i64::MAX, 7, i64::MAX])?;
/// assert_eq!(sums.values(), [2 * i128::from(i64::MAX), 7]);
/// assert_eq!(sums.mean(0), i64::MAX as f64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedIntegers {
    sums: Vec<i128>,
    counts: Vec<u64>,
}

impl KeyedIntegers {
    /// Sums of no items, for so many keys.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn new(keys: usize) -> Result<Self, LimitError> {
        check_memory::<[i128; 2]>(keys)?;
        Ok(Self {
            sums: vec![0; keys],
            counts: vec![0; keys],
        })
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.sums.len()
    }

    /// Makes room for more keys.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn grow(&mut self, keys: usize) -> Result<(), LimitError> {
        let keys = self.keys().max(keys);
        reserve(&mut self.sums, keys)?;
        reserve(&mut self.counts, keys)?;
        self.sums.resize(keys, 0);
        self.counts.resize(keys, 0);
        Ok(())
    }

    /// Drops the sums of the first keys: the others' numbers are so much less.
    ///
    /// # Panics
    /// There are fewer keys.
    pub fn forget_first(&mut self, keys: usize) {
        self.sums.drain(..keys);
        self.counts.drain(..keys);
    }

    /// The bytes that are allocated.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.sums.capacity() * size_of::<i128>() + self.counts.capacity() * size_of::<u64>()
    }

    /// Adds sums of so many items to those of their keys.
    ///
    /// # Panics
    /// There are not as many counts as sums.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_sums<K: Key>(
        &mut self,
        keys: &[K],
        sums: &[i128],
        counts: &[u64],
    ) -> Result<(), KeyError> {
        assert_eq!(sums.len(), counts.len(), "the slices differ in length");
        key::check(keys, sums.len(), self.keys())?;
        let places = keys.iter().map(|key| key.place());
        let sums = sums.iter().zip(counts).map(|(sum, count)| (*sum, *count));
        Ok(self.add_all(places.zip(sums))?)
    }

    /// Adds items to the sums of their keys.
    ///
    /// # Errors
    /// There are not as many keys as items, a key has no sum, or one would have more than 128 bits. No sum has changed then.
    pub fn add<K: Key>(
        &mut self,
        keys: &[K],
        items: &[impl Into<i128> + Copy],
    ) -> Result<(), KeyError> {
        key::check(keys, items.len(), self.keys())?;
        let places = keys.iter().map(|key| key.place());
        let items = items.iter().map(|item| ((*item).into(), 1));
        Ok(self.add_all(places.zip(items))?)
    }

    /// Adds sums of so many items to those of their keys, or none.
    #[inline]
    fn add_all(
        &mut self,
        parts: impl Iterator<Item = (usize, (i128, u64))> + Clone,
    ) -> Result<(), LimitError> {
        for (number, (key, (sum, count))) in parts.clone().enumerate() {
            let (own, items) = (&mut self.sums[key], &mut self.counts[key]);
            let (Some(both), Some(all)) = (own.checked_add(sum), items.checked_add(count)) else {
                for (key, (sum, count)) in parts.take(number) {
                    self.sums[key] = self.sums[key].wrapping_sub(sum);
                    self.counts[key] -= count;
                }
                return Err(LimitError::Integers { key });
            };
            (*own, *items) = (both, all);
        }
        Ok(())
    }

    /// Takes back items that were added with these keys.
    ///
    /// # Errors
    /// The keys cannot be, or a key has fewer items. No sum has changed then.
    pub fn remove<K: Key>(
        &mut self,
        keys: &[K],
        items: &[impl Into<i128> + Copy],
    ) -> Result<(), super::RemoveKeyedError> {
        key::check(keys, items.len(), self.keys()).map_err(super::RemoveKeyedError::Key)?;
        super::remove::check_counts(keys, &self.counts)?;
        for (key, item) in keys.iter().zip(items) {
            let sum = &mut self.sums[key.place()];
            *sum = sum.wrapping_sub((*item).into());
            self.counts[key.place()] -= 1;
        }
        Ok(())
    }

    /// Adds other sums, key by key. If they have more keys, so will these.
    ///
    /// # Errors
    /// A sum would have more than 128 bits, or there is no memory for more keys. No sum has changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        let keys = self.keys();
        self.grow(other.keys())?;
        let sums = other.sums.iter().copied().zip(other.counts.iter().copied());
        self.add_all(sums.enumerate()).inspect_err(|_| {
            self.sums.truncate(keys);
            self.counts.truncate(keys);
        })
    }

    /// The sums.
    #[must_use]
    pub fn values(&self) -> &[i128] {
        &self.sums
    }

    /// The number of items of each key.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The mean of a key's items, rounded once; NaN if there are none.
    ///
    /// # Panics
    /// The key has no sum.
    #[must_use]
    pub fn mean(&self, key: usize) -> f64 {
        match self.counts[key] {
            0 => f64::NAN,
            items => short_mean(self.sums[key], 0, items),
        }
    }
}
