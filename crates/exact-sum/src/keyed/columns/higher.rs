//! Keeps the sums of the cubes and of the fourth powers of all keys' items.

use hashbrown::HashMap;
use simd_kernels::is_zero;

use super::Places;
use crate::keyed::key::Key;
use crate::keyed::message::entry::{Entry, WrongEntries, merge_entries, write_long, write_short};
use crate::keyed::message::terms::{Agreed, Terms, magnitude, terms_of};
use crate::number::counters::{Counters, LimitError, check_memory, reserve};
use crate::number::fixed::{DoubleCubes, DoubleFourths, Fixed, FixedFormat, each_word, integer};
use crate::number::total::Total;
use crate::number::wide::Wide;

/// The numbers of words of a sum of cubes and of a sum of fourth powers. Shifted items have 74 bits, so there is room for 2^63 items.
const CUBE_WORDS: usize = 5;
const FOURTH_WORDS: usize = 6;
const WORDS: usize = CUBE_WORDS + FOURTH_WORDS;

/// Items whose exponents are within this many places share a unit.
const PLACES: i32 = 21;

/// When a sum from a message, from bytes or from other keys is added, this many bits above it stay free for later values.
const SPARE_BITS: i32 = 24;

/// The sums of the cubes and of the fourth powers of a key's items that share a unit.
#[derive(Clone, Copy, Debug, Default)]
struct PowerSums {
    cubes: Wide<CUBE_WORDS>,
    fourths: Wide<FOURTH_WORDS>,
}

impl PowerSums {
    /// The powers of an item.
    #[inline(always)]
    fn of(item: i128) -> Self {
        let item = Wide::<2>::of(item);
        let square = item.times::<2, 3>(item);
        Self {
            cubes: square.times(item),
            fourths: square.times(square),
        }
    }

    #[inline(always)]
    fn change(&mut self, other: &Self, removes: bool) {
        self.cubes = self.cubes.changed(other.cubes, removes);
        self.fourths = self.fourths.changed(other.fourths, removes);
    }

    /// Adds integer * 2^places.
    fn add(&mut self, power: Power, integer: i128, places: u32) {
        match power {
            Power::Cube => self.cubes = self.cubes.plus(Wide::shifted(integer, places)),
            Power::Fourth => self.fourths = self.fourths.plus(Wide::shifted(integer, places)),
        }
    }

    /// The words of both sums.
    fn words(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let (cubes, fourths) = words.split_at_mut(CUBE_WORDS);
        cubes.copy_from_slice(&self.cubes.0);
        fourths.copy_from_slice(&self.fourths.0);
        words
    }

    /// Calls `each` with the parts of both sums and the exponents of their units. `of_items` is the exponent of the items' unit.
    fn each_part(&self, of_items: i32, mut each: impl FnMut(Power, i128, i32)) {
        let Self {
            mut cubes,
            mut fourths,
        } = *self;
        for (power, words) in [
            (Power::Cube, &mut cubes.0[..]),
            (Power::Fourth, &mut fourths.0[..]),
        ] {
            let unit = power.unit(of_items);
            each_word(words, unit, |part, unit| each(power, part, unit));
        }
    }
}

/// The power of the items that a sum adds up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Power {
    Cube = 3,
    Fourth = 4,
}

impl Power {
    /// The power that a part of a message belongs to, and the index of the part's word in the sum.
    fn of_part(part: usize) -> (Self, usize) {
        match part.checked_sub(CUBE_WORDS) {
            None => (Self::Cube, part),
            Some(word) => (Self::Fourth, word),
        }
    }

    /// The number of bits of a sum.
    const fn bits(self) -> i32 {
        match self {
            Self::Cube => 5 * 64,
            Self::Fourth => 6 * 64,
        }
    }

    /// The exponent of the power's unit, given the exponent of the items' unit.
    fn unit(self, of_items: i32) -> i32 {
        self as i32 * of_items
    }
}

/// The sums of the cubes and of the fourth powers of each key's finite items.
///
/// Items are integers in a unit, which is the same for items of similar magnitude. Each key has a pair of sums in the unit of the first
/// items. If a key has items in other units, it has a further pair of sums for each of these units.
#[derive(Clone, Debug)]
pub(crate) struct HigherPowers {
    /// The exponent of the unit u of the first items. Other units are 2^(21 i) u.
    unit: Option<i32>,
    sums: Vec<PowerSums>,
    /// For keys with items of other units: each unit's i, and the sums in this unit.
    others: HashMap<usize, Vec<(i32, PowerSums)>>,
}

impl HigherPowers {
    /// Chooses a unit for these items, if there is none yet.
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
        for (key, &item) in keys.iter().zip(items) {
            if item.is_finite() && !is_zero(item) {
                let (value, unit) = integer(item);
                let above = unit - own;
                let (digit, places) = (above.div_euclid(PLACES), above.rem_euclid(PLACES));
                let powers = PowerSums::of(i128::from(value) << places);
                self.sums_of(key.place(), digit).change(&powers, removes);
            }
        }
    }

    /// A key's sums in the unit 2^(21 `digit`) u.
    #[inline]
    fn sums_of(&mut self, key: usize, digit: i32) -> &mut PowerSums {
        if digit == 0 {
            return &mut self.sums[key];
        }
        let others = self.others.entry(key).or_default();
        let place = others.iter().position(|(other, _)| *other == digit);
        let place = place.unwrap_or_else(|| {
            others.push((digit, PowerSums::default()));
            others.len() - 1
        });
        &mut others[place].1
    }

    /// A key's sums in all units, with the units' exponents.
    fn all_of(&self, key: usize) -> impl Iterator<Item = (i32, &PowerSums)> {
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
        self.sums_of(key, digit).add(power, integer, places);
    }

    /// Adds a number to a key's sum.
    pub(crate) fn add_number<F: FixedFormat>(
        &mut self,
        key: usize,
        power: Power,
        number: &Fixed<F>,
    ) {
        let mut words = number.words();
        let words = &mut words.as_mut()[..Fixed::<F>::WORDS];
        each_word(words, F::LOWEST, |word, unit| {
            self.add_integer(key, power, word, unit)
        });
    }

    pub(crate) fn number<F: FixedFormat>(&self, key: usize, power: Power) -> Fixed<F> {
        let mut number = Fixed::ZERO;
        for (unit, sums) in self.all_of(key) {
            let unit = power.unit(unit);
            match power {
                Power::Cube => number.add_wide(sums.cubes.0, unit),
                Power::Fourth => number.add_wide(sums.fourths.0, unit),
            }
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

/// For the methods, see [`Columns`](super::Columns).
impl HigherPowers {
    /// The number of parts in a message: one for each word.
    pub(crate) const PARTS: usize = WORDS;

    pub(crate) fn new(keys: usize) -> Result<Self, LimitError> {
        check_memory::<PowerSums>(keys)?;
        Ok(Self {
            unit: None,
            sums: vec![PowerSums::default(); keys],
            others: HashMap::new(),
        })
    }

    pub(crate) fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        reserve(&mut self.sums, keys)
    }

    pub(crate) fn grow(&mut self, keys: usize) {
        self.sums
            .resize(self.sums.len().max(keys), PowerSums::default());
    }

    pub(crate) fn forget_first(&mut self, keys: usize) {
        self.sums.drain(..keys);
        let others = std::mem::take(&mut self.others).into_iter();
        let kept = others.filter_map(|(key, sums)| Some((key.checked_sub(keys)?, sums)));
        self.others = kept.collect();
    }

    pub(crate) fn memory(&self) -> usize {
        let of_list = |list: &Vec<_>| list.capacity() * size_of::<(i32, PowerSums)>();
        self.sums.capacity() * size_of::<PowerSums>()
            + self.others.allocation_size()
            + self
                .others
                .values()
                .map(of_list)
                .fold(0, |sum, bytes| sum + bytes)
    }

    pub(crate) fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
        let Some(unit) = other.unit else {
            return;
        };
        let are_alike = *self.unit.get_or_insert(unit) == unit;
        for key in 0..other.sums.len() {
            let place = places.of(key);
            if are_alike {
                self.sums[place].change(&other.sums[key], removes);
            }
            for (unit, sums) in other.all_of(key).skip(are_alike.into()) {
                sums.each_part(unit, |power, part, unit| {
                    self.add_integer(place, power, if removes { -part } else { part }, unit);
                });
            }
        }
    }

    pub(crate) fn write_rows(
        &self,
        first: usize,
        rows: &mut [i128],
        width: usize,
        terms: &mut [Terms],
        entries: &mut Vec<u64>,
    ) {
        let mut bits = [0; WORDS];
        let rows = rows.chunks_exact_mut(width).zip(&self.sums);
        for (key, (row, sums)) in rows.enumerate() {
            let row = &mut row[first..][..WORDS];
            for (part, (integer, word)) in row.iter_mut().zip(sums.words()).enumerate() {
                *integer = part_of(part, word);
                bits[part] |= magnitude(*integer);
            }
            for (unit, sums) in self.all_of(key).skip(1) {
                let words = sums.words().into_iter().enumerate();
                for (part, word) in words.filter(|(_, word)| *word != 0) {
                    let unit = unit_of_part(part, unit);
                    write_short(key as u64, first + part, part_of(part, word), unit, entries);
                }
            }
        }
        let has_entries = !self.others.is_empty();
        for (part, terms) in terms[first..][..WORDS].iter_mut().enumerate() {
            let keys = self.unit.map_or(0, |_| self.sums.len());
            let unit = unit_of_part(part, self.unit.unwrap_or(0));
            *terms = terms_of(unit, bits[part], keys, has_entries);
        }
    }

    pub(crate) fn read_rows(first: usize, rows: &[i128], width: usize, agreed: &[Agreed]) -> Self {
        let rows = rows.chunks_exact(width);
        let mut powers = Self::new(rows.len()).expect("there is memory for this many rows");
        for (key, row) in rows.enumerate() {
            let row = row[first..][..WORDS].iter();
            for (part, (integer, agreed)) in row.zip(&agreed[first..]).enumerate() {
                let (power, _) = Power::of_part(part);
                powers.add_integer(key, power, *integer, agreed.unit);
            }
        }
        powers
    }

    pub(crate) fn write_key(&self, key: usize, word: u64, first: usize, list: &mut Vec<u64>) {
        let cubes = self.total::<DoubleCubes>(key, Power::Cube);
        write_long(word, first, &cubes, list);
        let fourths = self.total::<DoubleFourths>(key, Power::Fourth);
        write_long(word, first + CUBE_WORDS, &fourths, list);
    }

    pub(crate) fn add_entry(
        &mut self,
        part: usize,
        entry: &Entry<'_>,
        key: usize,
    ) -> Result<(), WrongEntries> {
        let (power, _) = Power::of_part(part);
        match power {
            Power::Cube => self.add_total::<DoubleCubes>(power, entry, key),
            Power::Fourth => self.add_total::<DoubleFourths>(power, entry, key),
        }
    }

    pub(crate) fn merge_entries(
        part: usize,
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries> {
        match Power::of_part(part).0 {
            Power::Cube => merge_entries::<DoubleCubes>(same, into),
            Power::Fourth => merge_entries::<DoubleFourths>(same, into),
        }
    }
}

/// The word of a part as an integer; the highest word of each sum has a sign.
fn part_of(part: usize, word: u64) -> i128 {
    match part + 1 {
        CUBE_WORDS | WORDS => word.cast_signed().into(),
        _ => word.into(),
    }
}

/// The exponent of the unit of a part, given the exponent of the items' unit.
fn unit_of_part(part: usize, of_items: i32) -> i32 {
    let (power, word) = Power::of_part(part);
    power.unit(of_items) + 64 * i32::try_from(word).expect("there are few words")
}
