//! Sums by key between ranks: a row of integers for each key, and beside the rows what does not fit them.
//!
//! Integers of one unit are added by adding them, in any order. So the ranks agree on a unit, by [`Terms`], each of which is that of one
//! part of a key: its sum, or its squares. A key's part that has more than an integer, or one that does not fit the unit, has zero in the
//! rows, and an *entry* beside them:
//!
//! ```text
//! key  header  words …
//! ```
//!
//! Nothing of this is kept: it is what ranks of one program send each other.

use std::fmt;

use bytemuck::Pod;

pub use super::entry::WrongEntries;
use super::entry::{Entries, Entry, write_long, write_short};
pub use super::terms::{Agreed, NO_TERMS, Terms, combine};
use super::terms::{ITEMS, LOWEST, magnitude, moved, terms_of};
use crate::keyed::key::{Key, KeyError};
use crate::keyed::totals::Totals;
use crate::number::counters::LimitError;
use crate::number::fixed::{FixedFormat, integer_of};
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::accumulator::sealed::Sealed;

/// Sums by key of any kind: [`KeyedSums`](crate::keyed::KeyedSums) and [`KeyedMoments`](crate::keyed::KeyedMoments).
pub trait KeyedAccumulator: KeyedRows + Clone + fmt::Debug + 'static {
    /// What it is, with the type of its items: ranks compare it.
    fn name() -> String;

    /// Sums of no items, for so many keys.
    ///
    /// # Errors
    /// There is no memory for them.
    fn of_keys(keys: usize) -> Result<Self, LimitError>;

    /// The number of keys.
    fn keys_count(&self) -> usize;

    /// Adds items to the sums of their keys.
    ///
    /// # Errors
    /// There are not as many keys as items, or a key has no sum. No sum has changed then.
    fn add_items<K: Key>(&mut self, keys: &[K], items: &[Self::Item]) -> Result<(), KeyError>;
}

/// Sums by key that are rows of integers, with entries beside them.
pub trait KeyedRows: Sealed + Sized {
    /// The type of items.
    type Item: Float;

    /// The integers of a key, [`PARTS`](Self::PARTS) of which are in the units that ranks agree on; the others are counts.
    type Row: Pod + AsRef<[i128]> + AsMut<[i128]>;

    /// The parts of a key's sums.
    const PARTS: usize;

    /// Writes this rank's rows, in units of its own, its terms for each part, and entries for what has more than an integer.
    fn write(&self, rows: &mut [Self::Row], terms: &mut [Terms], entries: &mut Vec<u64>);

    /// Brings this rank's rows to the units that were agreed on. What does not fit becomes an entry.
    fn settle(rows: &mut [Self::Row], terms: &[Terms], agreed: &[Agreed], entries: &mut Vec<u64>) {
        let parts = terms.iter().zip(agreed).enumerate();
        for (part, (terms, agreed)) in parts {
            settle_part(rows, part, terms, *agreed, entries);
        }
    }

    /// The sums of rows that were added up.
    #[must_use]
    fn of_rows(rows: &[Self::Row], agreed: &[Agreed]) -> Self;

    /// Writes each key's value, rounded once: its sum, or its mean. There is a place for each.
    fn write_values(&self, result: &mut [Self::Item]);

    /// The values of rows that were added up, and have no entries beside them.
    fn round_rows(rows: &[Self::Row], agreed: &[Agreed], result: &mut [Self::Item]) {
        Self::of_rows(rows, agreed).write_values(result);
    }

    /// Adds entries, the first key's number being `first` there.
    ///
    /// # Errors
    /// They are not those of such sums.
    fn add_entries(&mut self, entries: &[u64], first: usize) -> Result<(), WrongEntries>;

    /// Writes one entry for all of a part of a key.
    ///
    /// # Errors
    /// They are not those of such sums.
    fn merge_entries(same: &[Entry<'_>], into: &mut Vec<u64>) -> Result<(), WrongEntries>;
}

/// Makes of the entries of several ranks one for each part of a key.
///
/// # Errors
/// They are not entries.
pub fn merged<A: KeyedRows>(lists: &[Vec<u64>]) -> Result<Vec<u64>, WrongEntries> {
    let entries = lists.iter().flat_map(|list| Entries::of(list));
    let mut entries: Vec<Entry<'_>> = entries.collect::<Result<_, _>>()?;
    entries.sort_by_key(Entry::place);
    let mut into = Vec::new();
    for same in entries.chunk_by(|left, right| left.place() == right.place()) {
        A::merge_entries(same, &mut into)?;
    }
    Ok(into)
}

/// Deals entries out to ranks, by the key.
///
/// # Errors
/// They are not entries.
pub fn dealt(
    entries: &[u64],
    ranks: usize,
    rank_of: impl Fn(u64) -> usize,
) -> Result<Vec<Vec<u64>>, WrongEntries> {
    let mut lists = vec![Vec::new(); ranks];
    for entry in Entries::of(entries) {
        let entry = entry?;
        entry.copy_to(&mut lists[rank_of(entry.key)]);
    }
    Ok(lists)
}

/// Writes one part of all keys.
pub(crate) fn write_part<F: FixedFormat, R: AsMut<[i128]>>(
    totals: &Totals<F>,
    part: usize,
    rows: &mut [R],
    entries: &mut Vec<u64>,
) -> Terms {
    let mut terms = write_integers(totals, part, rows, entries);
    terms[ITEMS] = totals.items.cast_signed();
    terms
}

fn write_integers<F: FixedFormat, R: AsMut<[i128]>>(
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

fn settle_part<R: AsMut<[i128]>>(
    rows: &mut [R],
    part: usize,
    terms: &Terms,
    agreed: Agreed,
    entries: &mut Vec<u64>,
) {
    let own = terms[LOWEST];
    if own == NO_TERMS[LOWEST] || agreed.all_fit && own == i64::from(agreed.unit) {
        return;
    }
    let own = i32::try_from(own).expect("it is that of a double");
    for (key, row) in rows.iter_mut().enumerate() {
        let integer = &mut row.as_mut()[part];
        if let Some(fitting) = agreed.fit(*integer, own) {
            *integer = fitting;
        } else {
            write_short(key as u64, part, *integer, own, entries);
            *integer = 0;
        }
    }
}

/// One part of rows that were added up.
pub(crate) fn read_part<F: FixedFormat, R: AsRef<[i128]>>(
    rows: &[R],
    part: usize,
    agreed: Agreed,
) -> Totals<F> {
    let integers = rows.iter().map(|row| row.as_ref()[part]);
    let mut totals = Totals::of_integers(agreed.unit, integers);
    totals.items = agreed.items;
    totals
}

/// Adds an entry to the totals of its part.
pub(crate) fn add_entry<F: FixedFormat>(
    totals: &mut Totals<F>,
    entry: &Entry<'_>,
    key: usize,
) -> Result<(), WrongEntries> {
    if let Some((integer, unit)) = entry.short() {
        totals.add_integer(key, integer, unit);
    } else {
        let mut total = Total::ZERO;
        entry.add_to(&mut total)?;
        totals.add_number(key, &total.fixed, total.counters, |_| true);
    }
    Ok(())
}

pub(crate) fn merge_entries<F: FixedFormat>(
    same: &[Entry<'_>],
    into: &mut Vec<u64>,
) -> Result<(), WrongEntries> {
    if let [one] = same {
        one.copy_to(into);
        return Ok(());
    }
    let mut total = Total::<F>::ZERO;
    for entry in same {
        entry.add_to(&mut total)?;
    }
    let (key, part) = same[0].place();
    write_long(key, part, &total, into);
    Ok(())
}

/// The place of an entry's key among so many, the first of which has this number.
pub(crate) fn key_of(entry: &Entry<'_>, first: usize, keys: usize) -> Result<usize, WrongEntries> {
    let key = usize::try_from(entry.key).ok();
    let key = key.and_then(|key| key.checked_sub(first));
    key.filter(|key| *key < keys)
        .ok_or(WrongEntries("a key is out of range"))
}

/// How far units may be from each other, so that most integers in the one fit as integers of the other.
const NEAR_PLACES: i32 = 64;
