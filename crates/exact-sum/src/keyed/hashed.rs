//! Sums by keys of any type.

use std::hash::{BuildHasher, Hash};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use simd_kernels::{DECODED_ITEMS, Level};

use super::KeyedSums;
use super::bytes::are_alike;
use super::decoded::{Decoded, FEW_ITEMS};
use super::key::{self, KeyError};
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::number::total::Total;

/// A sum for each key that has items, exact until it is rounded: [`KeyedSums`] for keys of any type.
///
/// ```
/// use exact_sum::HashedSums;
///
/// let mut prices = HashedSums::new();
/// prices.add(&["pear", "plum", "pear"], &[0.1, 5.0, 0.2])?;
/// assert_eq!(prices.value(&"pear"), Some(0.1 + 0.2));
/// assert_eq!(prices.values(), [(&"pear", 0.1 + 0.2), (&"plum", 5.0)]);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HashedSums<K, T: Float> {
    /// In the order in which they came.
    keys: Vec<K>,
    /// Which key is where.
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
    pub(super) sums: KeyedSums<T>,
}

impl<K, T: Float> Default for HashedSums<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, T: Float> HashedSums<K, T> {
    /// Sums of no items.
    #[must_use]
    pub fn new() -> Self {
        Self {
            keys: Vec::new(),
            places: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            sums: KeyedSums::new(0),
        }
    }

    /// The keys that have items, in the order in which they came.
    #[must_use]
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The bytes that are allocated, without those that keys own.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.keys.capacity() * size_of::<K>() + self.places.allocation_size() + self.sums.memory()
    }
}

impl<K: Hash + Eq + Clone, T: Float> HashedSums<K, T> {
    /// Adds items to the sums of their keys.
    ///
    /// # Errors
    /// There are not as many keys as items, or there would be more than 2^63 - 1 items. No sum has changed then.
    pub fn add(&mut self, keys: &[K], items: &[T]) -> Result<(), KeyError> {
        key::check_lengths(keys, items.len())?;
        self.sums.check_room(items)?;
        if items.len() < FEW_ITEMS {
            for (key, item) in keys.iter().zip(items) {
                let place = self.code(key) as usize;
                self.sums.totals.grow(self.keys.len());
                self.sums.add_one(place, *item);
            }
            return Ok(());
        }
        let mut decoded = Decoded::none();
        let mut places = [0_u32; DECODED_ITEMS];
        for (keys, items) in keys.chunks(DECODED_ITEMS).zip(items.chunks(DECODED_ITEMS)) {
            let places = &mut places[..keys.len()];
            for (place, key) in places.iter_mut().zip(keys) {
                *place = self.code(key);
            }
            self.sums.totals.grow(self.keys.len());
            self.sums
                .change_block(Level::best(), places, items, false, &mut decoded);
        }
        Ok(())
    }

    /// Adds other sums, key by key.
    ///
    /// # Errors
    /// As [`KeyedSums::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.sums.totals.make_room(&other.sums.totals)?;
        let places: Vec<u32> = other.keys.iter().map(|key| self.code(key)).collect();
        self.sums.totals.grow(self.keys.len());
        self.sums.merge_at(&other.sums, &places);
        Ok(())
    }

    /// Which of [`keys`](Self::keys) a key is: the last one, if it is new.
    ///
    /// # Panics
    /// There are 2^32 others.
    pub fn code(&mut self, key: &K) -> u32 {
        let Self {
            keys,
            places,
            hasher,
            ..
        } = self;
        let entry = places.entry(
            hasher.hash_one(key),
            |&place| keys[place as usize] == *key,
            |&place| hasher.hash_one(&keys[place as usize]),
        );
        match entry {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(vacant) => {
                let place = u32::try_from(keys.len()).expect("there is memory for fewer keys");
                // If a clone panics, there is no such key.
                keys.push(key.clone());
                vacant.insert(place);
                place
            }
        }
    }

    /// The sum of a key, rounded once; `None` if it has no items.
    #[must_use]
    pub fn value(&self, key: &K) -> Option<T> {
        Some(self.value_at(self.place(key)?))
    }

    /// Of a key that has a code, and no items yet, there is no sum.
    fn value_at(&self, place: usize) -> T {
        if place < self.sums.keys() {
            self.sums.value(place)
        } else {
            T::ZERO
        }
    }

    fn total(&self, place: usize) -> Total<T::Sums> {
        if place < self.sums.keys() {
            self.sums.total(place)
        } else {
            Total::ZERO
        }
    }

    fn place(&self, key: &K) -> Option<usize> {
        let is_it = |&place: &u32| self.keys[place as usize] == *key;
        let place = self.places.find(self.hasher.hash_one(key), is_it)?;
        Some(*place as usize)
    }

    /// All keys that have items with their sums, each rounded once, in ascending order of the keys.
    #[must_use]
    pub fn values(&self) -> Vec<(&K, T)>
    where
        K: Ord,
    {
        let keys = self.keys.iter().enumerate();
        let mut values: Vec<(&K, T)> = keys
            .map(|(place, key)| (key, self.value_at(place)))
            .collect();
        values.sort_unstable_by(|left, right| left.0.cmp(right.0));
        values
    }
}

/// Sums are equal if they have the same keys, in any order, with equal sums.
impl<K: Hash + Eq + Clone, T: Float> PartialEq for HashedSums<K, T> {
    fn eq(&self, other: &Self) -> bool {
        let is_equal = |(own, key): (usize, &K)| {
            let their = other.place(key);
            their.is_some_and(|their| are_alike(&self.total(own), &other.total(their)))
        };
        self.keys.len() == other.keys.len() && self.keys.iter().enumerate().all(is_equal)
    }
}

impl<K: Hash + Eq + Clone, T: Float> Eq for HashedSums<K, T> {}
