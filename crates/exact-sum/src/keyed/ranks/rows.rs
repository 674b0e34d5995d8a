//! The rows of each kind of sums by key.

use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, Quiet};

use super::entry::{Entries, Entry, WrongEntries};
use super::terms::{Agreed, Terms};
use super::wire::{
    KeyedAccumulator, KeyedRows, add_entry, key_of, merge_entries, read_part, write_part,
};
use crate::keyed::key::{Key, KeyError};
use crate::keyed::products::KeyedProducts;
use crate::keyed::tables::pair_of;
use crate::keyed::{KeyedMoments, KeyedSums};
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::slots::accumulator::sealed::Sealed;

const NO_SUCH_PART: WrongEntries = WrongEntries("a key has no such part");

/// What all kinds of sums by key do alike.
macro_rules! accumulator {
    ($sums:ident, $name:literal, $new:expr) => {
        impl<T: Float> Sealed for $sums<T> {}

        impl<T: Float> KeyedAccumulator for $sums<T> {
            fn name() -> String {
                format!("{} of {}", $name, T::NAME)
            }

            fn of_keys(keys: usize) -> Result<Self, LimitError> {
                let new: fn(usize) -> Result<Self, LimitError> = $new;
                new(keys)
            }

            fn keys_count(&self) -> usize {
                self.keys()
            }

            fn add_items<K: Key>(&mut self, keys: &[K], items: &[T]) -> Result<(), KeyError> {
                self.add(keys, items)
            }
        }
    };
}

accumulator!(KeyedSums, "exact sum by key", |keys| Ok(Self::new(keys)));
accumulator!(KeyedMoments, "moments by key", Self::new);

impl<T: Float> KeyedRows for KeyedSums<T> {
    type Item = T;
    type Row = [i128; 1];
    const PARTS: usize = 1;

    fn write(&self, rows: &mut [Self::Row], terms: &mut [Terms], entries: &mut Vec<u64>) {
        terms[0] = write_part(&self.totals, 0, rows, entries);
    }

    fn of_rows(rows: &[Self::Row], agreed: &[Agreed]) -> Self {
        Self {
            totals: read_part(rows, 0, agreed[0]),
        }
    }

    fn write_values(&self, result: &mut [T]) {
        result.copy_from_slice(&self.values());
    }

    fn round_rows(rows: &[Self::Row], agreed: &[Agreed], result: &mut [T]) {
        round_rows(rows, agreed, result);
    }

    fn add_entries(&mut self, entries: &[u64], first: usize) -> Result<(), WrongEntries> {
        for entry in Entries::of(entries) {
            let entry = entry?;
            let key = key_of(&entry, first, self.keys())?;
            match entry.part {
                0 => add_entry(&mut self.totals, &entry, key)?,
                _ => return Err(NO_SUCH_PART),
            }
        }
        Ok(())
    }

    fn merge_entries(same: &[Entry<'_>], into: &mut Vec<u64>) -> Result<(), WrongEntries> {
        merge_entries::<T::Sums>(same, into)
    }
}

/// Rounds rows that were added up, and have no entries beside them.
fn round_rows<T: Float>(rows: &[[i128; 1]], agreed: &[Agreed], values: &mut [T]) {
    let (is_quiet, unit) = (Quiet::now().is_some(), agreed[0].unit);
    let decoded = DecodeUnit::of_exponent(unit);
    let (mut pairs, mut doubles) = ([[0; 2]; DECODED_ITEMS], [0.0; DECODED_ITEMS]);
    let blocks = rows
        .chunks(DECODED_ITEMS)
        .zip(values.chunks_mut(DECODED_ITEMS));
    for (rows, values) in blocks {
        let (pairs, doubles) = (&mut pairs[..rows.len()], &mut doubles[..rows.len()]);
        let fit = rows.iter().zip(&mut *pairs).all(|([integer], pair)| {
            let short = pair_of(*integer);
            *pair = short.unwrap_or_default();
            short.is_some()
        });
        let is_fast = fit && is_quiet;
        let rounded = is_fast.then(|| T::of_pairs(Level::best(), pairs, decoded, doubles));
        if let Some(rounded) = rounded.flatten() {
            values
                .iter_mut()
                .zip(rounded)
                .for_each(|(value, rounded)| *value = rounded);
        } else {
            for ([integer], value) in rows.iter().zip(values) {
                *value = T::of_integer(*integer, unit, is_quiet);
            }
        }
    }
}

/// The integer of a row that is the number of items.
const COUNT: usize = 3;

impl<T: Float> KeyedRows for KeyedMoments<T> {
    type Item = T;
    /// Sums, squares, what these lack, and counts.
    type Row = [i128; 4];
    const PARTS: usize = 3;

    fn write(&self, rows: &mut [Self::Row], terms: &mut [Terms], entries: &mut Vec<u64>) {
        terms[0] = write_part(&self.sums, 0, rows, entries);
        for (squares, part) in self.squares.parts.iter().zip(1..) {
            terms[part] = write_part(squares, part, rows, entries);
        }
        for (row, count) in rows.iter_mut().zip(&self.counts) {
            row[COUNT] = i128::from(*count);
        }
    }

    fn of_rows(rows: &[Self::Row], agreed: &[Agreed]) -> Self {
        let count = |row: &Self::Row| {
            u64::try_from(row[COUNT]).expect("the terms have told that there are not too many")
        };
        Self {
            counts: rows.iter().map(count).collect(),
            sums: read_part(rows, 0, agreed[0]),
            squares: KeyedProducts {
                parts: [1, 2].map(|part| read_part(rows, part, agreed[part])),
            },
        }
    }

    fn write_values(&self, result: &mut [T]) {
        for (key, mean) in result.iter_mut().enumerate() {
            *mean = self.mean(key);
        }
    }

    fn add_entries(&mut self, entries: &[u64], first: usize) -> Result<(), WrongEntries> {
        for entry in Entries::of(entries) {
            let entry = entry?;
            let key = key_of(&entry, first, self.keys())?;
            match entry.part {
                0 => add_entry(&mut self.sums, &entry, key)?,
                part @ 1..=2 => add_entry(&mut self.squares.parts[part - 1], &entry, key)?,
                _ => return Err(NO_SUCH_PART),
            }
        }
        Ok(())
    }

    fn merge_entries(same: &[Entry<'_>], into: &mut Vec<u64>) -> Result<(), WrongEntries> {
        match same[0].part {
            0 => merge_entries::<T::Sums>(same, into),
            _ => merge_entries::<T::Products>(same, into),
        }
    }
}
