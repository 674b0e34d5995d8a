//! Keeps a long integer for each key. There is one table for each digit to which items were added.
//!
//! Digit d of all keys is a table of pairs of integers, in a unit that is 32 binary places above the unit of digit d - 1. Each item is added
//! to one digit; a digit has room for items of 53 adjacent exponents. If all items of a block fit the same digit, as in most data, the block is added to
//! one table. Other blocks are added digit by digit: each item to the table of its own digit.
//!
//! Before a block is added, each half of a pair is below 2^62 in magnitude. The block changes each half by less than 2^62. If a first half
//! is near its limit, its excess is carried into the second half; the excess of a second half is carried into the next digit.

mod numbers;

use simd_kernels::{
    DECODED_ITEMS, DecodeDigits, DecodeUnit, LOWER_PLACES, Level, NO_DIGIT, Pair, decode,
    decode_digits, is_zero, prefetch_item,
};

use super::decoded::{Decoded, FEW_ITEMS, Room};
use crate::keyed::key::Key;
use crate::number::counters::{LimitError, check_memory, reserve};
use crate::number::fixed::integer_of;
use crate::number::float::Float;

/// The number of digits: those of items, and two more for sums of 2^63 items.
const DIGITS: usize = DecodeDigits::DIGITS + 2;

/// One table has room for this many exponents above those of the first items.
const SPARE_EXPONENTS: i32 = 8;

/// The spare exponents for `f32`. The next digit's first halves then fit items from 21 exponents below the highest to 8 above it.
const SPARE_OF_FLOATS: i32 = DecodeUnit::EXPONENTS - 1 - 24;

/// If most items do not fit one table, this many blocks are added digit by digit before one table is tried again.
const MIXED_BLOCKS: u32 = 63;

/// Examining this many items takes no longer than checking for memory.
const FEWER_THAN_A_CHECK: usize = 256;

/// In tables larger than this, the pairs of a block are prefetched into the nearest cache.
const FAR_BYTES: usize = 1 << 20;

/// A long integer for each key.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    keys: usize,
    /// `None` as long as all integers are zero.
    place: Option<Place>,
    /// For each digit, a table with one pair per key; empty if the digit has no table.
    tables: Vec<Vec<Pair>>,
    /// The digits that have a table, in ascending order.
    used: Vec<usize>,
    /// The number of blocks that will be added digit by digit before one table is tried again.
    mixed: u32,
}

/// Where the next items are added.
#[derive(Clone, Copy, Debug)]
struct Place {
    digits: DecodeDigits,
    /// The digit that most of the items fit.
    digit: usize,
    /// The unit of the digit.
    unit: DecodeUnit,
}

impl Place {
    /// The place for items in this unit.
    fn of(unit: DecodeUnit) -> Self {
        let digits = DecodeDigits::with(unit);
        let above = unit.exponent() - digits.unit(0).exponent();
        let digit = usize::try_from(above).unwrap_or(0) / DecodeDigits::PLACES as usize;
        Self {
            digits,
            digit,
            unit: digits.unit(digit),
        }
    }

    /// The place for the first items, with room for `spare` exponents above their highest; `None` if all numbers are zero.
    fn for_items(items: impl Iterator<Item = f64>, spare: i32) -> Option<Self> {
        let is_number = |item: &f64| item.is_finite() && !is_zero(*item);
        let exponent = |item: f64| ((item.to_bits() >> 52 & 0x7FF) as i32).max(1) - 1023;
        let highest = items.filter(is_number).map(exponent).max()?;
        let below = DecodeUnit::EXPONENTS - 1 - spare;
        Some(Self::of(DecodeUnit::for_range(highest, below)))
    }

    /// The digit to which an item is added, and the pair that is added there; `None` if the item is not finite.
    #[inline(always)]
    fn pair(&self, item: f64) -> Option<(usize, Pair)> {
        let fitting = self.unit.pair(item).map(|pair| (self.digit, pair));
        fitting.or_else(|| self.digits.pair(item))
    }
}

impl Tables {
    pub(crate) fn new(keys: usize) -> Self {
        Self {
            keys,
            place: None,
            tables: Vec::new(),
            used: Vec::new(),
            mixed: 0,
        }
    }

    pub(crate) fn keys(&self) -> usize {
        self.keys
    }

    /// Checks that there is memory for all possible tables, or at least for the tables to which these items are added.
    pub(crate) fn check_memory(
        &self,
        items: impl Iterator<Item = f64> + Clone,
    ) -> Result<(), LimitError> {
        if self.keys <= FAR_BYTES / size_of::<Pair>() {
            return Ok(());
        }
        let tables = |tables: usize| check_memory::<Pair>(self.keys.saturating_mul(tables));
        let are_few = items.size_hint().0 <= FEWER_THAN_A_CHECK;
        if !are_few && tables(DIGITS - self.used.len()).is_ok() {
            return Ok(());
        }
        let first = items.clone().take(DECODED_ITEMS);
        let Some(place) = self
            .place
            .or_else(|| Place::for_items(first, SPARE_EXPONENTS))
        else {
            return Ok(());
        };
        let mut are_used = [false; DIGITS];
        for (digit, _) in items.filter_map(|item| place.pair(item)) {
            are_used[digit] = true;
        }
        self.used.iter().for_each(|&digit| are_used[digit] = false);
        tables(are_used.iter().filter(|is_used| **is_used).count())
    }

    /// Checks that there is memory for the tables of `other`.
    pub(crate) fn check_memory_of(&self, other: &Self) -> Result<(), LimitError> {
        let missing = other.used.iter().filter(|digit| !self.used.contains(digit));
        check_memory::<Pair>(self.keys.saturating_mul(missing.count()))
    }

    pub(crate) fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        let mut used = self.used.iter();
        used.try_for_each(|&digit| reserve(&mut self.tables[digit], keys))
    }

    pub(crate) fn grow(&mut self, keys: usize) {
        if keys > self.keys {
            self.keys = keys;
            for &digit in &self.used {
                self.tables[digit].resize(keys, [0; 2]);
            }
        }
    }

    /// Chooses units for items like these, if all integers are zero.
    pub(crate) fn prepare<T: Float>(&mut self, items: &[T]) {
        if self.place.is_none() {
            let spare = if T::IS_SINGLE {
                SPARE_OF_FLOATS
            } else {
                SPARE_EXPONENTS
            };
            self.place = Place::for_items(items.iter().map(|item| item.widened()), spare);
        }
    }

    /// Adds a block of at most [`DECODED_ITEMS`](simd_kernels::DECODED_ITEMS) items, or subtracts them. Returns whether all were finite; items that
    /// are not finite are left out. There must be as many keys as items, and each key must have an integer.
    pub(crate) fn add<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[f64],
        removes: bool,
        decoded: &mut Decoded,
    ) -> bool {
        if items.len() < FEW_ITEMS {
            let pairs = keys.iter().zip(items);
            return pairs.fold(true, |are_finite, (key, &item)| {
                are_finite & self.add_one(key.place(), item, removes)
            });
        }
        self.prepare(items);
        let Some(place) = self.place else {
            return items.iter().all(|item| item.is_finite());
        };
        if self.mixed > 0 {
            self.mixed -= 1;
        } else {
            let pairs = &mut decoded.room().pairs;
            if decode(level, items, place.unit, pairs) {
                let pairs = &mut pairs[..items.len()];
                negate_if(removes, pairs.as_flattened_mut());
                if add_pairs(self.table(place.digit), keys, pairs) {
                    self.carry_all(place.digit, keys);
                }
                return true;
            }
        }
        self.add_mixed(level, place, keys, items, removes, decoded)
    }

    /// Does what [`add`](Self::add) does for `f32` items that all fit the first half of a pair. For other items, returns false and adds
    /// nothing.
    pub(crate) fn add_short<K: Key, T: Float>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[T],
        removes: bool,
        decoded: &mut Decoded,
    ) -> bool {
        if !T::IS_SINGLE || items.len() < FEW_ITEMS || self.mixed > 0 {
            return false;
        }
        self.prepare(items);
        let Some(place) = self.place else {
            return false;
        };
        let (digit, integers) = (place.digit + 1, &mut decoded.room().integers);
        if !T::decode_short(level, items, place.digits.unit(digit), integers) {
            return false;
        }
        let integers = &mut integers[..items.len()];
        negate_if(removes, integers);
        if add_integers(self.table(digit), keys, integers) {
            self.carry_all(digit, keys);
        }
        true
    }

    /// Adds an item, or subtracts it. Returns whether it was finite.
    #[inline]
    pub(crate) fn add_one(&mut self, key: usize, item: f64, removes: bool) -> bool {
        if self.place.is_none() {
            self.prepare(&[item]);
        }
        let Some(place) = self.place else {
            return item.is_finite();
        };
        let Some((digit, pair)) = place.pair(item) else {
            return false;
        };
        let pair = pair.map(|half| if removes { -half } else { half });
        if is_near(add_pair(&mut self.table(digit)[key], &pair, [0; 2])) {
            self.carry(digit, key);
        }
        true
    }

    #[inline(never)]
    fn add_mixed<K: Key>(
        &mut self,
        level: Level,
        place: Place,
        keys: &[K],
        items: &[f64],
        removes: bool,
        decoded: &mut Decoded,
    ) -> bool {
        let Room { pairs, digits, .. } = decoded.room();
        let are_finite = decode_digits(level, items, place.digits, pairs, digits);
        let (pairs, digits) = (&mut pairs[..items.len()], &mut digits[..items.len()]);
        negate_if(removes, pairs.as_flattened_mut());
        self.complete(digits, place);
        if self.used.len() * self.keys * size_of::<Pair>() > FAR_BYTES {
            for (key, &digit) in keys.iter().zip(&*digits) {
                prefetch_item(&self.tables[usize::from(digit)], key.place());
            }
        }
        let mut near = [0; 2];
        for ((key, &digit), pair) in keys.iter().zip(&*digits).zip(&*pairs) {
            let own = &mut self.tables[usize::from(digit)][key.place()];
            near = add_pair(own, pair, near);
        }
        if is_near(near) {
            for (key, &digit) in keys.iter().zip(&*digits) {
                self.carry(digit.into(), key.place());
            }
        }
        are_finite
    }

    /// Makes the tables of a block's digits, and assigns the block's zeros to the digit that most items fit. Then decides whether one table
    /// is tried for the next block.
    fn complete(&mut self, digits: &mut [u8], place: Place) {
        let mut counts = [0_u16; DIGITS];
        let mut zeros = 0;
        for digit in &mut *digits {
            if *digit == NO_DIGIT {
                zeros += 1;
                *digit = u8::try_from(place.digit).expect("there are few digits");
            } else {
                counts[usize::from(*digit)] += 1;
            }
        }
        if zeros > 0 {
            self.table(place.digit);
        }
        for (digit, &count) in counts.iter().enumerate() {
            if count > 0 {
                self.table(digit);
            }
        }
        if self.mixed > 0 || zeros == digits.len() {
            return;
        }
        // A table also has room for about half of the next digit's items.
        let fitting = |digit: usize| counts[digit] + counts[digit + 1] / 2;
        let best = (0..DIGITS - 1).max_by_key(|&digit| fitting(digit));
        let digit = best.expect("there are digits");
        let is_most = 8 * (usize::from(fitting(digit)) + zeros) > 7 * digits.len();
        self.mixed = if is_most { 0 } else { MIXED_BLOCKS };
        self.place = Some(Place {
            digit,
            unit: place.digits.unit(digit),
            ..place
        });
    }

    #[inline]
    fn table(&mut self, digit: usize) -> &mut [Pair] {
        if self.tables.get(digit).is_none_or(Vec::is_empty) {
            self.make_table(digit);
        }
        &mut self.tables[digit]
    }

    /// # Panics
    /// There is no memory for the table. [`check_memory`](Self::check_memory) does not foresee a table that gets only carries.
    #[cold]
    fn make_table(&mut self, digit: usize) {
        check_memory::<Pair>(self.keys).unwrap_or_else(|error| panic!("{error}"));
        self.tables.resize(DIGITS, Vec::new());
        self.tables[digit] = vec![[0; 2]; self.keys];
        self.used.push(digit);
        self.used.sort_unstable();
    }

    /// Propagates the carries of one digit for all these keys, so that the digit has room for another block.
    #[cold]
    fn carry_all<K: Key>(&mut self, digit: usize, keys: &[K]) {
        if self.keys < keys.len() {
            (0..self.keys).for_each(|key| self.carry(digit, key));
        } else {
            keys.iter().for_each(|key| self.carry(digit, key.place()));
        }
    }

    /// Propagates the carries of a key's digit, so that the digit has room for another block.
    #[cold]
    fn carry(&mut self, digit: usize, key: usize) {
        self.add_to_digit(digit, key, 0);
    }

    /// Adds an integer in a digit's unit.
    fn add_to_digit(&mut self, digit: usize, key: usize, integer: i128) {
        let pair = &mut self.table(digit)[key];
        let sum = integer_of(*pair) + integer;
        if let Some(sum) = pair_of(sum) {
            *pair = sum;
        } else {
            let lower = sum & ((1 << DecodeDigits::PLACES) - 1);
            *pair = pair_of(lower).expect("the lower digit is short");
            self.add_to_digit(digit + 1, key, sum >> DecodeDigits::PLACES);
        }
    }
}

/// Prefetches the pairs of a block in a large table into the nearest cache.
#[inline(always)]
fn prefetch<K: Key>(table: &[Pair], keys: &[K]) {
    if size_of_val(table) > FAR_BYTES {
        for key in keys {
            prefetch_item(table, key.place());
        }
    }
}

/// Adds integers to the first halves of their keys' pairs. Returns whether a half is now near its limit.
fn add_integers<K: Key>(table: &mut [Pair], keys: &[K], integers: &[i64]) -> bool {
    prefetch(table, keys);
    let mut near = 0;
    for (key, integer) in keys.iter().zip(integers) {
        let own = &mut table[key.place()][0];
        *own = own.wrapping_add(*integer);
        near |= *own ^ *own << 1;
    }
    near < 0
}

/// Adds pairs to the pairs of their keys. Returns whether a half is now near its limit.
fn add_pairs<K: Key>(table: &mut [Pair], keys: &[K], pairs: &[Pair]) -> bool {
    prefetch(table, keys);
    let mut near = [0; 2];
    for (key, pair) in keys.iter().zip(pairs) {
        near = add_pair(&mut table[key.place()], pair, near);
    }
    is_near(near)
}

/// Adds a pair. Returns `near`, with the sign bit of each half set if that half is now near its limit (its two highest bits differ).
#[inline(always)]
fn add_pair(own: &mut Pair, pair: &Pair, near: Pair) -> Pair {
    let sum = [0, 1].map(|half| own[half].wrapping_add(pair[half]));
    *own = sum;
    [0, 1].map(|half| near[half] | sum[half] ^ sum[half] << 1)
}

/// Whether any half is near its limit, according to what [`add_pair`] returned.
fn is_near(near: Pair) -> bool {
    near[0] | near[1] < 0
}

fn negate_if(negates: bool, integers: &mut [i64]) {
    if negates {
        for integer in integers {
            *integer = -*integer;
        }
    }
}

/// An integer as a pair whose halves are not near their limits; `None` if it does not fit.
#[inline(always)]
pub(crate) fn pair_of(integer: i128) -> Option<Pair> {
    let higher = i64::try_from(integer >> LOWER_PLACES).ok()?;
    let lower = (integer & ((1 << LOWER_PLACES) - 1)) as i64;
    (higher ^ higher << 1 >= 0).then_some([lower, higher])
}

#[cfg(test)]
mod tests {
    use simd_kernels::Level;

    use super::{Decoded, Tables};

    #[test]
    fn zeros_and_what_is_not_finite_need_no_table() {
        let mut tables = Tables::new(3);
        let mut decoded = Decoded::none();
        let keys: Vec<u8> = (0..100).map(|item| item % 3).collect();
        for (item, special) in [(0.0, f64::NAN), (1.5, 1.5), (0.0, f64::INFINITY)] {
            let mut items = [item; 100];
            items[7] = special;
            let are_finite = tables.add(Level::best(), &keys, &items, false, &mut decoded);
            assert_eq!(are_finite, special.is_finite());
        }
        assert!(tables.only_table().is_some());
    }
}
