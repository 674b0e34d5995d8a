//! Sums by keys of any size between ranks: each key is an entry.

use std::fmt;
use std::hash::Hash;

use super::entry::{Entries, WrongEntries, write_long, write_short};
use super::wire::add_entry;
use crate::keyed::HashedSums;
use crate::keyed::key::Key;
use crate::number::counters::{LimitError, items_of_both};
use crate::number::float::Float;

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

/// What they are, with the types of keys and items: ranks compare it.
#[must_use]
pub fn name<K: SparseKey, T: Float>() -> String {
    let key = std::any::type_name::<K>();
    format!("exact sum by keys of {key} of {}", T::NAME)
}

/// A rank with at most its share of so many items need not tell the others how many it has.
const FEW_ITEMS: u64 = 1 << 60;

/// The share of a rank.
fn few(ranks: usize) -> u64 {
    FEW_ITEMS / ranks as u64
}

/// All keys of sums as entries, dealt out to ranks. The first word of a list is a number that no key has more items than. Of a rank with more
/// items than its share, no list is empty; of another one, those of ranks that get no key are.
#[must_use]
pub fn to_entries<K: SparseKey, T: Float>(
    sums: &HashedSums<K, T>,
    ranks: usize,
    rank_of: impl Fn(K) -> usize,
) -> Vec<Vec<u64>> {
    let totals = &sums.sums.totals;
    let is_told = totals.items > few(ranks);
    let first = if is_told { &[totals.items][..] } else { &[] };
    let mut lists = vec![first.to_vec(); ranks];
    for (place, &key) in sums.keys().iter().enumerate().take(totals.len()) {
        let list = &mut lists[rank_of(key)];
        if list.is_empty() {
            list.push(totals.items);
        }
        match totals.short(place) {
            Some((integer, unit)) => write_short(key.to_word(), 0, integer, unit, list),
            None => write_long(key.to_word(), 0, &totals.total(place), list),
        }
    }
    lists
}

/// Whether a sum has room for the items of all ranks. Every rank gets all numbers that are above a share, so all ranks find the same.
///
/// # Errors
/// They may have more than 2^63 - 1: those that are not small have more than 2^63 - 2^60 - 1.
pub fn check_items(lists: &[Vec<u64>]) -> Result<(), LimitError> {
    let items = lists.iter().filter_map(|list| list.first());
    let large = items.filter(|&&items| items > few(lists.len()));
    let all = large.fold(0_u64, |all, items| all.saturating_add(*items));
    items_of_both(all, FEW_ITEMS).map(drop)
}

/// Adds a list to sums.
///
/// # Errors
/// They are not entries.
pub fn add_entries<K: SparseKey, T: Float>(
    sums: &mut HashedSums<K, T>,
    list: &[u64],
) -> Result<(), WrongEntries> {
    let Some((items, entries)) = list.split_first() else {
        return Ok(());
    };
    let totals = &mut sums.sums.totals;
    totals.items = totals.items.saturating_add(*items);
    for entry in Entries::of(entries) {
        let entry = entry?;
        let place = sums.code(&K::of_word(entry.key)) as usize;
        let keys = sums.keys().len();
        sums.sums.totals.grow(keys);
        add_entry(&mut sums.sums.totals, &entry, place)?;
    }
    Ok(())
}
