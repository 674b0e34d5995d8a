//! The columns that hold the slots of all keys: a column holds one number of each key.

pub(crate) mod counts;
pub(crate) mod decoded;
pub(crate) mod each;
pub(crate) mod higher;
pub(crate) mod products;
pub(crate) mod tables;
pub(crate) mod totals;

use std::fmt;

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

/// Columns of numbers, one of each key, which are merged key by key.
pub trait Columns: Clone + fmt::Debug + Send + Sync + 'static {
    /// The number of integers that a key has in a message.
    const PARTS: usize;

    /// Columns of no items.
    ///
    /// # Errors
    /// There is no memory for the columns.
    fn new(keys: usize) -> Result<Self, LimitError>;

    /// Reserves memory for `keys` keys.
    ///
    /// # Errors
    /// There is no memory.
    fn reserve(&mut self, keys: usize) -> Result<(), LimitError>;

    /// Grows to at least `keys` keys.
    fn grow(&mut self, keys: usize);

    /// Removes the first `keys` keys; the remaining keys are renumbered from 0.
    fn forget_first(&mut self, keys: usize);

    /// The number of bytes that are allocated.
    fn memory(&self) -> usize;

    /// Makes room for other columns' numbers.
    ///
    /// # Errors
    /// There is no room, or no memory. Nothing has changed then.
    fn make_room(&mut self, _other: &Self, _places: Places<'_>) -> Result<(), LimitError> {
        Ok(())
    }

    /// Checks that keys hold the items of other columns' keys, as far as items are counted.
    ///
    /// # Errors
    /// A key holds fewer items.
    fn check_held(&self, _other: &Self, _places: Places<'_>) -> Result<(), RemoveKeyedError> {
        Ok(())
    }

    /// Adds other columns' numbers, or subtracts them. There is room for them.
    fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool);

    /// Writes each key's integers, in these columns' own units, and their terms, both from part `first` on. Writes entries for numbers
    /// that are not a single integer.
    fn write<R: AsMut<[i128]>>(
        &self,
        first: usize,
        rows: &mut [R],
        terms: &mut [Terms],
        entries: &mut Vec<u64>,
    );

    /// Reads columns from rows that were added up, from part `first` on.
    fn read<R: AsRef<[i128]>>(rows: &[R], first: usize, agreed: &[Agreed]) -> Self;

    /// Writes entries for all numbers of a key. In the entries, `word` stands for the key.
    fn write_key(&self, key: usize, word: u64, first: usize, list: &mut Vec<u64>);

    /// Adds an entry of a part to a key.
    ///
    /// # Errors
    /// The entry does not fit these columns.
    fn add_entry(&mut self, part: usize, entry: &Entry<'_>, key: usize)
    -> Result<(), WrongEntries>;

    /// Merges all entries of a part of a key, and writes one.
    ///
    /// # Errors
    /// The entries are not of such columns.
    fn merge_entries(
        part: usize,
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries>;

    /// An upper bound on the number of items of a key, if the columns need one; otherwise 0.
    fn items(&self) -> u64 {
        0
    }

    /// Raises the bound that [`items`](Self::items) returns to at least this many items.
    fn raise_items(&mut self, _items: u64) {}
}

/// Several columns, one after another.
macro_rules! columns {
    ($($column:ident $index:tt),+) => {
        impl<$($column: Columns),+> Columns for ($($column,)+) {
            const PARTS: usize = 0 $(+ $column::PARTS)+;

            fn new(keys: usize) -> Result<Self, LimitError> {
                Ok(($($column::new(keys)?,)+))
            }

            fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
                $(self.$index.reserve(keys)?;)+
                Ok(())
            }

            fn grow(&mut self, keys: usize) {
                $(self.$index.grow(keys);)+
            }

            fn forget_first(&mut self, keys: usize) {
                $(self.$index.forget_first(keys);)+
            }

            fn memory(&self) -> usize {
                0 $(+ self.$index.memory())+
            }

            fn make_room(&mut self, other: &Self, places: Places<'_>) -> Result<(), LimitError> {
                $(self.$index.make_room(&other.$index, places)?;)+
                Ok(())
            }

            fn check_held(&self, other: &Self, places: Places<'_>) -> Result<(), RemoveKeyedError> {
                $(self.$index.check_held(&other.$index, places)?;)+
                Ok(())
            }

            fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
                $(self.$index.merge(&other.$index, places, removes);)+
            }

            fn write<R: AsMut<[i128]>>(
                &self,
                first: usize,
                rows: &mut [R],
                terms: &mut [Terms],
                entries: &mut Vec<u64>,
            ) {
                let mut part = first;
                $(
                    self.$index.write(part, rows, terms, entries);
                    part += $column::PARTS;
                )+
                debug_assert_eq!(part, first + Self::PARTS, "all parts are written");
            }

            fn read<R: AsRef<[i128]>>(rows: &[R], first: usize, agreed: &[Agreed]) -> Self {
                let mut part = first;
                let mut next = |parts: usize| {
                    part += parts;
                    part - parts
                };
                ($($column::read(rows, next($column::PARTS), agreed),)+)
            }

            fn write_key(&self, key: usize, word: u64, first: usize, list: &mut Vec<u64>) {
                let mut part = first;
                $(
                    self.$index.write_key(key, word, part, list);
                    part += $column::PARTS;
                )+
                debug_assert_eq!(part, first + Self::PARTS, "all parts are written");
            }

            fn add_entry(
                &mut self,
                part: usize,
                entry: &Entry<'_>,
                key: usize,
            ) -> Result<(), WrongEntries> {
                let mut part = part;
                $(
                    if part < $column::PARTS {
                        return self.$index.add_entry(part, entry, key);
                    }
                    part -= $column::PARTS;
                )+
                Err(no_such_part(part))
            }

            fn merge_entries(
                part: usize,
                same: &[Entry<'_>],
                into: &mut Vec<u64>,
            ) -> Result<(), WrongEntries> {
                let mut part = part;
                $(
                    if part < $column::PARTS {
                        return $column::merge_entries(part, same, into);
                    }
                    part -= $column::PARTS;
                )+
                Err(no_such_part(part))
            }

            fn items(&self) -> u64 {
                0 $(.max(self.$index.items()))+
            }

            fn raise_items(&mut self, items: u64) {
                $(self.$index.raise_items(items);)+
            }
        }
    };
}

columns!(A 0, B 1);
columns!(A 0, B 1, C 2);

fn no_such_part(_: usize) -> WrongEntries {
    WrongEntries("the number of a part is out of range")
}
