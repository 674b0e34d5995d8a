//! Sums of all keys as columns, and as the rows of integers that messages hold.

use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, Quiet};

use super::{Spilled, Totals};
use crate::keyed::columns::tables::pair_of;
use crate::keyed::columns::{Columns, Places};
use crate::keyed::message::entry::{Entry, WrongEntries, merge_entries, write_long, write_short};
use crate::keyed::message::terms::{Agreed, ITEMS, Terms, magnitude, moved, terms_of};
use crate::keyed::remove::RemoveKeyedError;
use crate::number::counters::{LimitError, items_of_both};
use crate::number::fixed::{FixedFormat, integer_of};
use crate::number::float::Float;
use crate::number::total::Total;

impl<F: FixedFormat> Columns for Totals<F> {
    const PARTS: usize = 1;

    /// There is no table yet.
    fn new(keys: usize) -> Result<Self, LimitError> {
        Ok(Self::of_none(keys))
    }

    fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        self.tables.reserve(keys)
    }

    fn grow(&mut self, keys: usize) {
        self.tables.grow(keys);
    }

    fn forget_first(&mut self, keys: usize) {
        self.tables.forget_first(keys);
        let mut kept = Spilled::default();
        for &(key, total) in &self.spilled.totals {
            if let Some(key) = (key as usize).checked_sub(keys) {
                *kept.of(self.len(), key) = total;
            }
        }
        self.spilled = kept;
    }

    fn memory(&self) -> usize {
        let Spilled { places, totals } = &self.spilled;
        self.tables.memory()
            + places.capacity() * size_of::<u32>()
            + totals.capacity() * size_of::<(u32, Total<F>)>()
    }

    fn make_room(&mut self, other: &Self, _: Places<'_>) -> Result<(), LimitError> {
        items_of_both(self.items, other.items)?;
        self.tables.check_memory_of(&other.tables)
    }

    fn check_held(&self, other: &Self, places: Places<'_>) -> Result<(), RemoveKeyedError> {
        let mut others = other.spilled.totals.iter();
        others.try_for_each(|(key, total)| {
            let key = places.of(*key as usize);
            let held = self.counters(key).of_specials();
            let left = held.without(total.counters.of_specials());
            let error = |error| RemoveKeyedError::Fewer { key, error };
            left.map(drop).map_err(error)
        })
    }

    fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
        self.count(other.items);
        let are_added = matches!(places, Places::Same) && self.tables.merge(&other.tables, removes);
        if !are_added {
            for key in 0..other.len() {
                for (integer, unit) in other.tables.integers(key) {
                    let integer = if removes { -integer } else { integer };
                    self.tables.add_integer(places.of(key), integer, unit);
                }
            }
        }
        for (key, total) in &other.spilled.totals {
            let own = self.spilled.of(self.len(), places.of(*key as usize));
            if removes {
                own.fixed.unmerge(&total.fixed);
                own.counters.subtract(total.counters);
            } else {
                own.merge(total);
            }
        }
    }

    fn write<R: AsMut<[i128]>>(
        &self,
        first: usize,
        rows: &mut [R],
        terms: &mut [Terms],
        entries: &mut Vec<u64>,
    ) {
        terms[first] = write(self, first, rows, entries);
        terms[first][ITEMS] = self.items.cast_signed();
    }

    fn read<R: AsRef<[i128]>>(rows: &[R], first: usize, agreed: &[Agreed]) -> Self {
        let integers = rows.iter().map(|row| row.as_ref()[first]);
        let mut totals = Self::of_integers(agreed[first].unit, integers);
        totals.items = agreed[first].items;
        totals
    }

    fn write_key(&self, key: usize, word: u64, first: usize, list: &mut Vec<u64>) {
        match self.short(key) {
            Some((integer, unit)) => write_short(word, first, integer, unit, list),
            None => write_long(word, first, &self.total(key), list),
        }
    }

    fn add_entry(&mut self, _: usize, entry: &Entry<'_>, key: usize) -> Result<(), WrongEntries> {
        if let Some((integer, unit)) = entry.short() {
            self.add_integer(key, integer, unit);
        } else {
            let mut total = Total::ZERO;
            entry.add_to(&mut total)?;
            self.add_number(key, &total.fixed, total.counters, |_| true);
        }
        Ok(())
    }

    fn merge_entries(
        _: usize,
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries> {
        merge_entries::<F>(same, into)
    }

    fn items(&self) -> u64 {
        self.items
    }

    fn raise_items(&mut self, items: u64) {
        self.items = self.items.max(items);
    }
}

/// Writes the integers of all keys, and returns their terms.
fn write<F: FixedFormat, R: AsMut<[i128]>>(
    totals: &Totals<F>,
    part: usize,
    rows: &mut [R],
    entries: &mut Vec<u64>,
) -> Terms {
    if let Some((pairs, unit)) = totals.only_table() {
        let mut bits = 0;
        for (row, pair) in rows.iter_mut().zip(pairs) {
            let integer = integer_of(*pair);
            row.as_mut()[part] = integer;
            bits |= magnitude(integer);
        }
        return terms_of(unit.exponent(), bits, rows.len(), false);
    }
    let entries_before = entries.len();
    let own = common_unit(totals);
    let (mut votes, mut bits) = (0, 0);
    for (key, row) in rows.iter_mut().enumerate() {
        let place = &mut row.as_mut()[part];
        *place = 0;
        match totals.short(key) {
            Some((0, _)) => {}
            Some((integer, unit)) => {
                if let Some(fitting) = moved(integer, unit - own) {
                    *place = fitting;
                    bits |= magnitude(fitting);
                    votes += 1;
                } else {
                    write_short(key as u64, part, integer, unit, entries);
                }
            }
            None => write_long(key as u64, part, &totals.total(key), entries),
        }
    }
    terms_of(own, bits, votes, entries.len() > entries_before)
}

/// The exponent of the unit that most of the short integers fit.
fn common_unit<F: FixedFormat>(totals: &Totals<F>) -> i32 {
    let mut units: Vec<(i32, usize)> = Vec::new();
    for key in 0..totals.len() {
        if let Some((integer, unit)) = totals.short(key)
            && integer != 0
        {
            match units.iter_mut().find(|(other, _)| *other == unit) {
                Some((_, count)) => *count += 1,
                None => units.push((unit, 1)),
            }
        }
    }
    let fitting = |lowest: i32| {
        let near = units
            .iter()
            .filter(|(unit, _)| (lowest..=lowest + NEAR_PLACES).contains(unit));
        near.fold(0, |count, (_, keys)| count + keys)
    };
    let best = units.iter().max_by_key(|(unit, _)| (fitting(*unit), -unit));
    best.map_or(0, |(unit, _)| *unit)
}

/// The most places that two units may be apart: most integers in one unit then fit as integers in the other.
const NEAR_PLACES: i32 = 64;

/// Rounds rows that were added up and have no entries.
pub(crate) fn round<T: Float>(rows: &[[i128; 1]], agreed: &[Agreed], values: &mut [T]) {
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
