//! A short integer for each key, and a long one for keys that need it.
//!
//! All keys have an integer of 128 bits in one unit. Items whose exponents fit are added to it, which is nearly as fast as to add doubles. What
//! does not fit, a key's integer that overflows included, goes to a fixed-point number of that key alone.

use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, decode};

use super::key::Key;
use crate::counters::{Counters, is_zero};
use crate::fixed::Window;
use crate::float::Float;
use crate::total::{Total, short_mean};

/// From so many blocks on, another unit is tried where many items do not fit.
const FEWEST_BLOCKS: usize = 16;

/// So many blocks are added without a unit where less than half of the items fit any.
const BLOCKS_WITHOUT_UNIT: u32 = 63;

/// A sum for each key.
#[derive(Clone, Debug)]
pub(crate) struct Windows<W: Window> {
    integers: Vec<i128>,
    /// That of the integers; `None` as long as all are zero.
    unit: Option<DecodeUnit>,
    /// The blocks since the unit was chosen.
    blocks: usize,
    /// How many blocks are added without it.
    without_unit: u32,
    spilled: Spilled<W>,
}

impl<W: Window> Windows<W> {
    pub(crate) fn new(keys: usize) -> Self {
        Self {
            integers: vec![0; keys],
            unit: None,
            blocks: 0,
            without_unit: 0,
            spilled: Spilled::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.integers.len()
    }

    /// Makes room for more keys.
    pub(crate) fn grow(&mut self, keys: usize) {
        self.integers.resize(keys.max(self.len()), 0);
    }

    /// Adds items, or subtracts them. There are as many keys, all of which have a sum.
    pub(crate) fn add<K: Key>(&mut self, level: Level, keys: &[K], items: &[f64], removes: bool) {
        let mut words = Words {
            lower: [0; DECODED_ITEMS],
            higher: [0; DECODED_ITEMS],
        };
        let blocks = keys.chunks(DECODED_ITEMS).zip(items.chunks(DECODED_ITEMS));
        for (keys, items) in blocks {
            if self.without_unit > 0 {
                self.without_unit -= 1;
                self.spill_all(keys, items, removes);
            } else {
                self.add_block(level, keys, items, removes, &mut words);
            }
        }
    }

    fn add_block<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[f64],
        removes: bool,
        words: &mut Words,
    ) {
        let Some(unit) = self.unit.or_else(|| best_unit(items)) else {
            // Zeros, and what is not finite.
            return self.spill_misfits(keys, items, removes, None);
        };
        self.unit = Some(unit);
        self.blocks += 1;
        let all_fit = decode(level, items, unit, &mut words.lower, &mut words.higher);
        if removes {
            for (lower, higher) in words.lower.iter_mut().zip(&mut words.higher) {
                let borrow = i64::from(*lower != 0);
                (*lower, *higher) = (lower.wrapping_neg(), -*higher - borrow);
            }
        }
        let words = words.lower.iter().zip(&words.higher);
        for (key, (&lower, &higher)) in keys.iter().zip(words) {
            let item = i128::from(higher) << 64 | i128::from(lower);
            let integer = &mut self.integers[key.place()];
            let (sum, overflows) = integer.overflowing_add(item);
            if overflows {
                self.spilled.take(key.place(), integer, unit);
                *integer = item;
            } else {
                *integer = sum;
            }
        }
        if !all_fit {
            self.spill_misfits(keys, items, removes, Some(unit));
        }
    }

    /// Adds what does not fit to numbers of its keys alone.
    #[cold]
    fn spill_misfits<K: Key>(
        &mut self,
        keys: &[K],
        items: &[f64],
        removes: bool,
        unit: Option<DecodeUnit>,
    ) {
        let mut finite = 0;
        for (key, &item) in keys.iter().zip(items) {
            if unit.map_or_else(|| is_zero(item), |unit| unit.fits(item)) {
                continue;
            }
            finite += usize::from(item.is_finite());
            self.spilled
                .add(self.integers.len(), key.place(), item, removes);
        }
        if 4 * finite > items.len() {
            self.reconsider(items, finite);
        }
    }

    fn spill_all<K: Key>(&mut self, keys: &[K], items: &[f64], removes: bool) {
        for (key, &item) in keys.iter().zip(items) {
            if !is_zero(item) {
                self.spilled
                    .add(self.integers.len(), key.place(), item, removes);
            }
        }
    }

    /// Looks for a better unit where so many items of a block did not fit.
    fn reconsider(&mut self, items: &[f64], misfits: usize) {
        let best = best_unit(items).expect("there are finite items that are not zero");
        let others = items.iter().filter(|item| !best.fits(**item)).count();
        if 2 * others > items.len() {
            self.without_unit = BLOCKS_WITHOUT_UNIT;
        } else if 2 * others < misfits
            && self.blocks > FEWEST_BLOCKS.max(self.len() / DECODED_ITEMS)
        {
            self.change_unit(best);
        }
    }

    fn change_unit(&mut self, unit: DecodeUnit) {
        let old = self.unit.replace(unit).expect("there was one");
        self.blocks = 0;
        let places = unit.exponent() - old.exponent();
        for key in 0..self.integers.len() {
            let integer = &mut self.integers[key];
            match shifted(*integer, places) {
                Some(shifted) => *integer = shifted,
                None => self.spilled.take(key, integer, old),
            }
        }
    }

    /// Adds another one's sums: that of its key number i to this key number `keys(i)`.
    pub(crate) fn merge(&mut self, other: &Self, keys: impl Fn(usize) -> usize) {
        if let Some(unit) = other.unit {
            let own = *self.unit.get_or_insert(unit);
            let places = own.exponent() - unit.exponent();
            for (key, &integer) in other.integers.iter().enumerate() {
                let key = keys(key);
                let sum = shifted(integer, places)
                    .and_then(|shifted| shifted.checked_add(self.integers[key]));
                match sum {
                    Some(sum) => self.integers[key] = sum,
                    None => self
                        .spilled
                        .add_integer(self.integers.len(), key, integer, unit),
                }
            }
        }
        for (key, total) in &other.spilled.totals {
            self.spilled
                .of(self.integers.len(), keys(*key as usize))
                .merge(total);
        }
    }

    /// The same, if keys have the same numbers. If there are more keys, so there will be here.
    pub(crate) fn merge_all(&mut self, other: &Self) {
        self.grow(other.len());
        self.merge(other, |key| key);
    }

    /// Adds the square of an item by integer arithmetic.
    pub(crate) fn add_square(&mut self, key: usize, item: f64) {
        let total = self.spilled.of(self.integers.len(), key);
        total.add_product_by_integers(item, item);
    }

    /// The mean of a key's items, rounded once.
    pub(crate) fn mean<T: Float>(&self, key: usize, items: u64) -> T {
        match self.short(key) {
            Some((integer, unit)) if items > 0 => short_mean(integer, unit, items),
            _ => self.total(key).mean_of(items),
        }
    }

    /// The integer of a key that has no other number.
    pub(crate) fn short(&self, key: usize) -> Option<(i128, i32)> {
        let integer = self.integers[key];
        let unit = self.unit.map_or(0, DecodeUnit::exponent);
        self.spilled.find(key).is_none().then_some((integer, unit))
    }

    /// What a key has that is not finite.
    pub(crate) fn counters(&self, key: usize) -> Counters {
        self.spilled
            .find(key)
            .map_or(Counters::default(), |total| total.counters)
    }

    /// All of a key. It counts no items but those that are not finite.
    pub(crate) fn total(&self, key: usize) -> Total<W> {
        let mut total = self.spilled.find(key).copied().unwrap_or(Total::ZERO);
        if let Some(unit) = self.unit {
            total.fixed.add_integer(self.integers[key], unit.exponent());
        }
        total
    }
}

/// integer / 2^places, if that is an integer of as many bits.
#[inline]
fn shifted(integer: i128, places: i32) -> Option<i128> {
    let distance = places.unsigned_abs();
    if places == 0 || integer == 0 {
        return Some(integer);
    }
    if distance >= i128::BITS {
        return None;
    }
    let shifted = if places > 0 {
        integer >> distance
    } else {
        integer << distance
    };
    let back = if places > 0 {
        shifted << distance
    } else {
        shifted >> distance
    };
    (back == integer).then_some(shifted)
}

/// The unit that most of the items fit; `None` if all are zero or not finite.
#[cold]
fn best_unit(items: &[f64]) -> Option<DecodeUnit> {
    let exponent = |item: &f64| (item.to_bits() >> 52 & 0x7FF) as i32 - 1023;
    let is_number = |item: &&f64| item.is_finite() && item.to_bits() << 1 != 0;
    let mut exponents: Vec<i32> = items.iter().filter(is_number).map(exponent).collect();
    exponents.sort_unstable();
    let mut best: Option<(usize, i32, i32)> = None;
    let mut first = 0;
    for last in 0..exponents.len() {
        while exponents[last] - exponents[first] >= DecodeUnit::EXPONENTS {
            first += 1;
        }
        let count = last + 1 - first;
        if best.is_none_or(|(most, ..)| count >= most) {
            best = Some((count, exponents[first], exponents[last]));
        }
    }
    let (_, lowest, highest) = best?;
    // As for the highest, but so that the lowest fits.
    let spare = (DecodeUnit::for_exponent(highest).exponent() + 52 - lowest).max(0);
    Some(DecodeUnit::for_exponent(highest - spare))
}

/// Items of a block as integers.
struct Words {
    lower: [u64; DECODED_ITEMS],
    higher: [i64; DECODED_ITEMS],
}

/// Numbers of some keys.
#[derive(Clone, Debug)]
struct Spilled<W: Window> {
    /// For each key, which of the numbers is its, plus 1; or 0. Empty as long as there is none.
    places: Vec<u32>,
    totals: Vec<(u32, Total<W>)>,
}

impl<W: Window> Default for Spilled<W> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            totals: Vec::new(),
        }
    }
}

impl<W: Window> Spilled<W> {
    #[inline]
    fn find(&self, key: usize) -> Option<&Total<W>> {
        let place = *self.places.get(key)?;
        let index = place.checked_sub(1)?;
        Some(&self.totals[index as usize].1)
    }

    /// That of a key, of so many.
    #[inline]
    fn of(&mut self, keys: usize, key: usize) -> &mut Total<W> {
        if self.places.len() < keys {
            self.places.resize(keys, 0);
        }
        let place = &mut self.places[key];
        if *place == 0 {
            let short = |index: usize| u32::try_from(index).expect("there is memory for fewer");
            self.totals.push((short(key), Total::ZERO));
            *place = short(self.totals.len());
        }
        &mut self.totals[*place as usize - 1].1
    }

    #[inline]
    fn add(&mut self, keys: usize, key: usize, item: f64, removes: bool) {
        let total = self.of(keys, key);
        if removes {
            total.remove_one(item);
        } else {
            total.add_one(item);
        }
    }

    fn add_integer(&mut self, keys: usize, key: usize, integer: i128, unit: DecodeUnit) {
        self.of(keys, key)
            .fixed
            .add_integer(integer, unit.exponent());
    }

    /// Takes over a key's integer.
    #[cold]
    fn take(&mut self, key: usize, integer: &mut i128, unit: DecodeUnit) {
        let keys = self.places.len().max(key + 1);
        self.add_integer(keys, key, *integer, unit);
        *integer = 0;
    }
}
