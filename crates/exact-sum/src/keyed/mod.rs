//! Sums by key: of the items of each group, bin, cell or bucket.

pub(crate) mod bytes;
mod columns;
mod decoded;
mod extrema;
mod groups;
mod hashed;
mod integers;
mod key;
mod moments;
mod products;
pub(crate) mod ranks;
mod remove;
mod tables;
mod totals;

use simd_kernels::{DECODED_ITEMS, Level, Quiet, prefetch_after};

use crate::number::counters::{Counters, LimitError, check_memory};
use crate::number::float::Float;
use crate::number::total::Total;
pub use columns::KeyedColumns;
use decoded::{Decoded, FEW_ITEMS};
pub use extrema::KeyedExtrema;
pub use hashed::HashedSums;
pub use integers::KeyedIntegers;
pub use key::{Key, KeyError};
#[cfg(feature = "par")]
pub(crate) use key::{check, check_lengths};
pub use moments::KeyedMoments;
pub use products::{KeyedProducts, KeyedWeightedMeans};
pub use remove::RemoveKeyedError;
use remove::check_specials;
use totals::Totals;

/// A sum for each of the keys 0 to K - 1, exact until it is rounded.
///
/// The sums depend on nothing but which items have which key: not on their order, nor on how they are spread over threads, calls or
/// merged sums. They take 16 bytes for each key. Items that spread over more than some 50 binary places take as many again, for all keys, for
/// each 32 places more. A key with a NaN or an infinity takes some 600 bytes more.
///
/// ```
/// use exact_sum::KeyedSums;
///
/// let mut sums = KeyedSums::<f64>::new(3);
/// sums.add(&[0, 2, 0, 2, 0_u8], &[1e300, 0.1, 1.0, 0.2, -1e300])?;
/// assert_eq!(sums.values(), [1.0, 0.0, 0.1 + 0.2]);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyedSums<T: Float> {
    totals: Totals<T::Sums>,
}

impl<T: Float> KeyedSums<T> {
    /// Sums of no items, for so many keys.
    #[must_use]
    pub fn new(keys: usize) -> Self {
        Self {
            totals: Totals::new(keys),
        }
    }

    /// Sums of no items, for so many keys and for items like these: such are merged fast.
    #[cfg(feature = "par")]
    pub(crate) fn for_such(keys: usize, items: &[T]) -> Self {
        let mut sums = Self::new(keys);
        sums.totals
            .prepare(&items[..items.len().min(DECODED_ITEMS)]);
        sums
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.totals.len()
    }

    /// Makes room for more keys.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn grow(&mut self, keys: usize) -> Result<(), LimitError> {
        self.totals.reserve(keys)?;
        self.totals.grow(keys);
        Ok(())
    }

    /// Adds items to the sums of their keys.
    ///
    /// # Errors
    /// There are not as many keys as items, a key has no sum, there would be more than 2^63 - 1 items, or there is no memory.
    /// No sum has changed then.
    pub fn add<K: Key>(&mut self, keys: &[K], items: &[T]) -> Result<(), KeyError> {
        self.add_at(Level::best(), keys, items)
    }

    /// Adds an item to the sum of a key.
    ///
    /// # Panics
    /// The key has no sum.
    #[inline]
    pub fn add_one(&mut self, key: usize, item: T) {
        assert!(key < self.keys(), "key {key} has no sum");
        self.totals.change_one(key, item.widened(), false);
    }

    /// [`add`](Self::add) with the instructions of a level.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_at<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[T],
    ) -> Result<(), KeyError> {
        self.check_room(items)?;
        self.change(level, keys, items, false)
    }

    /// Whether there is room for items.
    fn check_room(&self, items: &[T]) -> Result<(), LimitError> {
        let doubles = items.iter().map(|item| item.widened());
        self.totals.check_room(items.len() as u64, doubles)
    }

    /// Adds items, or subtracts them. If a key is out of range, it takes back what it added before.
    fn change<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[T],
        removes: bool,
    ) -> Result<(), KeyError> {
        key::check_lengths(keys, items.len())?;
        if items.len() < FEW_ITEMS {
            key::check_block(keys, 0, self.keys())?;
            for (key, item) in keys.iter().zip(items) {
                let item = item.widened();
                self.totals.change_one(key.place(), item, removes);
            }
            return Ok(());
        }
        let mut decoded = Decoded::none();
        let sums = self.keys();
        let blocks = keys.chunks(DECODED_ITEMS).zip(items.chunks(DECODED_ITEMS));
        for (number, (keys_of_block, block)) in blocks.enumerate() {
            let first = number * DECODED_ITEMS;
            if let Err(error) = key::check_block(keys_of_block, first, sums) {
                self.change(level, &keys[..first], &items[..first], !removes)?;
                return Err(error);
            }
            prefetch_after(keys_of_block);
            prefetch_after(block);
            self.change_block(level, keys_of_block, block, removes, &mut decoded);
        }
        Ok(())
    }

    /// Adds a block of items whose keys are right, or subtracts them.
    #[inline]
    fn change_block<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[T],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        if self.totals.add_short(level, keys, items, removes, decoded) {
            return;
        }
        let mut rest = keys;
        T::in_exact_doubles(items, |doubles| {
            let (keys, others) = rest.split_at(doubles.len());
            self.totals.add(level, keys, doubles, removes, decoded);
            rest = others;
        });
    }

    /// Takes back items that were added with these keys.
    ///
    /// # Errors
    /// [`RemoveKeyedError::Key`] as [`add`](Self::add), or a key has fewer NaNs or infinities. No sum has changed then. That other items are
    /// removed than were added is not noticed.
    pub fn remove<K: Key>(&mut self, keys: &[K], items: &[T]) -> Result<(), RemoveKeyedError> {
        key::check(keys, items.len(), self.keys()).map_err(RemoveKeyedError::Key)?;
        let pairs = keys.iter().map(|key| key.place()).zip(items);
        let specials = pairs.map(|(key, item)| (key, item.widened()));
        let specials = specials.filter(|(_, item)| !item.is_finite());
        let counted = specials.map(|(key, item)| (key, Counters::of_special(item)));
        check_specials(counted.collect(), &|key| self.totals.counters(key))?;
        self.check_room(items)?;
        let removed = self.change(Level::best(), keys, items, true);
        removed.map_err(RemoveKeyedError::Key)
    }

    /// Adds other sums, key by key. If they have more keys, so will these.
    ///
    /// # Errors
    /// Together they have more than 2^63 - 1 items, or there is no memory for more keys. These sums stay as they were.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.totals.make_room(&other.totals)?;
        self.totals.merge_all(&other.totals);
        Ok(())
    }

    /// Adds other sums: that of key number i to that of key `keys[i]`.
    fn merge_at(&mut self, other: &Self, keys: &[u32]) {
        self.totals.merge(&other.totals, |key| keys[key] as usize);
    }

    fn total(&self, key: usize) -> Total<T::Sums> {
        self.totals.total(key)
    }

    /// The sum of a key, rounded to nearest, ties to even: see [`Sum::value`](crate::Sum::value). An empty sum is +0.0, and so is that of
    /// negative zeros.
    ///
    /// # Panics
    /// The key has no sum.
    #[must_use]
    pub fn value(&self, key: usize) -> T {
        self.rounded(key, Quiet::now().is_some())
    }

    /// The sum of a key divided by the number of its items, which the caller has counted, rounded once; NaN if there are none.
    ///
    /// # Panics
    /// The key has no sum.
    #[must_use]
    pub fn mean(&self, key: usize, items: u64) -> T {
        self.totals.mean(key, items)
    }

    fn rounded(&self, key: usize, is_quiet: bool) -> T {
        match self.totals.short(key) {
            Some((integer, unit)) => T::of_integer(integer, unit, is_quiet),
            None => self.totals.total(key).value(),
        }
    }

    /// The sums of all keys, each rounded once.
    #[must_use]
    pub fn values(&self) -> Vec<T> {
        let is_quiet = Quiet::now().is_some();
        let mut values = Vec::with_capacity(self.keys());
        if let Some((pairs, unit)) = self.totals.only_table() {
            T::append_rounded(pairs, unit, is_quiet, &mut values);
        } else {
            values.extend((0..self.keys()).map(|key| self.rounded(key, is_quiet)));
        }
        values
    }
}

/// The exact sums of the items of each of the keys 0 to `sums` - 1, rounded to nearest.
///
/// ```
/// let sums = exact_sum::by_key(&[1, 0, 1_u32], &[0.1, 5.0, 0.2], 2)?;
/// assert_eq!(sums, [5.0, 0.1 + 0.2]);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
///
/// # Errors
/// As [`KeyedSums::add`].
pub fn by_key<K: Key, T: Float>(keys: &[K], items: &[T], sums: usize) -> Result<Vec<T>, KeyError> {
    check_memory::<T>(sums)?;
    let mut by_key = KeyedSums::new(sums);
    by_key.add(keys, items)?;
    Ok(by_key.values())
}
