//! Sums of cubes and of fourth powers for all keys.

use std::marker::PhantomData;

use hashbrown::HashMap;
use simd_kernels::is_zero;

use super::{Columns, Places};
use crate::keyed::key::Key;
use crate::keyed::message::entry::{Entry, WrongEntries, merge_entries, write_long, write_short};
use crate::keyed::message::terms::{Agreed, Terms, magnitude, terms_of};
use crate::keyed::remove::RemoveKeyedError;
use crate::number::counters::{Counters, LimitError, check_memory, reserve};
use crate::number::fixed::{
    Fixed, FixedFormat, add_to_words, each_word, integer, lower_half, shift_into,
    subtract_from_words,
};
use crate::number::float::Float;
use crate::number::total::Total;

/// The words of a sum of cubes and of one of fourth powers, in two's complement. Items have 74 bits, so 2^63 of them have room.
const CUBE_WORDS: usize = 5;
const FOURTH_WORDS: usize = 6;
const WORDS: usize = CUBE_WORDS + FOURTH_WORDS;

/// Items whose exponents are within so many places have one unit.
const PLACES: i32 = 21;

/// Above what is added to a sum that is no item's power, so many bits are left for more.
const SPARE_BITS: i32 = 24;

/// The sums of some of a key's items, which have one unit.
type Sums = [u64; WORDS];

/// What a sum is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Power {
    Cube = 3,
    Fourth = 4,
}

impl Power {
    const BOTH: [Self; 2] = [Self::Cube, Self::Fourth];

    /// That of a part of a message, and which word the part is.
    fn of_part(part: usize) -> (Self, usize) {
        match part.checked_sub(CUBE_WORDS) {
            None => (Self::Cube, part),
            Some(word) => (Self::Fourth, word),
        }
    }

    /// The bits of a sum.
    const fn bits(self) -> i32 {
        match self {
            Self::Cube => 5 * 64,
            Self::Fourth => 6 * 64,
        }
    }

    fn words(self, sums: &Sums) -> &[u64] {
        match self {
            Self::Cube => &sums[..CUBE_WORDS],
            Self::Fourth => &sums[CUBE_WORDS..],
        }
    }

    fn words_mut(self, sums: &mut Sums) -> &mut [u64] {
        match self {
            Self::Cube => &mut sums[..CUBE_WORDS],
            Self::Fourth => &mut sums[CUBE_WORDS..],
        }
    }

    /// The exponent of the power's unit, for items with this one.
    fn unit(self, of_items: i32) -> i32 {
        self as i32 * of_items
    }
}

/// The sums of the cubes and of the fourth powers of each key's finite items.
///
/// Items are integers in a unit. Where all items are near each other they have one unit, and each key has one pair of sums. Each further
/// unit of a key's items has sums of its own.
#[derive(Clone, Debug)]
pub struct HigherPowers<T: Float> {
    /// The exponent of the first items' unit u. Others are 2^(21 i) units.
    unit: Option<i32>,
    sums: Vec<Sums>,
    /// For keys with items of other units: i, and the sums.
    others: HashMap<usize, Vec<(i32, Sums)>>,
    item: PhantomData<T>,
}

impl<T: Float> HigherPowers<T> {
    /// Chooses the unit for items, if there is none.
    fn prepare(&mut self, items: &[f64]) {
        if self.unit.is_none() {
            let numbers = items
                .iter()
                .filter(|item| item.is_finite() && !is_zero(**item));
            let highest = numbers.map(|item| integer(*item).1).max();
            self.unit = highest.map(|highest| highest - PLACES + 1);
        }
    }

    /// Adds the powers of a block of items, or subtracts them.
    pub(crate) fn change<K: Key>(&mut self, keys: &[K], items: &[f64], removes: bool) {
        self.prepare(items);
        let Some(own) = self.unit else {
            return;
        };
        let change = if removes {
            subtract_from_words
        } else {
            add_to_words
        };
        for (key, &item) in keys.iter().zip(items) {
            if item.is_finite() && !is_zero(item) {
                let (value, unit) = integer(item);
                let above = unit - own;
                let (digit, places) = (above.div_euclid(PLACES), above.rem_euclid(PLACES));
                let powers = powers(i128::from(value) << places);
                let sums = self.sums_of(key.place(), digit);
                for power in Power::BOTH {
                    change(power.words_mut(sums), power.words(&powers));
                }
            }
        }
    }

    /// A key's sums of a unit.
    #[inline]
    fn sums_of(&mut self, key: usize, digit: i32) -> &mut Sums {
        if digit == 0 {
            return &mut self.sums[key];
        }
        let others = self.others.entry(key).or_default();
        let place = others.iter().position(|(other, _)| *other == digit);
        let place = place.unwrap_or_else(|| {
            others.push((digit, [0; WORDS]));
            others.len() - 1
        });
        &mut others[place].1
    }

    /// A key's sums of all units, with the units' exponents.
    fn all_of(&self, key: usize) -> impl Iterator<Item = (i32, &Sums)> {
        let own = self.unit.unwrap_or(0);
        let others = self.others.get(&key).into_iter().flatten();
        let others = others.map(move |(digit, sums)| (own + digit * PLACES, sums));
        [(own, &self.sums[key])].into_iter().chain(others)
    }

    /// Adds integer * 2^unit to a key's sum.
    fn add_integer(&mut self, key: usize, power: Power, integer: i128, unit: i32) {
        if integer == 0 {
            return;
        }
        let step = power as i32;
        let own = *self.unit.get_or_insert(unit.div_euclid(step));
        let above = unit - power.unit(own);
        let bits = (i128::BITS - integer.unsigned_abs().leading_zeros()).cast_signed();
        let room = power.bits() - SPARE_BITS;
        let digit = if (0..=room - bits).contains(&above) {
            0
        } else {
            above.div_euclid(step * PLACES)
        };
        let places = (above - digit * step * PLACES).unsigned_abs();
        let sums = power.words_mut(self.sums_of(key, digit));
        let mut words = [0; WORDS];
        let words = &mut words[..sums.len()];
        shift_into(integer, places, words);
        add_to_words(sums, words);
    }

    /// Adds a number to a key's sum.
    pub(crate) fn add_number<F: FixedFormat>(
        &mut self,
        key: usize,
        power: Power,
        number: &Fixed<F>,
    ) {
        let mut words = number.to_words();
        let words = &mut words.as_mut()[..Fixed::<F>::WORDS];
        each_word(words, F::LOWEST, |word, unit| {
            self.add_integer(key, power, word, unit)
        });
    }

    /// A key's sum.
    pub(crate) fn number<F: FixedFormat>(&self, key: usize, power: Power) -> Fixed<F> {
        let mut number = Fixed::ZERO;
        for (unit, sums) in self.all_of(key) {
            let mut sums = *sums;
            let words = power.words_mut(&mut sums);
            each_word(words, power.unit(unit), |word, unit| {
                number.add_integer(word, unit);
            });
        }
        number
    }

    fn total<F: FixedFormat>(&self, key: usize, power: Power) -> Total<F> {
        Total {
            fixed: self.number(key, power),
            counters: Counters::default(),
        }
    }

    fn add_total<F: FixedFormat>(
        &mut self,
        power: Power,
        entry: &Entry<'_>,
        key: usize,
    ) -> Result<(), WrongEntries> {
        let mut total = Total::<F>::ZERO;
        entry.add_to(&mut total)?;
        self.add_number(key, power, &total.fixed);
        Ok(())
    }
}

/// The cube and the fourth power of an integer of 74 bits and a sign.
#[inline]
fn powers(item: i128) -> Sums {
    let magnitude = item.unsigned_abs();
    let [lower, upper] = [magnitude & u128::from(u64::MAX), magnitude >> 64];
    // 148 bits.
    let square = {
        let middle = 2 * lower * upper + ((lower * lower) >> 64);
        [lower * lower, middle, upper * upper + (middle >> 64)].map(lower_half)
    };
    let mut powers = [0; WORDS];
    multiply(
        &square,
        &[lower, upper].map(lower_half),
        &mut powers[..CUBE_WORDS],
    );
    if item < 0 {
        let cube = powers;
        powers[..CUBE_WORDS].fill(0);
        subtract_from_words(&mut powers[..CUBE_WORDS], &cube[..CUBE_WORDS]);
    }
    multiply(&square, &square, &mut powers[CUBE_WORDS..]);
    powers
}

/// Adds a product to a number that is zero.
#[inline(always)]
fn multiply(left: &[u64], right: &[u64], product: &mut [u64]) {
    for (place, &left) in left.iter().enumerate() {
        let mut carry = 0;
        for (&right, word) in right.iter().zip(&mut product[place..]) {
            let sum = u128::from(left) * u128::from(right) + u128::from(*word) + carry;
            (*word, carry) = (lower_half(sum), sum >> 64);
        }
        product[place + right.len()] = lower_half(carry);
    }
}

impl<T: Float> Columns for HigherPowers<T> {
    /// A word each.
    const PARTS: usize = WORDS;

    fn new(keys: usize) -> Result<Self, LimitError> {
        check_memory::<Sums>(keys)?;
        Ok(Self {
            unit: None,
            sums: vec![[0; WORDS]; keys],
            others: HashMap::new(),
            item: PhantomData,
        })
    }

    fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        reserve(&mut self.sums, keys)
    }

    fn grow(&mut self, keys: usize) {
        self.sums.resize(self.sums.len().max(keys), [0; WORDS]);
    }

    fn forget_first(&mut self, keys: usize) {
        self.sums.drain(..keys);
        let others = std::mem::take(&mut self.others).into_iter();
        let kept = others.filter_map(|(key, sums)| Some((key.checked_sub(keys)?, sums)));
        self.others = kept.collect();
    }

    fn memory(&self) -> usize {
        let of_list = |list: &Vec<_>| list.capacity() * size_of::<(i32, Sums)>();
        self.sums.capacity() * size_of::<Sums>()
            + self.others.allocation_size()
            + self
                .others
                .values()
                .map(of_list)
                .fold(0, |sum, bytes| sum + bytes)
    }

    /// Sums beside them have room for as many items.
    fn make_room(&mut self, _: &Self, _: Places<'_>) -> Result<(), LimitError> {
        Ok(())
    }

    fn check_held(&self, _: &Self, _: Places<'_>) -> Result<(), RemoveKeyedError> {
        Ok(())
    }

    fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
        let are_alike =
            *self.unit.get_or_insert(other.unit.unwrap_or(0)) == other.unit.unwrap_or(0);
        let change = if removes {
            subtract_from_words
        } else {
            add_to_words
        };
        for key in 0..other.sums.len() {
            let place = places.of(key);
            if are_alike {
                for power in Power::BOTH {
                    change(
                        power.words_mut(&mut self.sums[place]),
                        power.words(&other.sums[key]),
                    );
                }
            }
            for (unit, sums) in other.all_of(key).skip(are_alike.into()) {
                for power in Power::BOTH {
                    let mut sums = *sums;
                    each_word(
                        power.words_mut(&mut sums),
                        power.unit(unit),
                        |word, unit| {
                            self.add_integer(
                                place,
                                power,
                                if removes { -word } else { word },
                                unit,
                            );
                        },
                    );
                }
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
        let mut bits = [0; WORDS];
        for (key, (row, sums)) in rows.iter_mut().zip(&self.sums).enumerate() {
            let row = &mut row.as_mut()[first..][..WORDS];
            for (part, (integer, &word)) in row.iter_mut().zip(sums).enumerate() {
                *integer = part_of(part, word);
                bits[part] |= magnitude(*integer);
            }
            for (unit, sums) in self.all_of(key).skip(1) {
                for (part, &word) in sums.iter().enumerate().filter(|(_, word)| **word != 0) {
                    let unit = unit_of_part(part, unit);
                    write_short(key as u64, first + part, part_of(part, word), unit, entries);
                }
            }
        }
        let has_entries = !self.others.is_empty();
        for (part, terms) in terms[first..][..WORDS].iter_mut().enumerate() {
            let keys = self.unit.map_or(0, |_| rows.len());
            let unit = unit_of_part(part, self.unit.unwrap_or(0));
            *terms = terms_of(unit, bits[part], keys, has_entries);
        }
    }

    fn read<R: AsRef<[i128]>>(rows: &[R], first: usize, agreed: &[Agreed]) -> Self {
        let mut powers = Self::new(rows.len()).expect("there is memory for as many rows");
        for (key, row) in rows.iter().enumerate() {
            let row = row.as_ref()[first..][..WORDS].iter();
            for (part, (integer, agreed)) in row.zip(&agreed[first..]).enumerate() {
                let (power, _) = Power::of_part(part);
                powers.add_integer(key, power, *integer, agreed.unit);
            }
        }
        powers
    }

    fn write_key(&self, key: usize, word: u64, first: usize, list: &mut Vec<u64>) {
        let cubes = self.total::<T::Cubes>(key, Power::Cube);
        write_long(word, first, &cubes, list);
        let fourths = self.total::<T::Fourths>(key, Power::Fourth);
        write_long(word, first + CUBE_WORDS, &fourths, list);
    }

    fn add_entry(
        &mut self,
        part: usize,
        entry: &Entry<'_>,
        key: usize,
    ) -> Result<(), WrongEntries> {
        let (power, _) = Power::of_part(part);
        match power {
            Power::Cube => self.add_total::<T::Cubes>(power, entry, key),
            Power::Fourth => self.add_total::<T::Fourths>(power, entry, key),
        }
    }

    fn merge_entries(
        part: usize,
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries> {
        match Power::of_part(part).0 {
            Power::Cube => merge_entries::<T::Cubes>(same, into),
            Power::Fourth => merge_entries::<T::Fourths>(same, into),
        }
    }

    fn items(&self) -> u64 {
        0
    }

    fn raise_items(&mut self, _: u64) {}
}

/// The integer that a word is: the highest ones have a sign.
fn part_of(part: usize, word: u64) -> i128 {
    match part + 1 {
        CUBE_WORDS | WORDS => word.cast_signed().into(),
        _ => word.into(),
    }
}

/// The exponent of the unit of a part, for items with this one.
fn unit_of_part(part: usize, of_items: i32) -> i32 {
    let (power, word) = Power::of_part(part);
    power.unit(of_items) + 64 * i32::try_from(word).expect("there are few words")
}
