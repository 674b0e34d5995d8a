//! Reads and writes entries of messages. An entry has the words of one number of a key, and a header that says where the number belongs.

use std::fmt;

use bytemuck::Zeroable;

use crate::bytes::shortest;
use crate::number::counters::Counters;
use crate::number::fixed::{Fixed, FixedFormat};
use crate::number::total::Total;

/// The entries of a message are damaged; the text says how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongEntries(pub(crate) &'static str);

impl fmt::Display for WrongEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What an entry holds: a 128-bit integer in a unit, or a number of any length, with or without counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    Short,
    Long,
    LongWithCounters,
}

/// The bit positions of a header's four fields: the kind; the part of the key; the unit of a short entry, or the index of the first nonzero
/// word of a long entry; the number of words that follow.
const SHIFTS: [u32; 4] = [0, 8, 16, 32];

/// This number is added to units in headers, so that none is negative.
const UNIT_BIAS: i32 = 1 << 13;

/// An entry: one part of a key's slot.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'e> {
    /// The key that the entry belongs to.
    pub(crate) key: u64,
    pub(crate) part: usize,
    kind: EntryKind,
    detail: usize,
    number: &'e [u64],
    counters: &'e [u64],
    whole: &'e [u64],
}

/// The entries of a list.
pub(crate) struct Entries<'e>(&'e [u64]);

impl<'e> Entries<'e> {
    pub(crate) fn of(list: &'e [u64]) -> Self {
        Self(list)
    }

    fn take(&mut self) -> Option<Entry<'e>> {
        let (&[key, header], rest) = self.0.split_first_chunk()?;
        let field = |index: usize| (header >> SHIFTS[index]) & 0xFFFF;
        let kind = match field(0) & 0xFF {
            0 => EntryKind::Short,
            1 => EntryKind::Long,
            2 => EntryKind::LongWithCounters,
            _ => return None,
        };
        let part = usize::try_from(field(1) & 0xFF).ok()?;
        let detail = usize::try_from(field(2)).ok()?;
        let (number, rest) = rest.split_at_checked(usize::try_from(field(3)).ok()?)?;
        let counts = match kind {
            EntryKind::LongWithCounters => Counters::INTEGERS,
            EntryKind::Short | EntryKind::Long => 0,
        };
        let (counters, rest) = rest.split_at_checked(counts)?;
        let whole = &self.0[..self.0.len() - rest.len()];
        self.0 = rest;
        let is_whole = kind != EntryKind::Short || number.len() == 2;
        is_whole.then_some(Entry {
            key,
            part,
            kind,
            detail,
            number,
            counters,
            whole,
        })
    }
}

impl<'e> Iterator for Entries<'e> {
    type Item = Result<Entry<'e>, WrongEntries>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let taken = self.take();
        if taken.is_none() {
            self.0 = &[];
        }
        Some(taken.ok_or(WrongEntries("an entry is cut off")))
    }
}

impl Entry<'_> {
    /// The key and the part. Sorting by them brings the entries of one number together.
    pub(crate) fn place(&self) -> (u64, usize) {
        (self.key, self.part)
    }

    pub(crate) fn copy_to(&self, list: &mut Vec<u64>) {
        list.extend_from_slice(self.whole);
    }

    /// The integer and the exponent of its unit; `None` for a long entry.
    pub(crate) fn short(&self) -> Option<(i128, i32)> {
        let ([lower, higher], EntryKind::Short) = (self.number, self.kind) else {
            return None;
        };
        let integer = i128::from(higher.cast_signed()) << 64 | i128::from(*lower);
        Some((integer, i32::try_from(self.detail).ok()? - UNIT_BIAS))
    }

    /// Adds the entry's number and counts to a total.
    pub(crate) fn add_to<F: FixedFormat>(&self, total: &mut Total<F>) -> Result<(), WrongEntries> {
        const WRONG: WrongEntries = WrongEntries("a number is out of range");
        if let Some((integer, unit)) = self.short() {
            let bits = i128::BITS - integer.unsigned_abs().leading_zeros();
            let end = unit - F::LOWEST + bits.cast_signed();
            if usize::try_from(end).unwrap_or(0) > 32 * (F::LIMBS - 1) {
                return Err(WRONG);
            }
            total.fixed.add_integer(integer, unit);
            return Ok(());
        }
        let mut words = F::Words::zeroed();
        let (number, counters) = words.as_mut().split_at_mut(Fixed::<F>::WORDS);
        let places = number.get_mut(self.detail..).ok_or(WRONG)?;
        let (own, above) = places
            .split_at_mut_checked(self.number.len())
            .ok_or(WRONG)?;
        own.copy_from_slice(self.number);
        let is_negative = own.last().is_some_and(|word| word.cast_signed() < 0);
        above.fill(if is_negative { u64::MAX } else { 0 });
        counters[..self.counters.len()].copy_from_slice(self.counters);
        total.add_words(&words).map_err(|_| WRONG)
    }
}

/// Writes the entry of integer * 2^unit.
pub(crate) fn write_short(key: u64, part: usize, integer: i128, unit: i32, list: &mut Vec<u64>) {
    let biased = (unit + UNIT_BIAS).cast_unsigned() as usize;
    let words = [0, 64].map(|shift| low_word(integer >> shift));
    write(key, part, EntryKind::Short, biased, &words, list);
}

/// Writes the entry of a number and its counts.
pub(crate) fn write_long<F: FixedFormat>(
    key: u64,
    part: usize,
    total: &Total<F>,
    list: &mut Vec<u64>,
) {
    let words = total.words();
    let (number, counters) = words.as_ref().split_at(Fixed::<F>::WORDS);
    let (first, number) = shortest(number);
    let has_counters = counters.iter().any(|&count| count != 0);
    let kind = if has_counters {
        EntryKind::LongWithCounters
    } else {
        EntryKind::Long
    };
    // Zero has no words: its index is 0.
    let first = if number.is_empty() { 0 } else { first };
    write(key, part, kind, first, number, list);
    if has_counters {
        list.extend_from_slice(counters);
    }
}

/// Merges all entries of one part of a key into a single entry.
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

fn write(
    key: u64,
    part: usize,
    kind: EntryKind,
    detail: usize,
    number: &[u64],
    list: &mut Vec<u64>,
) {
    let fields = [kind as usize, part, detail, number.len()];
    let fields = fields.iter().zip(SHIFTS);
    let header = fields.fold(0, |header, (&field, shift)| {
        header | (field as u64) << shift
    });
    list.extend([key, header]);
    list.extend_from_slice(number);
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only the lowest word is needed"
)]
fn low_word(integer: i128) -> u64 {
    integer.cast_unsigned() as u64
}

#[cfg(test)]
mod tests {
    use super::{Entries, Entry, write_long, write_short};
    use crate::number::fixed::Doubles;
    use crate::number::total::Total;

    fn totals() -> Vec<Total<Doubles>> {
        let items: [&[f64]; 8] = [
            &[],
            &[1.0],
            &[-1.0],
            &[f64::MAX, f64::MAX, 5e-324],
            &[-f64::MAX, 5e-324],
            &[-5e-324],
            &[f64::NAN, 3.0, f64::INFINITY],
            &[f64::NEG_INFINITY],
        ];
        let total = |items: &&[f64]| {
            let mut total = Total::ZERO;
            items.iter().for_each(|item| total.add_one(*item));
            total
        };
        items.iter().map(total).collect()
    }

    fn unit(key: usize) -> i32 {
        40 - 100 * i32::try_from(key).unwrap()
    }

    #[test]
    fn numbers_are_as_they_were_written() {
        let mut list = Vec::new();
        for (key, total) in totals().iter().enumerate() {
            write_long(key as u64, key % 3, total, &mut list);
            write_short(key as u64, 1, -5 - key as i128, unit(key), &mut list);
        }
        let entries: Vec<Entry<'_>> = Entries::of(&list).map(Result::unwrap).collect();
        let mut copy = Vec::new();
        for (key, (total, pair)) in totals().iter().zip(entries.chunks(2)).enumerate() {
            let mut read = Total::ZERO;
            pair[0].add_to(&mut read).unwrap();
            assert!(read == *total, "{total:?}");
            assert_eq!(pair[0].place(), (key as u64, key % 3));
            assert_eq!(pair[0].short(), None);
            let short = (-5 - key as i128, unit(key));
            assert_eq!(pair[1].short(), Some(short));
            pair.iter().for_each(|entry| entry.copy_to(&mut copy));
        }
        assert_eq!(copy, list);
    }

    #[test]
    fn what_is_cut_off_or_too_long_is_refused() {
        let mut list = Vec::new();
        write_long(7, 0, &totals()[6], &mut list);
        for length in 1..list.len() {
            let first = Entries::of(&list[..length]).next();
            assert!(first.unwrap().is_err(), "{length} words");
        }
        // Arbitrary words are read as entries, or refused.
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut word = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                state >> 20
            };
            let header = word() & 3 | (word() & 0x1FFF) << 16 | (word() & 63) << 32;
            let mut list = vec![word(), header];
            list.extend((0..word() % 60).map(|_| word() << 20 | word()));
            for entry in Entries::of(&list).map_while(Result::ok) {
                let mut total = Total::<Doubles>::ZERO;
                let _ = entry.add_to(&mut total);
            }
        }
    }
}
