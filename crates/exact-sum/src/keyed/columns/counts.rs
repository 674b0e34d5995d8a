//! Counts the items of each key.

use super::Places;
use crate::keyed::key::Key;
use crate::keyed::message::entry::{Entry, WrongEntries, write_short};
use crate::keyed::message::terms::{Terms, magnitude, terms_of};
use crate::keyed::remove::{RemoveKeyedError, check_count};
use crate::number::counters::{LimitError, check_memory, items_of_both, reserve};

/// The number of items of each key. For the methods, see [`Columns`](super::Columns).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts(pub(crate) Vec<u64>);

impl Counts {
    /// Counts the items of a block, or subtracts them from the counts.
    #[inline]
    pub(crate) fn change<K: Key>(&mut self, keys: &[K], removes: bool) {
        let one = if removes { u64::MAX } else { 1 };
        for key in keys {
            let count = &mut self.0[key.place()];
            *count = count.wrapping_add(one);
        }
    }

    pub(crate) fn new(keys: usize) -> Result<Self, LimitError> {
        check_memory::<u64>(keys)?;
        Ok(Self(vec![0; keys]))
    }

    pub(crate) fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        reserve(&mut self.0, keys)
    }

    pub(crate) fn grow(&mut self, keys: usize) {
        self.0.resize(self.0.len().max(keys), 0);
    }

    pub(crate) fn forget_first(&mut self, keys: usize) {
        self.0.drain(..keys);
    }

    pub(crate) fn memory(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }

    pub(crate) fn check_held_of(
        &self,
        other: &Self,
        places: Places<'_>,
    ) -> Result<(), RemoveKeyedError> {
        let mut others = other.0.iter().enumerate();
        others.try_for_each(|(key, count)| {
            let key = places.of(key);
            check_count(key, self.0[key], *count)
        })
    }

    pub(crate) fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
        for (key, count) in other.0.iter().enumerate() {
            let own = &mut self.0[places.of(key)];
            *own = if removes { *own - count } else { *own + count };
        }
    }

    /// Writes the counts as part 0 of the rows.
    pub(crate) fn write_rows(&self, rows: &mut [i128], width: usize, terms: &mut [Terms]) {
        let mut bits = 0;
        for (row, count) in rows.chunks_exact_mut(width).zip(&self.0) {
            row[0] = (*count).into();
            bits |= magnitude(row[0]);
        }
        terms[0] = terms_of(0, bits, self.0.len(), false);
    }

    /// The counts from the integers of a message, whose unit is always 1.
    pub(crate) fn of_integers(integers: impl Iterator<Item = i128>) -> Self {
        let count = |integer| {
            let count = u64::try_from(integer);
            count.expect("the terms bound the number of items")
        };
        Self(integers.map(count).collect())
    }

    pub(crate) fn write_key(&self, key: usize, word: u64, first: usize, list: &mut Vec<u64>) {
        write_short(word, first, self.0[key].into(), 0, list);
    }

    pub(crate) fn add_entry(&mut self, entry: &Entry<'_>, key: usize) -> Result<(), WrongEntries> {
        let count = entry.short().filter(|(_, unit)| *unit == 0);
        let count = count.and_then(|(count, _)| u64::try_from(count).ok());
        let own = &mut self.0[key];
        let both = count.and_then(|count| items_of_both(*own, count).ok());
        *own = both.ok_or(WrongEntries("the count of a key is invalid"))?;
        Ok(())
    }

    pub(crate) fn merge_entries(
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries> {
        let mut sum = Self(vec![0]);
        for entry in same {
            sum.add_entry(entry, 0)?;
        }
        let (key, part) = same[0].place();
        sum.write_key(0, key, part, into);
        Ok(())
    }
}
