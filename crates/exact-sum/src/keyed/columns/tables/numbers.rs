//! Merges the integers of keys, adds integers in other units to them, and reads them.

use simd_kernels::{DecodeDigits, DecodeUnit, Pair};

use super::{Place, Tables, add_pair, is_near, pair_of};
use crate::number::fixed::integer_of;

impl Tables {
    /// Adds the integers of `other`, or subtracts them, key by key. If the units differ, returns false and changes nothing. `other` must
    /// not have more keys than `self`.
    pub(crate) fn merge(&mut self, other: &Self, removes: bool) -> bool {
        let Some(place) = other.place else {
            return true;
        };
        if self.place.get_or_insert(place).digits != place.digits {
            return false;
        }
        for &digit in &other.used {
            let mut near = [0; 2];
            for (own, pair) in self.table(digit).iter_mut().zip(&other.tables[digit]) {
                let pair = if removes {
                    pair.map(|half| -half)
                } else {
                    *pair
                };
                near = add_pair(own, &pair, near);
            }
            if is_near(near) {
                (0..other.keys).for_each(|key| self.carry(digit, key));
            }
        }
        true
    }

    /// Adds integer * 2^unit.
    pub(crate) fn add_integer(&mut self, key: usize, integer: i128, unit: DecodeUnit) {
        let place = *self.place.get_or_insert_with(|| Place::of(unit));
        let above = unit.exponent() - place.digits.unit(0).exponent();
        // The bits below digit 0 are zero: no item has such bits.
        let integer = integer >> (-above).clamp(0, 127);
        let above = usize::try_from(above).unwrap_or(0);
        let digit = above / DecodeDigits::PLACES as usize;
        let places = above % DecodeDigits::PLACES as usize;
        if integer.unsigned_abs().leading_zeros() > DecodeDigits::PLACES + 1 {
            self.add_to_digit(digit, key, integer << places);
        } else {
            self.add_to_digit(digit, key, (integer & ((1 << 64) - 1)) << places);
            self.add_to_digit(digit + 2, key, integer >> 64 << places);
        }
    }

    /// Sets the integers of all keys, which must be zero so far. The new integers are in `unit`, a unit of another `Tables`.
    pub(crate) fn fill(&mut self, unit: DecodeUnit, integers: impl Iterator<Item = i128>) {
        let place = Place::of(unit);
        self.place = Some(place);
        self.make_table(place.digit);
        for (key, integer) in integers.enumerate() {
            match pair_of(integer) {
                Some(pair) => self.tables[place.digit][key] = pair,
                None => self.add_integer(key, integer, unit),
            }
        }
    }

    /// The nonzero integers of a key with their units, in ascending order of the units.
    pub(crate) fn integers(&self, key: usize) -> impl Iterator<Item = (i128, DecodeUnit)> {
        self.used.iter().filter_map(move |&digit| {
            let integer = integer_of(self.tables[digit][key]);
            (integer != 0).then(|| (integer, self.unit(digit)))
        })
    }

    /// A key's integer and the exponent of its unit, if the integer has at most 128 bits.
    #[inline]
    pub(crate) fn short(&self, key: usize) -> Option<(i128, i32)> {
        let mut integers = self.integers(key);
        let Some((mut sum, unit)) = integers.next() else {
            return Some((0, 0));
        };
        for (integer, of_integer) in integers {
            let places = (of_integer.exponent() - unit.exponent()).cast_unsigned();
            if integer.unsigned_abs().leading_zeros() <= places {
                return None;
            }
            sum = sum.checked_add(integer << places)?;
        }
        Some((sum, unit.exponent()))
    }

    /// The pairs of all keys and their unit, if there is only one table.
    pub(crate) fn only_table(&self) -> Option<(&[Pair], DecodeUnit)> {
        match self.used[..] {
            [digit] => Some((&self.tables[digit], self.unit(digit))),
            _ => None,
        }
    }

    /// Removes the first `keys` keys; the remaining keys are renumbered from 0.
    pub(crate) fn forget_first(&mut self, keys: usize) {
        self.keys -= keys;
        for &digit in &self.used {
            self.tables[digit].drain(..keys);
        }
    }

    pub(crate) fn memory(&self) -> usize {
        let pairs = self.used.iter().map(|&digit| self.tables[digit].capacity());
        pairs.fold(0, |sum, pairs| sum + pairs * size_of::<Pair>())
    }

    fn unit(&self, digit: usize) -> DecodeUnit {
        let place = self.place.expect("a table has a unit");
        place.digits.unit(digit)
    }
}
