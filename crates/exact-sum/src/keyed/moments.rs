//! Means and variances by key.

use simd_kernels::{DECODED_ITEMS, Level, Quiet};

use super::decoded::{Decoded, Rooms};
use super::key::{self, Key, KeyError};
use super::products::{KeyedProducts, widen};
use super::remove::{RemoveKeyedError, check_counts, check_specials};
use super::totals::Totals;
use crate::number::counters::{Counters, LimitError, check_memory, reserve};
use crate::number::float::Float;
use crate::number::round;
use crate::number::total::Total;
use crate::slots::moments::Spread;
use crate::slots::product_sum::ProductSum;

/// The number, the sum and the sum of the squares of the items of each of the keys 0 to K - 1: their means, variances and standard deviations,
/// each exact until it is rounded once.
///
/// ```
/// use exact_sum::KeyedMoments;
///
/// let mut moments = KeyedMoments::<f64>::new(2)?;
/// moments.add(&[0, 1, 0, 0_u8], &[1e8 + 1.0, 7.0, 1e8 + 2.0, 1e8 + 6.0])?;
/// assert_eq!(moments.counts(), [3, 1]);
/// assert_eq!([moments.mean(0), moments.variance(0, 1.0)], [1e8 + 3.0, 7.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyedMoments<T: Float> {
    pub(super) counts: Vec<u64>,
    pub(super) sums: Totals<T::Sums>,
    pub(super) squares: KeyedProducts<T>,
}

impl<T: Float> KeyedMoments<T> {
    /// Those of no items, for so many keys.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn new(keys: usize) -> Result<Self, LimitError> {
        check_memory::<u64>(keys)?;
        Ok(Self {
            counts: vec![0; keys],
            sums: Totals::new(keys),
            squares: KeyedProducts::new(keys),
        })
    }

    /// Reserves memory for so many keys.
    pub(super) fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        reserve(&mut self.counts, keys)?;
        self.sums.reserve(keys)?;
        self.squares.reserve(keys)
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.counts.len()
    }

    /// Adds items to those of their keys.
    ///
    /// # Errors
    /// There are not as many keys as items, a key is out of range, there would be more than 2^63 - 1 items, or there is no memory.
    /// Nothing has changed then.
    pub fn add<K: Key>(&mut self, keys: &[K], items: &[T]) -> Result<(), KeyError> {
        key::check(keys, items.len(), self.keys())?;
        self.check_room(items)?;
        for key in keys {
            self.counts[key.place()] += 1;
        }
        self.change(keys, items, false);
        Ok(())
    }

    /// Takes back items that were added with these keys.
    ///
    /// # Errors
    /// As [`KeyedSums::remove`](super::KeyedSums::remove), or a key has fewer items.
    pub fn remove<K: Key>(&mut self, keys: &[K], items: &[T]) -> Result<(), RemoveKeyedError> {
        key::check(keys, items.len(), self.keys()).map_err(RemoveKeyedError::Key)?;
        check_counts(keys, &self.counts)?;
        let specials = keys
            .iter()
            .zip(items)
            .map(|(key, item)| (key.place(), item.widened()));
        let specials = specials.filter(|(_, item)| !item.is_finite());
        let counted = specials.map(|(key, item)| (key, Counters::of_special(item)));
        check_specials(counted.collect(), &|key| self.sums.counters(key))?;
        self.check_room(items)?;
        for key in keys {
            self.counts[key.place()] -= 1;
        }
        self.change(keys, items, true);
        Ok(())
    }

    fn change<K: Key>(&mut self, keys: &[K], items: &[T], removes: bool) {
        let is_quiet = Quiet::now().is_some();
        let blocks = keys.chunks(DECODED_ITEMS).zip(items.chunks(DECODED_ITEMS));
        let mut doubles = Rooms::for_items(items.len());
        let mut decoded = Decoded::none();
        for (keys, items) in blocks {
            let [doubles] = doubles.first(items.len());
            widen(items, doubles);
            self.sums
                .add(Level::best(), keys, doubles, removes, &mut decoded);
            let factors = [&*doubles; 2];
            self.squares
                .change_block(keys, factors, removes, is_quiet, &mut decoded);
        }
    }

    /// Whether there is room for items.
    fn check_room(&self, items: &[T]) -> Result<(), LimitError> {
        let doubles = items.iter().map(|item| item.widened());
        self.sums.check_room(items.len() as u64, doubles)?;
        self.squares.check_room(items, items)
    }

    /// Makes room for other ones, key by key.
    fn make_room(&mut self, other: &Self) -> Result<(), LimitError> {
        reserve(&mut self.counts, other.keys())?;
        self.sums.make_room(&other.sums)?;
        self.squares.make_room(&other.squares)
    }

    /// Adds other ones, key by key. If they have more keys, so will these.
    ///
    /// # Errors
    /// As [`KeyedSums::merge`](super::KeyedSums::merge).
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.make_room(other)?;
        self.counts.resize(self.keys().max(other.keys()), 0);
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
        self.sums.merge_all(&other.sums);
        self.squares.merge_all(&other.squares);
        Ok(())
    }

    /// The number of items of each key.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Has room for so many items of a key, if that is more than before.
    pub(super) fn raise_items(&mut self, items: u64) {
        self.sums.raise_items(items);
        let squares = self.squares.parts.iter_mut();
        squares.for_each(|part| part.raise_items(items));
    }

    pub(super) fn set_count(&mut self, key: usize, count: u64) {
        self.counts[key] = count;
    }

    /// The mean of a key's items, rounded once; NaN if there are none.
    ///
    /// # Panics
    /// The key is out of range.
    #[must_use]
    pub fn mean(&self, key: usize) -> T {
        self.sums.mean(key, self.counts[key])
    }

    /// The variance of a key's items, rounded once: see [`Moments::variance`](crate::Moments::variance).
    ///
    /// # Panics
    /// The key is out of range.
    #[must_use]
    pub fn variance(&self, key: usize, ddof: f64) -> T {
        self.spread(key, ddof).value(|magnitude| magnitude)
    }

    /// The standard deviation of a key's items, rounded once: see [`Moments::standard_deviation`](crate::Moments::standard_deviation).
    ///
    /// # Panics
    /// The key is out of range.
    #[must_use]
    pub fn standard_deviation(&self, key: usize, ddof: f64) -> T {
        self.spread(key, ddof).value(round::root)
    }

    fn spread(&self, key: usize, ddof: f64) -> Spread {
        let sum: Total<T::Sums> = self.sums.total(key);
        let mut squares = ProductSum::<T>::new();
        squares.total = self.squares.total(key);
        Spread::of::<T>(&[&sum], &squares, self.counts[key], ddof)
    }
}
