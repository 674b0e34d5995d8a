//! Sums of all keys as rows of integers, as messages hold them.

use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, Quiet};

use super::tables::pair_of;
use super::totals::Totals;
use crate::keyed::message::entry::{write_long, write_short};
use crate::keyed::message::terms::{Agreed, Terms, magnitude, moved, terms_of};
use crate::number::fixed::{FixedFormat, integer_of};
use crate::number::float::Float;

/// Writes the integers of all keys, and returns their terms.
pub(super) fn write<F: FixedFormat, R: AsMut<[i128]>>(
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

/// The unit that most of the short integers fit.
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

/// How far units may be from each other, so that most integers in the one fit as integers of the other.
const NEAR_PLACES: i32 = 64;

/// Rounds rows that were added up, and have no entries beside them.
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
