//! A sum that is an integer until it has no room.

use num_bigint::BigInt;

use super::digits::Digits;
use crate::number::counters::LimitError;
use crate::number::fixed::{self, Fixed, Magnitude};
use crate::number::float::sealed::Sealed;
use crate::number::scaled::Scaled;

/// Units are such multiples, so that most sums of alike items have the same one: these are merged by one addition.
const UNIT_STEP: i32 = 16;

/// That of a sum to which nothing was added: no item fits.
const NO_UNIT: i16 = i16::MAX;

/// Which kinds of items there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const ANY: Self = Self(1);
    const NAN: Self = Self(2);
    const INFINITY: Self = Self(4);
    const NEGATIVE_INFINITY: Self = Self(8);

    pub(super) fn of_special(item: f64) -> Self {
        match item {
            f64::INFINITY => Self::INFINITY,
            f64::NEG_INFINITY => Self::NEGATIVE_INFINITY,
            _ => Self::NAN,
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The sum, if an item is not finite.
    pub(super) fn special(self) -> Option<f64> {
        match Self(self.0 & !Self::ANY.0) {
            Self(0) => None,
            Self::INFINITY => Some(f64::INFINITY),
            Self::NEGATIVE_INFINITY => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }
}

/// digits * 2^unit, and what has no room there.
#[derive(Clone, Debug)]
pub(super) struct Number<D: Digits, F: fixed::FixedFormat> {
    pub(super) digits: D,
    /// What came before the digits had another unit, or overflowed. Most sums have none.
    spilled: Option<Box<Fixed<F>>>,
    pub(super) unit: i16,
    pub(super) kinds: Kinds,
}

impl<D: Digits, F: fixed::FixedFormat> Default for Number<D, F> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<D: Digits, F: fixed::FixedFormat> Number<D, F> {
    pub(super) const EMPTY: Self = Self {
        digits: D::ZERO,
        spilled: None,
        unit: NO_UNIT,
        kinds: Kinds(0),
    };

    /// Adds item * 2^unit if there is room; says whether there is.
    #[inline(always)]
    pub(super) fn add_item(&mut self, item: D::Item, unit: i32) -> bool {
        let own = i32::from(self.unit);
        let unit = if item == D::Item::default() {
            own
        } else {
            unit
        };
        let places = (unit - own).cast_unsigned();
        if places > D::MOST_PLACES {
            return false;
        }
        let sum = self.digits.plus_item(item, places);
        self.digits = sum.unwrap_or(self.digits);
        sum.is_some()
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
        let places = unit - i32::from(self.unit);
        if (0..=most - bits).contains(&places)
            && let Some(sum) = self.digits.plus(integer, places.cast_unsigned())
        {
            self.digits = sum;
            return;
        }
        self.spill();
        let top = unit + bits;
        let from_top = (top - D::ITEM_BITS.cast_signed() - D::BELOW) & -UNIT_STEP;
        let own = from_top.max(top - most).min(unit).min(D::MOST_UNIT);
        let places = (unit - own).cast_unsigned();
        if own < top - most {
            self.room().add_integer(integer, unit);
        } else if let Some(digits) = D::ZERO.plus(integer, places) {
            self.digits = digits;
            self.unit = i16::try_from(own).expect("it is near that of a product of doubles");
        }
    }

    /// Adds an integer to a sum of integers.
    pub(super) fn add_whole(&mut self, integer: i128) {
        if self.digits.is_zero() {
            self.unit = 0;
        }
        match self.digits.plus(integer, 0) {
            Some(sum) if self.unit == 0 => self.digits = sum,
            _ => self.add_integer(integer, 0),
        }
    }

    fn has_room(&self) -> bool {
        let spilled = self.spilled.as_ref();
        spilled.is_none_or(|spilled| spilled.has_room())
    }

    fn room(&mut self) -> &mut Fixed<F> {
        self.spilled.get_or_insert_with(|| Box::new(Fixed::ZERO))
    }

    /// Leaves no digits.
    fn spill(&mut self) {
        if !self.digits.is_zero() {
            let (digits, unit) = (self.digits, self.unit.into());
            add_to(self.room(), digits, unit);
            self.digits = D::ZERO;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        if !self.has_room() || !other.has_room() {
            return Err(LimitError::Items);
        }
        self.kinds.add(other.kinds);
        if self.digits.is_zero() {
            (self.digits, self.unit) = (other.digits, other.unit);
        } else if self.unit == other.unit
            && let Some(sum) = self.digits.plus_all(other.digits)
        {
            self.digits = sum;
        } else {
            for (part, place) in other.digits.parts() {
                self.add_integer(part, i32::from(other.unit) + place.cast_signed());
            }
        }
        if let Some(spilled) = &other.spilled {
            self.room().merge(spilled);
        }
        Ok(())
    }

    /// All of it, if not all are digits.
    fn fixed(&self) -> Option<Fixed<F>> {
        let spilled = self.spilled.as_deref();
        spilled.map(|spilled| {
            let mut fixed = *spilled;
            add_to(&mut fixed, self.digits, self.unit.into());
            fixed
        })
    }

    /// The digits, if they are all.
    pub(super) fn only_digits(&self) -> Option<D> {
        self.spilled.is_none().then_some(self.digits)
    }

    /// The sign and the magnitude of the finite items' sum; `None` for zero.
    pub(super) fn magnitude(&self) -> Option<(bool, Magnitude)> {
        match self.fixed() {
            None => self.digits.magnitude(self.unit.into()),
            Some(fixed) => fixed.magnitude(),
        }
    }

    /// The finite items' sum.
    pub(super) fn scaled(&self) -> Scaled {
        match self.fixed() {
            None if self.digits.is_zero() => Scaled {
                integer: BigInt::ZERO,
                unit: 0,
            },
            None => Scaled {
                integer: self.digits.big(),
                unit: self.unit.into(),
            },
            Some(fixed) => Scaled::of(&fixed),
        }
    }

    /// The sum, rounded once; +0.0 for zero.
    pub(super) fn value(&self) -> f64 {
        let special = self.kinds.special();
        special.unwrap_or_else(|| self.magnitude().map_or(0.0, f64::signed))
    }
}

fn add_to<D: Digits, F: fixed::FixedFormat>(fixed: &mut Fixed<F>, digits: D, unit: i32) {
    for (part, place) in digits.parts() {
        fixed.add_integer(part, unit + place.cast_signed());
    }
}
