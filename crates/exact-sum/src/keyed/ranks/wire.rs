//! Exchanges sums by key between ranks, as a row of integers for each key and as entries for numbers that do not fit the rows.
//!
//! Integers in the same unit can be added in any order. So the ranks exchange [`Terms`] to agree on a unit for each part of a key, such as
//! its sum. A part of a key that needs more than one integer, or does not fit the unit, is zero in the rows and has an *entry*:
//!
//! ```text
//! key  header  words …
//! ```
//!
//! This format is never stored: only ranks of one program exchange it.

use bytemuck::{cast_slice, cast_slice_mut};

use super::super::columns::Columns;
pub use super::super::columns::each::{combined, empty};
use super::super::columns::totals::rows as of_sums;
pub use super::super::message::entry::WrongEntries;
use super::super::message::entry::{Entries, Entry, write_short};
use super::super::message::terms::LOWEST;
pub use super::super::message::terms::{Agreed, NO_TERMS, Terms, combine};
use super::super::{Keyed, KeyedSlot};

/// The kind of slot and the type of items, as text that ranks compare.
#[must_use]
pub fn name<S: KeyedSlot>() -> String {
    S::name()
}

/// The number of integers that a key has in a message: one for each part.
#[must_use]
pub fn parts<S: KeyedSlot>() -> usize {
    size_of::<S::Row>() / size_of::<i128>()
}

/// Whether integers of messages are [combined](combined) by adding them. Otherwise they are combined by taking their maximum.
#[must_use]
pub fn adds<S: KeyedSlot>() -> bool {
    S::TAKES_BACK
}

/// The number of rows: one for each slot of all keys.
#[must_use]
pub fn rows<S: KeyedSlot>(slots: &Keyed<S>) -> usize {
    slots.slots()
}

/// Writes this rank's rows (in its own units), its terms for each part, and entries for numbers that need more than one integer.
pub fn write<S: KeyedSlot>(
    slots: &Keyed<S>,
    rows: &mut [S::Row],
    terms: &mut [Terms],
    entries: &mut Vec<u64>,
) {
    let integers = cast_slice_mut(rows);
    let parts = parts::<S>();
    slots.columns.write_rows(integers, parts, terms, entries);
}

/// Converts this rank's rows to the agreed units. Integers that do not fit become entries.
pub fn settle<S: KeyedSlot>(
    rows: &mut [S::Row],
    terms: &[Terms],
    agreed: &[Agreed],
    entries: &mut Vec<u64>,
) {
    for (part, (terms, agreed)) in terms.iter().zip(agreed).enumerate() {
        let rows = cast_slice_mut(rows).chunks_exact_mut(parts::<S>());
        let integers = rows.map(|row: &mut [i128]| &mut row[part]);
        settle_part(integers, part, terms, *agreed, entries);
    }
}

/// The slots that combined rows hold.
#[must_use]
pub fn of_rows<S: KeyedSlot>(rows: &[S::Row], agreed: &[Agreed]) -> Keyed<S> {
    let integers = cast_slice(rows);
    let columns = S::Columns::read_rows(S::LAYOUT, integers, parts::<S>(), agreed);
    Keyed::of_columns(rows.len(), columns)
}

/// Writes the [values](Keyed::value) of combined rows that have no entries.
pub fn write_values<S: KeyedSlot>(rows: &[S::Row], agreed: &[Agreed], result: &mut [S::Item]) {
    if S::IS_SUM {
        of_sums::round(cast_slice(rows), agreed, result);
    } else {
        result.copy_from_slice(&of_rows::<S>(rows, agreed).values());
    }
}

/// Adds entries. In the entries, the first key of the slots has the number `first`.
///
/// # Errors
/// The entries are damaged, or belong to slots of another kind.
pub fn add_entries<S: KeyedSlot>(
    slots: &mut Keyed<S>,
    entries: &[u64],
    first: usize,
) -> Result<(), WrongEntries> {
    let keys = slots.keys();
    for entry in Entries::of(entries) {
        let entry = entry?;
        let key = key_of(&entry, first, keys)?;
        slots.columns.add_entry(&entry, key)?;
    }
    Ok(())
}

/// Merges the entries of several ranks into one entry for each part of each key.
///
/// # Errors
/// A list is damaged.
pub fn merged<S: KeyedSlot>(lists: &[Vec<u64>]) -> Result<Vec<u64>, WrongEntries> {
    let entries = lists.iter().flat_map(|list| Entries::of(list));
    let mut entries: Vec<Entry<'_>> = entries.collect::<Result<_, _>>()?;
    entries.sort_by_key(Entry::place);
    let mut into = Vec::new();
    for same in entries.chunk_by(|left, right| left.place() == right.place()) {
        S::Columns::merge_entries(S::LAYOUT, same, &mut into)?;
    }
    Ok(into)
}

/// Distributes entries to ranks by their keys.
///
/// # Errors
/// The entries are damaged.
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

fn settle_part<'r>(
    integers: impl Iterator<Item = &'r mut i128>,
    part: usize,
    terms: &Terms,
    agreed: Agreed,
    entries: &mut Vec<u64>,
) {
    let own = terms[LOWEST];
    if own == NO_TERMS[LOWEST] || agreed.all_fit && own == i64::from(agreed.unit) {
        return;
    }
    let own = i32::try_from(own).expect("units are exponents of doubles");
    for (key, integer) in integers.enumerate() {
        if let Some(fitting) = agreed.fit(*integer, own) {
            *integer = fitting;
        } else {
            write_short(key as u64, part, *integer, own, entries);
            *integer = 0;
        }
    }
}

/// The index of an entry's key among `keys` keys. The first of these keys has the number `first`.
fn key_of(entry: &Entry<'_>, first: usize, keys: usize) -> Result<usize, WrongEntries> {
    let key = usize::try_from(entry.key).ok();
    let key = key.and_then(|key| key.checked_sub(first));
    key.filter(|key| *key < keys)
        .ok_or(WrongEntries("a key is out of range"))
}
