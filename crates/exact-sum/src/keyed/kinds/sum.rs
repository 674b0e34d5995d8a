//! A sum for each key.

#[cfg(feature = "par")]
use simd_kernels::DECODED_ITEMS;
use simd_kernels::{Level, Quiet, prefetch_after};

use crate::bytes::{BytesError, Kind, Reader};
use crate::keyed::Keyed;
use crate::keyed::bytes::{read_entry, write_entry};
use crate::keyed::columns::decoded::{Decoded, FEW_ITEMS};
use crate::keyed::columns::totals::Totals;
use crate::keyed::key::Key;
use crate::keyed::remove::{RemoveKeyedError, check_items};
use crate::keyed::slot::Field;
use crate::keyed::slot::sealed::InColumns;
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::slots::sum::Sum;
use crate::statistic::{Options, Statistic};

impl<T: Float> InColumns for Sum<T> {
    type Columns = Totals<T::Sums>;
    type Row = [i128; 1];
    const VALUE: Statistic = Statistic::Sum;
    const IS_SUM: bool = true;
    const KIND: Kind = Kind::KeyedSums;
    const FIELDS: &'static [Field] = &[Field::Entry];

    fn name() -> String {
        format!("exact sum by key of {}", T::NAME)
    }

    fn check_room(columns: &Self::Columns, items: &[T]) -> Result<(), LimitError> {
        let doubles = items.iter().map(|item| item.widened());
        columns.check_room(items.len() as u64, doubles)
    }

    fn check_held<K: Key>(
        columns: &Self::Columns,
        keys: &[K],
        items: &[T],
    ) -> Result<(), RemoveKeyedError> {
        let doubles = items.iter().map(|item| item.widened());
        check_items(keys, doubles, &|key| columns.counters(key))
    }

    #[inline]
    fn change<K: Key>(
        columns: &mut Self::Columns,
        level: Level,
        keys: &[K],
        items: &[T],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        if items.len() < FEW_ITEMS {
            for (key, item) in keys.iter().zip(items) {
                columns.change_one(key.place(), item.widened(), removes);
            }
            return;
        }
        prefetch_after(items);
        if columns.add_short(level, keys, items, removes, decoded) {
            return;
        }
        let mut rest = keys;
        T::in_exact_doubles(items, |doubles| {
            let (keys, others) = rest.split_at(doubles.len());
            columns.add(level, keys, doubles, removes, decoded);
            rest = others;
        });
    }

    /// The number of items is not known, and is 0 in the result.
    fn of_key(columns: &Self::Columns, key: usize) -> Self {
        columns.sum_of(key, 0)
    }

    fn statistic_of(
        columns: &Self::Columns,
        key: usize,
        statistic: Statistic,
        _: Options,
    ) -> Option<T> {
        let is_quiet = Quiet::now().is_some();
        (statistic == Self::VALUE).then(|| columns.rounded(key, is_quiet))
    }

    fn statistics(
        columns: &Self::Columns,
        keys: usize,
        statistic: Statistic,
        _: Options,
    ) -> Option<Vec<T>> {
        (statistic == Self::VALUE).then(|| columns.values(keys))
    }

    fn write(columns: &Self::Columns, key: usize, bytes: &mut Vec<u8>) {
        write_entry(&columns.total(key), bytes);
    }

    fn read(
        columns: &mut Self::Columns,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        let (sum, items) = read_entry(reader)?;
        let items = items + sum.counters.specials();
        columns.add_read(key, &sum, items, |word| is_common(0, word));
        Ok(())
    }
}

impl<T: Float> Keyed<Sum<T>> {
    /// Adds an item to the sum of a key.
    ///
    /// # Panics
    /// The key has no sum.
    #[inline]
    pub fn add_one(&mut self, key: usize, item: T) {
        assert!(key < self.keys(), "key {key} has no sum");
        self.columns.change_one(key, item.widened(), false);
    }

    /// The sum of a key divided by the number of its items, which the caller has counted, rounded once; NaN if there are none.
    ///
    /// # Panics
    /// The key has no sum.
    #[must_use]
    pub fn mean(&self, key: usize, items: u64) -> T {
        self.columns.mean(key, items)
    }

    /// Sums of no items for `keys` keys, in units for items like these: such sums are merged fast.
    #[cfg(feature = "par")]
    pub(crate) fn for_such(keys: usize, items: &[T]) -> Result<Self, LimitError> {
        let mut sums = Self::new(keys)?;
        let first = &items[..items.len().min(DECODED_ITEMS)];
        sums.columns.prepare(first);
        Ok(sums)
    }
}
