//! Keeps a slot for each key, for keys of any type.

use std::hash::{BuildHasher, Hash};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use simd_kernels::{DECODED_ITEMS, Level};

use super::columns::decoded::Decoded;
use super::columns::{Columns as _, Places};
use super::key::{self, KeyError};
use super::remove::RemoveKeyedError;
use super::{Keyed, KeyedSlot};
use crate::number::counters::LimitError;
use crate::slots::items::Items;
use crate::statistic::{Options, Statistic};

/// A slot for each key that was added: like [`Keyed`], but for keys of any type.
///
/// ```
/// use exact_sum::{Hashed, Sum};
///
/// let mut prices = Hashed::<_, Sum<f64>>::new();
/// prices.add(&["pear", "plum", "pear", "plum"], &[0.1, 5.0, 0.2, 1e300])?;
/// prices.remove(&["plum"], &[1e300])?;
/// assert_eq!(prices.value(&"pear"), Some(0.1 + 0.2));
/// assert_eq!(prices.values(), [(&"pear", 0.1 + 0.2), (&"plum", 5.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hashed<K, S: KeyedSlot> {
    /// The keys in the order in which they were first added.
    keys: Vec<K>,
    /// The index of each key.
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The slots of the keys. The keys that were added last may lack slots as long as they have no items.
    pub(crate) slots: Keyed<S>,
}

impl<K, S: KeyedSlot> Default for Hashed<K, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, S: KeyedSlot> Hashed<K, S> {
    /// Creates a map without keys.
    #[must_use]
    pub fn new() -> Self {
        Self {
            keys: Vec::new(),
            places: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            slots: Keyed::new(0).expect("no keys need no memory"),
        }
    }

    /// The keys, in the order in which they were first added.
    #[must_use]
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The slots of the [keys](Self::keys): slot i belongs to key number i.
    #[must_use]
    pub fn slots(&self) -> &Keyed<S> {
        &self.slots
    }

    /// The number of bytes that are allocated, without memory that keys own.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.keys.capacity() * size_of::<K>() + self.places.allocation_size() + self.slots.memory()
    }
}

impl<K: Hash + Eq + Clone, S: KeyedSlot> Hashed<K, S> {
    /// Adds items to the slots of their keys.
    ///
    /// # Panics
    /// The items are two slices that differ in length.
    ///
    /// # Errors
    /// There are not as many keys as items, or there would be more than 2^63 - 1 items. These errors change no slot. If there is no memory,
    /// some of the items may have been added.
    pub fn add(&mut self, keys: &[K], items: S::Items<'_>) -> Result<(), KeyError> {
        key::check_lengths(keys, items.count())?;
        self.slots.columns.check_room(S::by_column(items))?;
        let mut decoded = Decoded::none();
        let mut places = [0_u32; DECODED_ITEMS];
        let mut first = 0;
        for keys in keys.chunks(DECODED_ITEMS) {
            let places = &mut places[..keys.len()];
            for (place, key) in places.iter_mut().zip(keys) {
                *place = self.code(key);
            }
            self.slots.grow(self.keys.len())?;
            let items = S::by_column(items.part(first..first + keys.len()));
            let columns = &mut self.slots.columns;
            columns.change(Level::best(), places, items, false, &mut decoded);
            first += keys.len();
        }
        Ok(())
    }

    /// Removes items that were added with these keys. A key stays even if it loses all its items: see
    /// [`forget_empty`](Self::forget_empty).
    ///
    /// # Panics
    /// Those of [`add`](Self::add).
    ///
    /// # Errors
    /// Those of [`Keyed::remove`], or a key is unknown. A failed call changes no slot.
    pub fn remove(&mut self, keys: &[K], items: S::Items<'_>) -> Result<(), RemoveKeyedError> {
        self.slots.remove(&self.known(keys)?, items)
    }

    /// Adds the slots of `other`, key by key.
    ///
    /// # Errors
    /// Those of [`Keyed::merge`]. Keys of `other` may then have been added without items.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        let known = other.keys[..other.slots.keys()].iter();
        let places: Vec<u32> = known.map(|key| self.code(key)).collect();
        self.slots.grow(self.keys.len())?;
        self.slots.merge_places(&other.slots, Places::At(&places))
    }

    /// Removes the items of `other`, key by key.
    ///
    /// # Errors
    /// Those of [`remove`](Self::remove). An error's item number is then the number of a key of `other`.
    pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveKeyedError> {
        if !S::TAKES_BACK {
            return Err(RemoveKeyedError::Never);
        }
        let places = self.known(&other.keys[..other.slots.keys()])?;
        self.slots.unmerge_places(&other.slots, Places::At(&places))
    }

    /// The indices of keys. Returns an error if a key has no slot.
    fn known(&self, keys: &[K]) -> Result<Vec<u32>, RemoveKeyedError> {
        let place = |(item, key)| {
            let place = self.place(key).filter(|place| *place < self.slots.keys());
            let place = place.ok_or(RemoveKeyedError::Unknown { item })?;
            Ok(u32::try_from(place).expect("there are fewer keys"))
        };
        keys.iter().enumerate().map(place).collect()
    }

    /// Removes the keys whose items have all been removed. If the slots do not [count](Keyed::counts) their items, all keys stay.
    ///
    /// ```
    /// use exact_sum::{Hashed, Mean};
    ///
    /// let mut means = Hashed::<_, Mean<f64>>::new();
    /// means.add(&[7, 9, 7], &[1.0, 5.0, 2.0])?;
    /// means.remove(&[9], &[5.0])?;
    /// means.forget_empty()?;
    /// assert_eq!(means.keys(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for a copy.
    pub fn forget_empty(&mut self) -> Result<(), LimitError> {
        let counts = self.slots.counts().unwrap_or(&[]);
        if !counts.contains(&0) {
            return Ok(());
        }
        let mut left = Self::new();
        // Forgotten keys share one slot, before the slots of the remaining keys.
        let place = |(key, count): (&K, &u64)| match count {
            0 => 0,
            _ => 1 + left.code(key),
        };
        let places: Vec<u32> = self.keys.iter().zip(counts).map(place).collect();
        left.slots.grow(1 + left.keys.len())?;
        left.slots.merge_places(&self.slots, Places::At(&places))?;
        left.slots.forget_first(1);
        *self = left;
        Ok(())
    }

    /// The index of a key in [`keys`](Self::keys). A new key is added at the end.
    ///
    /// # Panics
    /// There are 2^32 other keys.
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
                // The key is pushed first, so that nothing has changed if the clone panics.
                keys.push(key.clone());
                vacant.insert(place);
                place
            }
        }
    }

    /// A key's slot: see [`Keyed::get`].
    #[must_use]
    pub fn get(&self, key: &K) -> Option<S> {
        Some(self.at(self.place(key)?))
    }

    /// The slot of the key with this index; a slot of no items, if the key has no slot yet.
    fn at(&self, place: usize) -> S {
        if place < self.slots.keys() {
            self.slots.get(place)
        } else {
            S::default()
        }
    }

    /// A statistic of a key's items, rounded once; `None` if there is no such key, or if its slot does not have the statistic.
    #[must_use]
    pub fn statistic(&self, key: &K, statistic: Statistic, options: Options) -> Option<S::Item> {
        let place = self.place(key)?;
        if place < self.slots.keys() {
            self.slots.statistic(place, statistic, options)
        } else {
            S::default().statistic(statistic, options)
        }
    }

    /// The value of a key's slot, rounded once: see [`Keyed::value`]. `None` if there is no such key.
    #[must_use]
    pub fn value(&self, key: &K) -> Option<S::Item> {
        self.statistic(key, S::VALUE, S::VALUE.defaults())
    }

    fn place(&self, key: &K) -> Option<usize> {
        let is_it = |&place: &u32| self.keys[place as usize] == *key;
        let place = self.places.find(self.hasher.hash_one(key), is_it)?;
        Some(*place as usize)
    }

    /// All keys with their [values](Self::value), in ascending order of the keys.
    #[must_use]
    pub fn values(&self) -> Vec<(&K, S::Item)>
    where
        K: Ord,
    {
        let of_empty = S::default().statistic(S::VALUE, S::VALUE.defaults());
        let known = self.slots.values().into_iter().map(Some);
        let all = known.chain(std::iter::repeat(of_empty));
        let pairs = self.keys.iter().zip(all);
        let pairs = pairs.filter_map(|(key, value)| Some((key, value?)));
        let mut values: Vec<(&K, S::Item)> = pairs.collect();
        values.sort_unstable_by(|left, right| left.0.cmp(right.0));
        values
    }
}

/// Two `Hashed` are equal if they have the same keys, in any order, with equal slots.
impl<K: Hash + Eq + Clone, S: KeyedSlot> PartialEq for Hashed<K, S> {
    fn eq(&self, other: &Self) -> bool {
        let is_equal = |(own, key): (usize, &K)| {
            let their = other.place(key);
            their.is_some_and(|their| self.at(own) == other.at(their))
        };
        self.keys.len() == other.keys.len() && self.keys.iter().enumerate().all(is_equal)
    }
}

impl<K: Hash + Eq + Clone, S: KeyedSlot> Eq for Hashed<K, S> {}
