//! Columns that hold a small slot of each key, such as extrema or sums of integers.

use hashbrown::HashMap;
use simd_kernels::Level;

use super::decoded::Decoded;
use super::{Columns, Places};
use crate::bytes::{BytesError, Reader};
use crate::keyed::columns::layout::{Field, Layout};
use crate::keyed::key::Key;
use crate::keyed::message::entry::{Entry, WrongEntries, write_short};
use crate::keyed::message::terms::{Agreed, NO_TERMS, Terms, magnitude, terms_of};
use crate::keyed::remove::RemoveKeyedError;
use crate::number::counters::{LimitError, RemoveError, check_memory, reserve};
use crate::slots::Slot;

/// The largest number of parts of a small slot.
const MOST_PARTS: usize = 5;

/// A slot of a few words.
pub trait Small: Slot + Copy + Send + Sync + 'static {
    /// The number of integers that represent the slot in a message.
    const PARTS: usize;

    /// Whether two slots are merged by adding their integers. Otherwise they are merged by taking the maxima, and items cannot be removed.
    const ADDS: bool = true;

    /// Calls `each` with the index of each item, and with a slot that holds only this item.
    fn each(items: Self::Items<'_>, each: impl FnMut(usize, Self));

    /// Checks that there is room for the items of `other`.
    ///
    /// # Errors
    /// There is no room.
    fn check_room(&self, other: &Self) -> Result<(), LimitError>;

    /// Checks that the slot holds the items of `other`.
    ///
    /// # Errors
    /// The slot holds fewer items.
    fn check_held(&self, other: &Self) -> Result<(), RemoveError>;

    /// Adds the items of `other`, or removes them.
    fn change(&mut self, other: &Self, removes: bool);

    /// Overwrites `integers`, the integers of a slot without items, with the integers of this slot.
    fn write(&self, integers: &mut [i128]);

    /// Adds integer number `part` of a message. Returns false if there is no room for it.
    #[must_use]
    fn add_integer(&mut self, part: usize, integer: i128) -> bool;
}

/// A slot for each key.
#[derive(Clone, Debug)]
pub struct Each<S>(pub(crate) Vec<S>);

impl<S: Small> Each<S> {
    /// The integers of a slot, followed by those of a slot without items.
    pub(crate) fn integers(slot: &S) -> [i128; MOST_PARTS] {
        let mut integers = [empty(S::ADDS); MOST_PARTS];
        slot.write(&mut integers[..S::PARTS]);
        integers
    }

    fn check_slot(&self, key: usize, removed: &S) -> Result<(), RemoveKeyedError> {
        let error = |error| RemoveKeyedError::Fewer { key, error };
        self.0[key].check_held(removed).map_err(error)
    }
}

impl<S: Small> Columns for Each<S> {
    type Items<'i> = S::Items<'i>;

    fn new(_: Layout, keys: usize) -> Result<Self, LimitError> {
        check_memory::<S>(keys)?;
        Ok(Self(vec![S::default(); keys]))
    }

    fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        reserve(&mut self.0, keys)
    }

    fn grow(&mut self, keys: usize) {
        self.0.resize(self.0.len().max(keys), S::default());
    }

    fn forget_first(&mut self, keys: usize) {
        self.0.drain(..keys);
    }

    fn memory(&self) -> usize {
        self.0.capacity() * size_of::<S>()
    }

    fn check_room(&self, _: S::Items<'_>) -> Result<(), LimitError> {
        Ok(())
    }

    fn check_held<K: Key>(&self, keys: &[K], items: S::Items<'_>) -> Result<(), RemoveKeyedError> {
        let mut removed: HashMap<usize, S> = HashMap::new();
        S::each(items, |place, slot| {
            let key = keys[place].place();
            removed.entry(key).or_default().change(&slot, false);
        });
        let mut removed = removed.into_iter();
        removed.try_for_each(|(key, slot)| self.check_slot(key, &slot))
    }

    fn change<K: Key>(
        &mut self,
        _: Level,
        keys: &[K],
        items: S::Items<'_>,
        removes: bool,
        _: &mut Decoded,
    ) {
        S::each(items, |item, slot| {
            self.0[keys[item].place()].change(&slot, removes);
        });
    }

    fn check_room_for(&self, other: &Self, places: Places<'_>) -> Result<(), LimitError> {
        let mut others = other.0.iter().enumerate();
        others.try_for_each(|(key, other)| match self.0.get(places.of(key)) {
            Some(own) => own.check_room(other),
            None => Ok(()),
        })
    }

    fn check_held_of(&self, other: &Self, places: Places<'_>) -> Result<(), RemoveKeyedError> {
        let mut others = other.0.iter().enumerate();
        others.try_for_each(|(key, other)| self.check_slot(places.of(key), other))
    }

    fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
        for (key, other) in other.0.iter().enumerate() {
            self.0[places.of(key)].change(other, removes);
        }
    }

    fn write_rows(&self, rows: &mut [i128], width: usize, terms: &mut [Terms], _: &mut Vec<u64>) {
        let mut bits = [0; MOST_PARTS];
        for (row, slot) in rows.chunks_exact_mut(width).zip(&self.0) {
            row.copy_from_slice(&Self::integers(slot)[..S::PARTS]);
            for (bits, integer) in bits.iter_mut().zip(row) {
                *bits |= magnitude(*integer);
            }
        }
        for (terms, bits) in terms.iter_mut().zip(bits) {
            // Ranks need not agree on a unit for maxima.
            *terms = if S::ADDS {
                terms_of(0, bits, self.0.len(), false)
            } else {
                NO_TERMS
            };
        }
    }

    fn read_rows(_: Layout, rows: &[i128], width: usize, _: &[Agreed]) -> Self {
        let slot = |row: &[i128]| {
            let mut slot = S::default();
            for (part, integer) in row.iter().enumerate() {
                let is_added = slot.add_integer(part, *integer);
                assert!(is_added, "the terms show that there is room");
            }
            slot
        };
        Self(rows.chunks_exact(width).map(slot).collect())
    }

    fn write_key(&self, key: usize, word: u64, list: &mut Vec<u64>) {
        let integers = Self::integers(&self.0[key]);
        for (part, integer) in integers[..S::PARTS].iter().enumerate() {
            write_short(word, part, *integer, 0, list);
        }
    }

    fn add_entry(&mut self, entry: &Entry<'_>, key: usize) -> Result<(), WrongEntries> {
        let integer = integer(entry)?;
        let is_added = entry.part < S::PARTS && self.0[key].add_integer(entry.part, integer);
        is_added.then_some(()).ok_or(NO_SUCH_INTEGER)
    }

    fn merge_entries(
        _: Layout,
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries> {
        let mut all = empty(S::ADDS);
        for entry in same {
            all = combined(S::ADDS, all, integer(entry)?);
        }
        let (key, part) = same[0].place();
        write_short(key, part, all, 0, into);
        Ok(())
    }

    fn fields(_: Layout) -> Vec<Field> {
        vec![Field::Bytes(size_of::<i128>() * S::PARTS)]
    }

    fn write(&self, key: usize, bytes: &mut Vec<u8>) {
        let integers = Self::integers(&self.0[key]);
        let integers = integers[..S::PARTS].iter();
        bytes.extend(integers.flat_map(|integer| integer.to_le_bytes()));
    }

    fn read(
        &mut self,
        key: usize,
        reader: &mut Reader<'_>,
        _: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        for part in 0..S::PARTS {
            let integer = i128::from_le_bytes(reader.array()?);
            if !self.0[key].add_integer(part, integer) {
                let what = "an integer is too large";
                return Err(BytesError::Corrupted { what });
            }
        }
        Ok(())
    }
}

/// The integer that stands for no items: 0 if integers of messages are added, the least integer if their maximum is taken.
#[must_use]
pub fn empty(adds: bool) -> i128 {
    if adds { 0 } else { i128::MIN }
}

/// Combines the integers of two messages.
#[inline]
#[must_use]
pub fn combined(adds: bool, left: i128, right: i128) -> i128 {
    if adds {
        left.wrapping_add(right)
    } else {
        left.max(right)
    }
}

const NO_SUCH_INTEGER: WrongEntries = WrongEntries("an integer of a key is invalid");

fn integer(entry: &Entry<'_>) -> Result<i128, WrongEntries> {
    match entry.short() {
        Some((integer, 0)) => Ok(integer),
        _ => Err(NO_SUCH_INTEGER),
    }
}
