//! Exchanges sums by key between ranks, for arbitrary 64-bit keys. All numbers are sent as entries.

use std::fmt;
use std::hash::Hash;

use super::super::columns::Columns;
use super::super::message::entry::{Entries, WrongEntries};
use super::super::{Hashed, Key, KeyedSlot};
use crate::number::counters::{LimitError, items_of_both};

/// Keys that ranks send each other: integers of 64 bits.
pub trait SparseKey: Key + Hash + Ord + fmt::Debug + 'static {
    #[doc(hidden)]
    fn to_word(self) -> u64;

    #[doc(hidden)]
    fn of_word(word: u64) -> Self;
}

impl SparseKey for u64 {
    fn to_word(self) -> u64 {
        self
    }

    fn of_word(word: u64) -> Self {
        word
    }
}

impl SparseKey for i64 {
    fn to_word(self) -> u64 {
        self.cast_unsigned()
    }

    fn of_word(word: u64) -> Self {
        word.cast_signed()
    }
}

/// The kind of slot and the types of keys and items, as text that ranks compare.
#[must_use]
pub fn name<K: SparseKey, S: KeyedSlot>() -> String {
    let key = std::any::type_name::<K>();
    format!("keys of {key}, {}", S::name())
}

/// A rank that has at most its share of this number of items need not report its number of items.
const FEW_ITEMS: u64 = 1 << 60;

/// A rank's share of [`FEW_ITEMS`].
fn few(ranks: usize) -> u64 {
    FEW_ITEMS / ranks as u64
}

/// The slots of all keys as entries, in one list for each rank. The first word of a list is an upper bound on the number of items of a key.
/// If this rank has more items than its share, no list is empty. Otherwise a list without keys is empty.
#[must_use]
pub fn to_entries<K: SparseKey, S: KeyedSlot>(
    slots: &Hashed<K, S>,
    ranks: usize,
    rank_of: impl Fn(K) -> usize,
) -> Vec<Vec<u64>> {
    let columns = &slots.slots.columns;
    let items = columns.items();
    let first = if items > few(ranks) {
        &[items][..]
    } else {
        &[]
    };
    let mut lists = vec![first.to_vec(); ranks];
    let known = slots.keys().iter().take(slots.slots.keys());
    for (place, &key) in known.enumerate() {
        let list = &mut lists[rank_of(key)];
        if list.is_empty() {
            list.push(items);
        }
        columns.write_key(place, key.to_word(), list);
    }
    lists
}

/// Checks that a sum has room for the items of all ranks. Every rank receives each count that exceeds a share, so all ranks agree.
///
/// # Errors
/// The ranks may have more than 2^63 - 1 items together, since the ranks above their share alone have more than 2^63 - 2^60 - 1.
pub fn check_items(lists: &[Vec<u64>]) -> Result<(), LimitError> {
    let items = lists.iter().filter_map(|list| list.first());
    let large = items.filter(|&&items| items > few(lists.len()));
    let all = large.fold(0_u64, |all, items| all.saturating_add(*items));
    items_of_both(all, FEW_ITEMS).map(drop)
}

/// Adds the entries of a list to slots.
///
/// # Errors
/// The list is damaged, or there is no memory for its keys.
pub fn add_entries<K: SparseKey, S: KeyedSlot>(
    slots: &mut Hashed<K, S>,
    list: &[u64],
) -> Result<(), WrongEntries> {
    let Some((items, entries)) = list.split_first() else {
        return Ok(());
    };
    let columns = &mut slots.slots.columns;
    columns.raise_items(columns.items().saturating_add(*items));
    for entry in Entries::of(entries) {
        let entry = entry?;
        let place = slots.code(&K::of_word(entry.key)) as usize;
        let grown = slots.slots.grow(slots.keys().len());
        grown.map_err(|_| WrongEntries("there is no memory for this many keys"))?;
        slots.slots.columns.add_entry(&entry, place)?;
    }
    Ok(())
}
