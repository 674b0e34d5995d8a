//! Holds the slots of all keys in columns. A column holds one number of each key.

pub(crate) mod counts;
pub(crate) mod decoded;
pub(crate) mod each;
pub(crate) mod higher;
pub(crate) mod layout;
pub(crate) mod products;
pub(crate) mod sums;
pub(crate) mod tables;
pub(crate) mod totals;

use std::fmt;

use simd_kernels::Level;

use self::decoded::Decoded;
use self::layout::{Field, Layout};
use crate::bytes::{BytesError, Reader};
use crate::keyed::key::Key;
use crate::keyed::message::entry::{Entry, WrongEntries};
use crate::keyed::message::terms::{Agreed, Terms};
use crate::keyed::remove::RemoveKeyedError;
use crate::number::counters::LimitError;

/// Maps the keys of other columns to keys of these columns.
#[derive(Clone, Copy, Debug)]
pub enum Places<'p> {
    /// Each key to the key with the same number.
    Same,
    /// Key number i of the other columns to the i-th of these keys.
    At(&'p [u32]),
}

impl Places<'_> {
    #[inline]
    pub(crate) fn of(self, key: usize) -> usize {
        match self {
            Self::Same => key,
            Self::At(places) => places[key] as usize,
        }
    }
}

/// The columns of a slot, which are merged key by key.
pub trait Columns: Clone + fmt::Debug + Send + Sync + 'static {
    /// The items that are added.
    type Items<'i>: Copy;

    /// Columns of no items.
    ///
    /// # Errors
    /// There is no memory for the columns.
    fn new(layout: Layout, keys: usize) -> Result<Self, LimitError>;

    /// Reserves memory for `keys` keys.
    ///
    /// # Errors
    /// There is no memory for them.
    fn reserve(&mut self, keys: usize) -> Result<(), LimitError>;

    /// Grows to at least `keys` keys.
    fn grow(&mut self, keys: usize);

    /// Removes the first `keys` keys; the remaining keys are renumbered from 0.
    fn forget_first(&mut self, keys: usize);

    /// The number of bytes that are allocated.
    fn memory(&self) -> usize;

    /// Checks that there is room for these items, whatever their keys.
    ///
    /// # Errors
    /// There is no room, or no memory.
    fn check_room(&self, items: Self::Items<'_>) -> Result<(), LimitError>;

    /// Checks that the keys hold at least as many items, NaNs and infinities as are to be removed.
    ///
    /// # Errors
    /// A key holds fewer of them.
    fn check_held<K: Key>(
        &self,
        keys: &[K],
        items: Self::Items<'_>,
    ) -> Result<(), RemoveKeyedError>;

    /// Adds or removes the items of a block, whose keys have been checked.
    fn change<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: Self::Items<'_>,
        removes: bool,
        decoded: &mut Decoded,
    );

    /// The number of items of each key, if they are counted.
    fn counts(&self) -> Option<&[u64]> {
        None
    }

    /// Checks that there is room for other columns' numbers.
    ///
    /// # Errors
    /// There is no room, or no memory.
    fn check_room_for(&self, other: &Self, places: Places<'_>) -> Result<(), LimitError>;

    /// Checks that the keys hold at least as many items as the keys of `other`, as far as items are counted.
    ///
    /// # Errors
    /// A key holds fewer items.
    fn check_held_of(&self, other: &Self, places: Places<'_>) -> Result<(), RemoveKeyedError>;

    /// Adds other columns' numbers, or subtracts them. The caller has checked that there is room.
    fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool);

    /// Writes each key's integers to rows of `width` integers, in these columns' own units. Also writes the terms of each part, and entries
    /// for numbers that do not fit one integer.
    fn write_rows(
        &self,
        rows: &mut [i128],
        width: usize,
        terms: &mut [Terms],
        entries: &mut Vec<u64>,
    );

    /// Reads columns from rows that were added up over all ranks.
    fn read_rows(layout: Layout, rows: &[i128], width: usize, agreed: &[Agreed]) -> Self;

    /// Writes entries for all numbers of a key. In the entries, the key is written as `word`.
    fn write_key(&self, key: usize, word: u64, list: &mut Vec<u64>);

    /// Adds an entry to a key.
    ///
    /// # Errors
    /// The entry does not fit these columns.
    fn add_entry(&mut self, entry: &Entry<'_>, key: usize) -> Result<(), WrongEntries>;

    /// Merges all entries of one part of a key into a single entry.
    ///
    /// # Errors
    /// The entries do not fit columns of this layout.
    fn merge_entries(
        layout: Layout,
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries>;

    /// An upper bound on the number of items of a key, if the columns need one; otherwise 0.
    fn items(&self) -> u64 {
        0
    }

    /// Raises the bound that [`items`](Self::items) returns to at least this many items.
    fn raise_items(&mut self, _items: u64) {}

    /// The fields of a key's bytes.
    fn fields(layout: Layout) -> Vec<Field>;

    /// Writes a key's fields.
    fn write(&self, key: usize, bytes: &mut Vec<u8>);

    /// Reads a key's fields. `is_common` returns whether many keys have a certain word of a field's number, given the index of the field
    /// and the exponent of the word.
    ///
    /// # Errors
    /// The fields are not those of any items.
    fn read(
        &mut self,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError>;
}
