//! A sum in a short integer. Values that do not fit spill to a long integer.

use num_bigint::BigInt;

use super::digits::Digits;
use super::short::{NO_UNIT, Short};
use crate::number::counters::{Counters, LimitError, RemoveError};
use crate::number::fixed::{Fixed, FixedFormat, Magnitude};
use crate::number::float::Float;
use crate::number::scaled::Scaled;
use crate::number::total::Total;

/// Most exponents of units are multiples of this number. So most sums of similar items have the same unit, and merge by one addition.
const UNIT_STEP: i32 = 16;

/// The unit's exponent in the lowest 16 bits, and the number of counted items above them.
#[derive(Clone, Copy, Debug)]
struct Tag(u64);

impl Tag {
    const UNIT_BITS: u32 = u16::BITS;
    const MOST_ITEMS: u64 = u64::MAX >> Self::UNIT_BITS;

    #[inline(always)]
    const fn of(items: u64, unit: i16) -> Self {
        Self(items << Self::UNIT_BITS | unit.cast_unsigned() as u64)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the unit is in these bits")]
    fn unit(self) -> i16 {
        (self.0 as u16).cast_signed()
    }

    fn items(self) -> u64 {
        self.0 >> Self::UNIT_BITS
    }
}

/// digits * 2^unit, and a spilled number for values that do not fit there. Items are counted only by [`count`](Self::count).
#[derive(Clone, Debug)]
pub(super) struct Number<D: Digits, F: FixedFormat> {
    digits: D,
    /// The values that were added before the digits got another unit or overflowed; the counts of items that are not finite; and the number of items
    /// beyond those that the tag can count. Most sums have none of these.
    spilled: Option<Box<Total<F>>>,
    tag: Tag,
}

impl<D: Digits, F: FixedFormat> Default for Number<D, F> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<D: Digits, F: FixedFormat> PartialEq for Number<D, F> {
    fn eq(&self, other: &Self) -> bool {
        self.total() == other.total()
    }
}

impl<D: Digits, F: FixedFormat> Number<D, F> {
    pub(super) const EMPTY: Self = Self {
        digits: D::ZERO,
        spilled: None,
        tag: Tag::of(0, NO_UNIT),
    };

    /// Counts items. All items are counted before they are added.
    ///
    /// # Panics
    /// There would be more than 2^63 - 1 items.
    #[inline(always)]
    pub(super) fn count(&mut self, items: u64) {
        let room = Tag::MOST_ITEMS - self.tag.items();
        if items <= room {
            self.tag.0 += items << Tag::UNIT_BITS;
        } else {
            self.count_apart(items);
        }
    }

    #[cold]
    fn count_apart(&mut self, items: u64) {
        let mut counters = self.counters();
        let all = counters.items.checked_add_unsigned(items);
        counters.items = all.expect("a sum has room for 2^63 - 1 items");
        self.set_counters(counters);
    }

    pub(super) fn items(&self) -> u64 {
        self.counters().items.cast_unsigned()
    }

    pub(super) fn counters(&self) -> Counters {
        let apart = self.spilled.as_ref();
        let apart = apart.map_or_else(Counters::default, |total| total.counters);
        Counters {
            items: apart.items + self.tag.items().cast_signed(),
            ..apart
        }
    }

    fn set_counters(&mut self, counters: Counters) {
        let items = counters.items.cast_unsigned();
        let own = items.min(Tag::MOST_ITEMS);
        self.tag = Tag::of(own, self.tag.unit());
        let apart = Counters {
            items: (items - own).cast_signed(),
            ..counters
        };
        if self.spilled.is_some() || apart != Counters::default() {
            self.room().counters = apart;
        }
    }

    pub(super) fn unit(&self) -> i32 {
        self.tag.unit().into()
    }

    fn set_unit(&mut self, unit: i32) {
        let unit = i16::try_from(unit).expect("it is near the unit of a product of doubles");
        self.tag = Tag::of(self.tag.items(), unit);
    }

    /// Adds item * 2^unit if there is room. Returns whether it was added.
    #[inline(always)]
    pub(super) fn add_item(&mut self, item: D::Item, unit: i32) -> bool {
        self.set(self.digits_and_unit().plus_item(item, unit))
    }

    /// Sets the digits, if there are any. Returns whether there are.
    #[inline(always)]
    pub(super) fn set(&mut self, sum: Option<Short<D>>) -> bool {
        self.digits = sum.map_or(self.digits, |sum| sum.digits);
        sum.is_some()
    }

    #[inline(always)]
    pub(super) fn digits_and_unit(&self) -> Short<D> {
        Short {
            digits: self.digits,
            unit: self.tag.unit(),
        }
    }

    /// The number, without its count of items, if nothing is spilled.
    pub(super) fn short(&self) -> Option<Short<D>> {
        self.spilled.is_none().then(|| self.digits_and_unit())
    }

    pub(super) fn of_short(short: Short<D>, items: u64) -> Self {
        let mut number = Self {
            digits: short.digits,
            spilled: None,
            tag: Tag::of(0, short.unit),
        };
        number.count(items);
        number
    }

    /// Adds integer * 2^unit.
    pub(super) fn add_integer(&mut self, integer: i128, unit: i32) {
        if integer == 0 {
            return;
        }
        let zeros = integer.trailing_zeros();
        let (integer, unit) = (integer >> zeros, unit + zeros.cast_signed());
        let bits = (i128::BITS - integer.unsigned_abs().leading_zeros()).cast_signed();
        let most = D::BITS.cast_signed() - 2;
        let places = unit - self.unit();
        if (0..=most - bits).contains(&places)
            && let Some(sum) = self.digits.plus(integer, places.cast_unsigned())
        {
            self.digits = sum;
            return;
        }
        self.spill();
        match Self::unit_of(unit, unit + bits) {
            Some(own) => {
                let places = (unit - own).cast_unsigned();
                self.digits = D::ZERO.plus(integer, places).expect("the integer has room");
                self.set_unit(own);
            }
            None => self.room().fixed.add_integer(integer, unit),
        }
    }

    /// Adds the parts of a power, from the highest to the lowest: integers and the exponents of their units. The power is no longer than the power of
    /// an integer of 64 bits.
    #[inline(always)]
    pub(super) fn add_parts<const N: usize>(&mut self, parts: [(i128, i32); N]) {
        if self.set(self.digits_and_unit().plus_parts(parts)) {
            return;
        }
        // The highest part first: it determines the unit of the digits.
        for (part, unit) in parts {
            self.add_integer(part, unit);
        }
    }

    /// The exponent of the digits' unit, if the first value has the places from `lowest` to below `top`; `None` if the value does not fit.
    fn unit_of(lowest: i32, top: i32) -> Option<i32> {
        let most = D::BITS.cast_signed() - 2;
        let from_top = (top - D::ITEM_BITS.cast_signed() - D::BELOW) & -UNIT_STEP;
        let own = from_top.max(top - most).min(lowest).min(D::MOST_UNIT);
        (own >= top - most).then_some(own)
    }

    /// Adds an integer to a sum of integers.
    pub(super) fn add_whole(&mut self, integer: i128) {
        if self.digits.is_zero() {
            self.set_unit(0);
        }
        match self.digits.plus(integer, 0) {
            Some(sum) if self.unit() == 0 => self.digits = sum,
            _ => self.add_integer(integer, 0),
        }
    }

    /// Counts the kind of an item that is not finite.
    #[cold]
    pub(super) fn count_special(&mut self, item: f64) {
        self.room().counters.count_special(item);
    }

    fn room(&mut self) -> &mut Total<F> {
        self.spilled.get_or_insert_with(|| Box::new(Total::ZERO))
    }

    /// Moves the digits to the spilled number.
    fn spill(&mut self) {
        if !self.digits.is_zero() {
            let (digits, unit) = (self.digits, self.unit());
            add_to(&mut self.room().fixed, digits, unit);
            self.digits = D::ZERO;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        let counters = self.counters().with(other.counters())?;
        self.add_digits(other.digits, other.unit());
        if let Some(spilled) = &other.spilled {
            self.room().fixed.merge(&spilled.fixed);
        }
        self.set_counters(counters);
        Ok(())
    }

    fn add_digits(&mut self, digits: D, unit: i32) {
        if self.digits.is_zero() {
            self.digits = digits;
            self.set_unit(unit);
        } else if self.unit() == unit
            && let Some(sum) = self.digits.plus_all(digits)
        {
            self.digits = sum;
        } else {
            for (part, place) in digits.parts() {
                self.add_integer(part, unit + place.cast_signed());
            }
        }
    }

    pub(super) fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        let counters = self.counters().without(other.counters())?;
        if let Some(negated) = other.digits.negated() {
            self.add_digits(negated, other.unit());
        } else {
            for (part, place) in other.digits.parts() {
                self.add_integer(-part, other.unit() + place.cast_signed());
            }
        }
        if let Some(spilled) = &other.spilled {
            self.room().fixed.unmerge(&spilled.fixed);
        }
        self.set_counters(counters);
        // Items that were far from the others may have been removed, so that the rest fits the digits.
        if self.spilled.is_some() {
            *self = Self::of_total(&self.total());
        }
        Ok(())
    }

    /// The whole sum.
    pub(super) fn total(&self) -> Total<F> {
        let spilled = self.spilled.as_ref();
        let mut fixed = spilled.map_or(Fixed::ZERO, |spilled| spilled.fixed);
        add_to(&mut fixed, self.digits, self.unit());
        let counters = self.counters();
        Total { fixed, counters }
    }

    /// Converts a total, without its count of negative zeros. The number is in digits if it fits.
    pub(super) fn of_total(total: &Total<F>) -> Self {
        let mut number = Self::EMPTY;
        let (integer, unit) = total.fixed.integer();
        let places = |bits: u64| i32::try_from(bits).expect("a number has some thousand bits");
        if let Some(zeros) = integer.trailing_zeros() {
            let (lowest, top) = (
                unit + places(zeros),
                unit + places(integer.magnitude().bits()),
            );
            match Self::unit_of(lowest, top) {
                Some(own) => {
                    let shifted = if own <= unit {
                        integer << (unit - own)
                    } else {
                        integer >> (own - unit)
                    };
                    number.digits = D::of_big(&shifted);
                    number.set_unit(own);
                }
                None => number.room().fixed = total.fixed,
            }
        }
        number.set_counters(Counters {
            negative_zeros: 0,
            ..total.counters
        });
        number
    }

    /// A number without counts.
    pub(super) fn of_fixed(fixed: Fixed<F>) -> Self {
        Self::of_total(&Total {
            fixed,
            ..Total::ZERO
        })
    }

    /// The digits, if they are the whole sum and every item is finite.
    #[inline(always)]
    pub(super) fn only_digits(&self) -> Option<D> {
        self.spilled.is_none().then_some(self.digits)
    }

    /// The sum, if an item is not finite.
    pub(super) fn special<T: Float>(&self) -> Option<T> {
        let spilled = self.spilled.as_ref();
        spilled.and_then(|spilled| spilled.special())
    }

    /// The sign and the magnitude of the finite items' sum; `None` for zero.
    pub(super) fn magnitude(&self) -> Option<(bool, Magnitude)> {
        match self.only_digits() {
            Some(digits) => digits.magnitude(self.unit()),
            None => self.total().fixed.magnitude(),
        }
    }

    /// The finite items' sum.
    pub(super) fn scaled(&self) -> Scaled {
        match self.only_digits() {
            Some(digits) if digits.is_zero() => Scaled {
                integer: BigInt::ZERO,
                unit: 0,
            },
            Some(digits) => Scaled {
                integer: digits.big(),
                unit: self.unit(),
            },
            None => Scaled::of(&self.total().fixed),
        }
    }

    /// The sum, rounded once; +0.0 for zero.
    pub(super) fn value<T: Float>(&self) -> T {
        let special = self.special();
        special.unwrap_or_else(|| self.magnitude().map_or(T::ZERO, T::signed))
    }
}

fn add_to<D: Digits, F: FixedFormat>(fixed: &mut Fixed<F>, digits: D, unit: i32) {
    for (part, place) in digits.parts() {
        fixed.add_integer(part, unit + place.cast_signed());
    }
}
