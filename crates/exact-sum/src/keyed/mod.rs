//! Keeps a sum, moments or another slot for the items of each group, bin, cell or bucket.

pub(crate) mod bytes;
mod columns;
mod hashed;
mod key;
mod kinds;
mod merge;
pub(crate) mod message;
mod partials;
pub(crate) mod ranks;
mod remove;
mod slot;

use simd_kernels::{DECODED_ITEMS, Level, prefetch_after};

use crate::number::counters::{LimitError, check_memory};
use crate::number::float::Float;
use crate::slots::items::Items;
use crate::slots::sum::Sum;
use crate::statistic::{Options, Statistic};
use columns::Columns;
use columns::decoded::Decoded;
pub use hashed::Hashed;
pub use key::{Key, KeyError};
#[cfg(feature = "par")]
pub(crate) use key::{check, check_lengths};
pub use remove::RemoveKeyedError;
pub use slot::KeyedSlot;

/// The number of rows whose items' slots are looked up at once.
const BLOCK_ROWS: usize = 256;

/// A slot for each of the keys 0 to K - 1: a sum, moments, extrema or another [slot](KeyedSlot) of the key's items.
///
/// The slots depend only on which items each key has: not on the order of the items, nor on how they are divided among threads, calls
/// or merged slots. Each key initially takes this many bytes:
///
/// | slot | bytes | |
/// |---|---|---|
/// | [`Sum`](crate::Sum) | 16 | |
/// | [`Mean`](crate::Mean) | 24 | counts items |
/// | [`ProductSum`](crate::ProductSum) | 32 | |
/// | [`WeightedMean`](crate::WeightedMean) | 48 | |
/// | [`Moments`](crate::Moments) | 56 | counts items |
/// | [`CoMoments`](crate::CoMoments) | 136 | counts items |
/// | [`Powers`](crate::Powers) | 144 | counts items |
/// | [`Extrema`](crate::Extrema) | 16 | items cannot be removed |
/// | [`IntegerSum`](crate::IntegerSum) | 32 | |
/// | [`IntegerMoments`](crate::IntegerMoments) | 56 | |
///
/// If items span more than about 50 binary places, each of a slot's numbers takes 16 bytes more for each further 32 places, for every key.
/// `Powers` take about 100 bytes more for each further 21 places, but only for keys with items in these places. A key with a NaN or an
/// infinity takes 60 bytes more, or 120 with squares. A key with products beyond the range of doubles takes about 1,100 bytes more.
///
/// ```
/// use exact_sum::{Keyed, Moments, Sum};
///
/// let mut sums = Keyed::<Sum<f64>>::new(3)?;
/// sums.add(&[0, 2, 0, 2, 0_u8], &[1e300, 0.1, 1.0, 0.2, -1e300])?;
/// assert_eq!(sums.values(), [1.0, 0.0, 0.1 + 0.2]);
///
/// let mut moments = Keyed::<Moments<f64>>::new(2)?;
/// moments.add(&[0, 1, 0, 0_u8], &[1e8 + 1.0, 7.0, 1e8 + 2.0, 1e8 + 6.0])?;
/// assert_eq!(moments.get(0).mean(), 1e8 + 3.0);
/// assert_eq!(moments.get(0).variance(1.0), 7.0);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Keyed<S: KeyedSlot> {
    keys: usize,
    /// The number of slots of a key.
    width: usize,
    pub(crate) columns: S::Columns,
}

impl<S: KeyedSlot> Keyed<S> {
    /// Creates a slot without items for each of `keys` keys.
    ///
    /// # Errors
    /// There is no memory for the slots.
    pub fn new(keys: usize) -> Result<Self, LimitError> {
        Self::of_rows(keys, 1)
    }

    /// Creates slots for items that are rows of `width` numbers: each key has a slot for each column.
    ///
    /// ```
    /// use exact_sum::{Keyed, Sum};
    ///
    /// let mut sums = Keyed::<Sum<f64>>::of_rows(2, 3)?;
    /// sums.add(&[1, 0, 1_u8], &[1e300, 1.0, 0.1, 2.0, 2.0, 2.0, -1e300, 3.0, 0.2])?;
    /// assert_eq!(sums.values(), [2.0, 2.0, 2.0, 0.0, 4.0, 0.1 + 0.2]);
    /// # Ok::<(), exact_sum::KeyError>(())
    /// ```
    ///
    /// # Panics
    /// `width` is 0.
    ///
    /// # Errors
    /// There is no memory for the slots.
    pub fn of_rows(keys: usize, width: usize) -> Result<Self, LimitError> {
        assert_ne!(width, 0, "`width` must be at least 1");
        // A slot takes at least 16 bytes.
        let bytes = [keys, width, 16].iter().fold(1, |bytes: u128, factor| {
            bytes.saturating_mul(*factor as u128)
        });
        if bytes > isize::MAX as u128 {
            return Err(LimitError::Memory { bytes });
        }
        Ok(Self {
            keys,
            width,
            columns: S::Columns::new(S::LAYOUT, keys * width)?,
        })
    }

    fn of_columns(keys: usize, columns: S::Columns) -> Self {
        Self {
            keys,
            width: 1,
            columns,
        }
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// The number of items in a row, which is also the number of slots of a key.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    fn slots(&self) -> usize {
        self.keys * self.width
    }

    /// Grows to at least `keys` keys.
    ///
    /// # Errors
    /// There is no memory for the new slots.
    pub fn grow(&mut self, keys: usize) -> Result<(), LimitError> {
        if keys > self.keys {
            let slots = keys.saturating_mul(self.width);
            self.columns.reserve(slots)?;
            self.columns.grow(slots);
            self.keys = keys;
        }
        Ok(())
    }

    /// Removes the first `keys` keys; the remaining keys are renumbered from 0.
    ///
    /// # Panics
    /// There are fewer than `keys` keys.
    pub fn forget_first(&mut self, keys: usize) {
        self.columns.forget_first(keys * self.width);
        self.keys -= keys;
    }

    /// The number of bytes that are allocated.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.columns.memory()
    }

    /// Adds items to the slots of their keys. Rows are stored one after the other.
    ///
    /// # Panics
    /// The items are two slices that differ in length, or they are not whole rows.
    ///
    /// # Errors
    /// There are not as many keys as items, a key has no slot, there would be more than 2^63 - 1 items, or there is no memory.
    /// A failed call changes no slot.
    pub fn add<K: Key>(&mut self, keys: &[K], items: S::Items<'_>) -> Result<(), KeyError> {
        self.add_at(Level::best(), keys, items)
    }

    /// Does what [`add`](Self::add) does, with the instruction set `level`.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub fn add_at<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: S::Items<'_>,
    ) -> Result<(), KeyError> {
        self.columns.check_room(S::by_column(items))?;
        self.change_rows(level, keys, items, false)
    }

    /// Removes items that were added with these keys.
    ///
    /// # Panics
    /// Those of [`add`](Self::add).
    ///
    /// # Errors
    /// Those of [`add`](Self::add), as [`RemoveKeyedError::Key`]; a key has fewer items than are removed (if the slot counts them), or
    /// fewer NaNs or infinities; or slots of this kind cannot remove items. A failed call changes no slot. The removal of other items that
    /// were never added is not detected. For rows, the key in an error is the number of a slot: the key times the width of rows, plus the
    /// column.
    pub fn remove<K: Key>(
        &mut self,
        keys: &[K],
        items: S::Items<'_>,
    ) -> Result<(), RemoveKeyedError> {
        if !S::TAKES_BACK {
            return Err(RemoveKeyedError::Never);
        }
        self.check_rows(keys, items)
            .map_err(RemoveKeyedError::Key)?;
        let of_columns = S::by_column(items);
        self.columns.check_room(of_columns)?;
        if self.width == 1 {
            self.columns.check_held(keys, of_columns)?;
        } else {
            let places: Vec<usize> = places(keys, self.width).collect();
            self.columns.check_held(&places, of_columns)?;
        }
        let removed = self.change_rows(Level::best(), keys, items, true);
        removed.map_err(RemoveKeyedError::Key)
    }

    fn check_rows<K: Key>(&self, keys: &[K], items: S::Items<'_>) -> Result<(), KeyError> {
        let (count, width) = (items.count(), self.width);
        assert!(
            count.is_multiple_of(width),
            "{count} items are not whole rows of {width}"
        );
        key::check(keys, count / width, self.keys)
    }

    /// Adds rows of items, or removes them.
    fn change_rows<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: S::Items<'_>,
        removes: bool,
    ) -> Result<(), KeyError> {
        if self.width == 1 {
            return self.change(level, keys, items, removes);
        }
        self.check_rows(keys, items)?;
        let mut first = 0;
        for keys in keys.chunks(BLOCK_ROWS) {
            let places: Vec<usize> = places(keys, self.width).collect();
            let end = first + places.len();
            self.change(level, &places, items.part(first..end), removes)?;
            first = end;
        }
        Ok(())
    }

    /// Adds items to slots, or removes them. If a key is out of range, all changes are undone.
    fn change<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: S::Items<'_>,
        removes: bool,
    ) -> Result<(), KeyError> {
        let (count, slots) = (items.count(), self.slots());
        key::check_lengths(keys, count)?;
        if !S::TAKES_BACK {
            key::check(keys, count, slots)?;
        }
        let mut decoded = Decoded::none();
        for (number, block) in keys.chunks(DECODED_ITEMS).enumerate() {
            let first = number * DECODED_ITEMS;
            if let Err(error) = key::check_block(block, first, slots) {
                self.change(level, &keys[..first], items.part(0..first), !removes)?;
                return Err(error);
            }
            prefetch_after(block);
            let items = S::by_column(items.part(first..first + block.len()));
            self.columns
                .change(level, block, items, removes, &mut decoded);
        }
        Ok(())
    }

    /// The number of items of each slot, if they are counted.
    #[must_use]
    pub fn counts(&self) -> Option<&[u64]> {
        self.columns.counts()
    }

    /// A key's slot. If it is a [`Sum`](crate::Sum), [`ProductSum`](crate::ProductSum) or [`WeightedMean`](crate::WeightedMean), its
    /// number of items is not known, and a sum of zeros is +0.0.
    ///
    /// # Panics
    /// There is no such slot.
    #[must_use]
    pub fn get(&self, slot: usize) -> S {
        self.check_slot(slot);
        S::of_key(&self.columns, slot)
    }

    fn check_slot(&self, slot: usize) {
        assert!(slot < self.slots(), "there is no slot {slot}");
    }

    /// A statistic of a key's items, rounded once; `None` if the slot does not have the statistic.
    ///
    /// # Panics
    /// There is no such slot.
    #[must_use]
    pub fn statistic(
        &self,
        slot: usize,
        statistic: Statistic,
        options: Options,
    ) -> Option<S::Item> {
        self.check_slot(slot);
        S::statistic_of(&self.columns, slot, statistic, options)
    }

    /// A statistic of all keys: see [`statistic`](Self::statistic).
    #[must_use]
    pub fn statistics(&self, statistic: Statistic, options: Options) -> Option<Vec<S::Item>> {
        S::statistics(&self.columns, self.slots(), statistic, options)
    }

    /// The slot's main statistic, rounded once: a sum, a dot product, a mean, a weighted mean, a covariance, a skewness or a minimum.
    ///
    /// # Panics
    /// There is no such slot.
    #[must_use]
    pub fn value(&self, slot: usize) -> S::Item {
        let value = self.statistic(slot, S::VALUE, S::VALUE.defaults());
        value.expect(OF_THE_SLOT)
    }

    /// The values of all keys: see [`value`](Self::value).
    #[must_use]
    pub fn values(&self) -> Vec<S::Item> {
        let values = self.statistics(S::VALUE, S::VALUE.defaults());
        values.expect(OF_THE_SLOT)
    }
}

const OF_THE_SLOT: &str = "the slot has this statistic";

/// Two `Keyed` are equal if they have the same number of keys, rows of the same width, and equal slots for each key.
impl<S: KeyedSlot> PartialEq for Keyed<S> {
    fn eq(&self, other: &Self) -> bool {
        let is_equal = |slot| self.get(slot) == other.get(slot);
        (self.keys, self.width) == (other.keys, other.width) && (0..self.slots()).all(is_equal)
    }
}

impl<S: KeyedSlot> Eq for Keyed<S> {}

fn places<K: Key>(keys: &[K], width: usize) -> impl Iterator<Item = usize> {
    let rows = keys.iter().map(move |key| key.place() * width);
    rows.flat_map(move |first| first..first + width)
}

/// For each of the keys 0 to `sums` - 1, the exact sum of its items, rounded to nearest.
///
/// ```
/// let sums = exact_sum::by_key(&[1, 0, 1_u32], &[0.1, 5.0, 0.2], 2)?;
/// assert_eq!(sums, [5.0, 0.1 + 0.2]);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
///
/// # Errors
/// Those of [`Keyed::add`].
pub fn by_key<K: Key, T: Float>(keys: &[K], items: &[T], sums: usize) -> Result<Vec<T>, KeyError> {
    check_memory::<T>(sums)?;
    let mut by_key = Keyed::<Sum<T>>::new(sums)?;
    by_key.add(keys, items)?;
    Ok(by_key.values())
}
