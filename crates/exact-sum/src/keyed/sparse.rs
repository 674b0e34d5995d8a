//! Sums by keys of any size between ranks: each key is an entry.

use std::fmt;
use std::hash::Hash;

use super::HashedSums;
use super::entry::{Entries, WrongEntries, write_long, write_short};
use super::key::Key;
use super::wire::add_entry;
use crate::float::Float;

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

/// All keys of sums as entries, dealt out to ranks.
#[must_use]
pub fn to_entries<K: SparseKey, T: Float>(
    sums: &HashedSums<K, T>,
    ranks: usize,
    rank_of: impl Fn(K) -> usize,
) -> Vec<Vec<u64>> {
    let mut lists = vec![Vec::new(); ranks];
    let windows = &sums.sums.windows;
    for (place, &key) in sums.keys().iter().enumerate() {
        let list = &mut lists[rank_of(key)];
        match windows.short(place) {
            Some((integer, unit)) => write_short(key.to_word(), 0, integer, unit, list),
            None => write_long(key.to_word(), 0, &windows.total(place), list),
        }
    }
    lists
}

/// Adds entries to sums.
///
/// # Errors
/// They are not entries.
pub fn add_entries<K: SparseKey, T: Float>(
    sums: &mut HashedSums<K, T>,
    entries: &[u64],
) -> Result<(), WrongEntries> {
    for entry in Entries::of(entries) {
        let entry = entry?;
        let place = sums.code(&K::of_word(entry.key)) as usize;
        sums.sums.grow(sums.keys().len());
        add_entry(&mut sums.sums.windows, &entry, place)?;
    }
    Ok(())
}
