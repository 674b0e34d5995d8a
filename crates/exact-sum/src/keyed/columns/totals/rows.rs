//! Implements the methods that columns need, and converts sums to and from the rows of integers in messages.

use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, Quiet};

use super::{Spill, Spilled, Totals};
use crate::keyed::columns::Places;
use crate::keyed::columns::tables::pair_of;
use crate::keyed::message::entry::{Entry, WrongEntries, write_long, write_short};
use crate::keyed::message::terms::{Agreed, ITEMS, Terms, magnitude, moved, terms_of};
use crate::keyed::remove::RemoveKeyedError;
use crate::number::counters::{LimitError, items_of_both};
use crate::number::fixed::{DoubleProducts, integer_of};
use crate::number::float::Float;
use crate::number::total::Total;

/// For the methods, see [`Columns`](crate::keyed::columns::Columns).
impl Totals {
    pub(crate) fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        self.tables.reserve(keys)
    }

    pub(crate) fn grow(&mut self, keys: usize) {
        self.tables.grow(keys);
    }

    pub(crate) fn forget_first(&mut self, keys: usize) {
        self.tables.forget_first(keys);
        let mut kept = Spilled::default();
        for spill in std::mem::take(&mut self.spilled.of_keys) {
            if let Some(key) = (spill.key as usize).checked_sub(keys) {
                let own = kept.of(self.len(), key);
                (own.counters, own.number) = (spill.counters, spill.number);
            }
        }
        self.spilled = kept;
    }

    pub(crate) fn memory(&self) -> usize {
        let Spilled { places, of_keys } = &self.spilled;
        let numbers = of_keys.iter().filter_map(|spill| spill.number.as_deref());
        self.tables.memory()
            + places.capacity() * size_of::<u32>()
            + of_keys.capacity() * size_of::<Spill>()
            + numbers.map(size_of_val).fold(0, |sum, bytes| sum + bytes)
    }

    pub(crate) fn check_room_for(&self, other: &Self) -> Result<(), LimitError> {
        items_of_both(self.items, other.items)?;
        self.tables.check_memory_of(&other.tables)
    }

    pub(crate) fn check_held_of(
        &self,
        other: &Self,
        places: Places<'_>,
    ) -> Result<(), RemoveKeyedError> {
        let mut others = other.spilled.of_keys.iter();
        others.try_for_each(|spill| {
            let key = places.of(spill.key as usize);
            let left = self.counters(key).without(spill.counters);
            let error = |error| RemoveKeyedError::Fewer { key, error };
            left.map(drop).map_err(error)
        })
    }

    pub(crate) fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
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
        for spill in &other.spilled.of_keys {
            let own = self.spilled.of(self.len(), places.of(spill.key as usize));
            own.change(spill.number.as_deref(), spill.counters, removes);
        }
    }

    pub(crate) fn write_rows(
        &self,
        part: usize,
        rows: &mut [i128],
        width: usize,
        terms: &mut [Terms],
        entries: &mut Vec<u64>,
    ) {
        let places = rows.chunks_exact_mut(width).map(|row| &mut row[part]);
        terms[part] = write(self, part, places, entries);
        terms[part][ITEMS] = self.items.cast_signed();
    }

    /// Makes sums of the integers of one part of the rows, which were added up over all ranks.
    pub(crate) fn of_integers(
        integers: impl ExactSizeIterator<Item = i128>,
        agreed: Agreed,
    ) -> Self {
        let mut totals = Self::of_none(integers.len());
        let unit = DecodeUnit::of_exponent(agreed.unit);
        totals.tables.fill(unit, integers);
        totals.items = agreed.items;
        totals
    }

    pub(crate) fn write_key(&self, key: usize, word: u64, part: usize, list: &mut Vec<u64>) {
        match self.short(key) {
            Some((integer, unit)) => write_short(word, part, integer, unit, list),
            None => write_long(word, part, &self.long(key), list),
        }
    }

    pub(crate) fn add_entry(&mut self, entry: &Entry<'_>, key: usize) -> Result<(), WrongEntries> {
        if let Some((integer, exponent)) = entry.short() {
            let unit = DecodeUnit::of_exponent(exponent);
            self.tables.add_integer(key, integer, unit);
        } else {
            let mut total = Total::<DoubleProducts>::ZERO;
            entry.add_to(&mut total)?;
            self.add_number(key, &total.fixed, total.counters, |_| true);
        }
        Ok(())
    }

    pub(crate) fn items(&self) -> u64 {
        self.items
    }

    pub(crate) fn raise_items(&mut self, items: u64) {
        self.items = self.items.max(items);
    }
}

/// Writes the integers of all keys, and returns their terms.
fn write<'r>(
    totals: &Totals,
    part: usize,
    places: impl Iterator<Item = &'r mut i128>,
    entries: &mut Vec<u64>,
) -> Terms {
    if let Some((pairs, unit)) = totals.only_table() {
        let mut bits = 0;
        for (place, pair) in places.zip(pairs) {
            *place = integer_of(*pair);
            bits |= magnitude(*place);
        }
        return terms_of(unit.exponent(), bits, pairs.len(), false);
    }
    let entries_before = entries.len();
    let own = common_unit(totals);
    let (mut votes, mut bits) = (0, 0);
    for (key, place) in places.enumerate() {
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
            None => write_long(key as u64, part, &totals.long(key), entries),
        }
    }
    terms_of(own, bits, votes, entries.len() > entries_before)
}

/// The exponent of the unit that most of the short integers fit.
fn common_unit(totals: &Totals) -> i32 {
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

/// A unit at most this many places above another is near it: most integers in the higher unit also fit in the lower unit.
const NEAR_PLACES: i32 = 64;

/// Rounds the sums in rows that were added up over all ranks. There must be no entries.
pub(crate) fn round<T: Float>(rows: &[i128], agreed: &[Agreed], values: &mut [T]) {
    let (is_quiet, unit) = (Quiet::now().is_some(), agreed[0].unit);
    let decoded = DecodeUnit::of_exponent(unit);
    let (mut pairs, mut doubles) = ([[0; 2]; DECODED_ITEMS], [0.0; DECODED_ITEMS]);
    let blocks = rows
        .chunks(DECODED_ITEMS)
        .zip(values.chunks_mut(DECODED_ITEMS));
    for (rows, values) in blocks {
        let (pairs, doubles) = (&mut pairs[..rows.len()], &mut doubles[..rows.len()]);
        let fit = rows.iter().zip(&mut *pairs).all(|(integer, pair)| {
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
            for (integer, value) in rows.iter().zip(values) {
                *value = T::of_integer(*integer, unit, is_quiet);
            }
        }
    }
}
