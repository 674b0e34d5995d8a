//! The number of items of each key.

use super::{Columns, Places};
use crate::keyed::key::Key;
use crate::keyed::message::entry::{Entry, WrongEntries, write_short};
use crate::keyed::message::terms::{Agreed, Terms, magnitude, terms_of};
use crate::keyed::remove::{RemoveKeyedError, check_count};
use crate::number::counters::{LimitError, check_memory, items_of_both, reserve};

/// The number of items of each key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts(pub(crate) Vec<u64>);

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
}

impl Columns for Counts {
    const PARTS: usize = 1;

    fn new(keys: usize) -> Result<Self, LimitError> {
        check_memory::<u64>(keys)?;
        Ok(Self(vec![0; keys]))
    }

    fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        reserve(&mut self.0, keys)
    }

    fn grow(&mut self, keys: usize) {
        self.0.resize(self.0.len().max(keys), 0);
    }

    fn forget_first(&mut self, keys: usize) {
        self.0.drain(..keys);
    }

    fn memory(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }

    fn check_held(&self, other: &Self, places: Places<'_>) -> Result<(), RemoveKeyedError> {
        let mut others = other.0.iter().enumerate();
        others.try_for_each(|(key, count)| {
            let key = places.of(key);
            check_count(key, self.0[key], *count)
        })
    }

    fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
        for (key, count) in other.0.iter().enumerate() {
            let own = &mut self.0[places.of(key)];
            *own = if removes { *own - count } else { *own + count };
        }
    }

    fn write<R: AsMut<[i128]>>(
        &self,
        first: usize,
        rows: &mut [R],
        terms: &mut [Terms],
        _: &mut Vec<u64>,
    ) {
        let mut bits = 0;
        for (row, count) in rows.iter_mut().zip(&self.0) {
            let count = i128::from(*count);
            row.as_mut()[first] = count;
            bits |= magnitude(count);
        }
        terms[first] = terms_of(0, bits, rows.len(), false);
    }

    fn read<R: AsRef<[i128]>>(rows: &[R], first: usize, _: &[Agreed]) -> Self {
        // The unit is 1 on all ranks.
        let count = |row: &R| {
            let count = u64::try_from(row.as_ref()[first]);
            count.expect("the terms bound the number of items")
        };
        Self(rows.iter().map(count).collect())
    }

    fn write_key(&self, key: usize, word: u64, first: usize, list: &mut Vec<u64>) {
        write_short(word, first, self.0[key].into(), 0, list);
    }

    fn add_entry(&mut self, _: usize, entry: &Entry<'_>, key: usize) -> Result<(), WrongEntries> {
        let count = entry.short().filter(|(_, unit)| *unit == 0);
        let count = count.and_then(|(count, _)| u64::try_from(count).ok());
        let own = &mut self.0[key];
        let both = count.and_then(|count| items_of_both(*own, count).ok());
        *own = both.ok_or(WrongEntries("the count of a key is invalid"))?;
        Ok(())
    }

    fn merge_entries(
        _: usize,
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries> {
        let mut sum = Self(vec![0]);
        for entry in same {
            sum.add_entry(0, entry, 0)?;
        }
        let (key, part) = same[0].place();
        sum.write_key(0, key, part, into);
        Ok(())
    }
}
