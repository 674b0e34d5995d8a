//! Holds sums as integers of a few words.

use crate::number::fixed::{Fixed, FixedFormat, Magnitude};
use crate::number::wide::Wide;

/// The unit of a sum to which nothing was added. No item fits this unit.
const NO_UNIT: i16 = i16::MAX;

/// Exponents of units are rounded down to a multiple of this number if possible. Sums of similar items then usually have the same unit, and
/// one addition merges them.
const UNIT_STEP: i32 = 16;

/// The most places by which an item is shifted when it is added to a sum of items: the shift multiplies by one of the [`POWERS`].
const MOST_FACTOR: u32 = 62;

static POWERS: [i64; MOST_FACTOR as usize + 1] = {
    let mut powers = [1; MOST_FACTOR as usize + 1];
    let mut place = 1;
    while place < powers.len() {
        powers[place] = 2 * powers[place - 1];
        place += 1;
    }
    powers
};

/// A value to add: its parts, each integer * 2^exponent, from the highest to the lowest; and whether the value is an integer item or a
/// product of integer items.
pub(crate) type Value<'v> = (&'v [(i128, i32)], bool);

/// The number digits * 2^unit. Two words hold a sum of doubles, and N words hold a sum of products of N - 2 doubles.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(2))]
pub(crate) struct Short<const N: usize> {
    digits: Wide<N>,
    unit: i16,
}

impl<const N: usize> Short<N> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "there are at most six words"
    )]
    const WORDS: i32 = N as i32;

    /// The number of factors of an item.
    const FACTORS: i32 = if N == 2 { 1 } else { Self::WORDS - 2 };

    /// The most bits of a number besides its sign: one more bit stays free.
    const MOST_BITS: i32 = 64 * Self::WORDS - 2;

    /// The number of bits of an item, without its sign.
    const ITEM_BITS: i32 = 53 * Self::FACTORS;

    /// The highest place that an item's lowest bit may have.
    const MOST_PLACES: u32 = if N == 2 {
        MOST_FACTOR
    } else {
        (Self::MOST_BITS - Self::ITEM_BITS).cast_unsigned()
    };

    /// The number of places that stay free below the first item; up to 15 more may be free.
    const BELOW: i32 = if N == 2 {
        24
    } else {
        (Self::MOST_PLACES.cast_signed() - 16) / 2
    };

    /// The largest exponent of a unit. With a larger one, infinities and NaNs would seem to fit a sum of doubles: `parts` gives them the
    /// exponent 972.
    const MOST_UNIT: i32 = if N == 2 {
        971 - MOST_FACTOR.cast_signed()
    } else {
        971 * Self::FACTORS
    };

    pub(super) const EMPTY: Self = Self {
        digits: Wide::ZERO,
        unit: NO_UNIT,
    };

    fn unit(self) -> i32 {
        self.unit.into()
    }

    fn is_zero(self) -> bool {
        let Wide(words) = self.digits;
        words == [0; N]
    }

    #[inline(always)]
    fn with(self, digits: Option<Wide<N>>) -> Option<Self> {
        digits.map(|digits| Self { digits, ..self })
    }

    /// This number plus item * 2^unit, if there is room.
    #[inline(always)]
    pub(super) fn plus_item(self, item: i128, unit: i32) -> Option<Self> {
        let own = self.unit();
        let unit = if item == 0 { own } else { unit };
        let places = (unit - own).cast_unsigned();
        if places > Self::MOST_PLACES {
            return None;
        }
        let digits = self.digits;
        if N == 2 {
            // A multiplication is faster than a shift by a variable number of places, which takes eight instructions.
            let shifted = item * i128::from(*POWERS.get(places as usize)?);
            let sum = digits.lower().checked_add(shifted);
            return self.with(sum.map(Wide::of));
        }
        self.with(sum(digits, Wide::shifted(item, places)))
    }

    /// This number plus the parts of a power, from the highest to the lowest, if there is room. The power has no more bits than the
    /// same power of a 64-bit integer.
    #[inline(always)]
    pub(super) fn plus_parts<const P: usize>(self, parts: [(i128, i32); P]) -> Option<Self> {
        let own = self.unit();
        let (_, lowest) = parts[P - 1];
        let most_places = Self::MOST_BITS - 63 * Self::FACTORS;
        if !(0..=most_places).contains(&(lowest - own)) {
            return None;
        }
        let mut digits = self.digits;
        for (part, unit) in parts {
            let shifted = Wide::shifted(part, (unit - own).cast_unsigned());
            digits = sum(digits, shifted)?;
        }
        self.with(Some(digits))
    }

    /// This number plus an integer, if this number's unit is 1 and there is room.
    #[inline(always)]
    pub(super) fn plus_whole(self, integer: i128) -> Option<Self> {
        if self.unit() != 0 {
            return None;
        }
        let digits = self.digits;
        self.with(sum(digits, Wide::of(integer)))
    }

    /// The sum of both numbers, or their difference if `is_less`, in the lower of their units. Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn plus(self, other: Self, is_less: bool) -> Option<Self> {
        let [own, others] = [self.digits, other.digits];
        let others = if is_less {
            let negated = Wide::ZERO.less(others);
            if negated.is_negative() && others.is_negative() {
                return None;
            }
            negated
        } else {
            others
        };
        let other = Self {
            digits: others,
            ..other
        };
        if self.unit() == other.unit() {
            self.with(sum(own, others))
        } else if others == Wide::ZERO {
            Some(self)
        } else if own == Wide::ZERO {
            Some(other)
        } else {
            let (higher, lower) = if self.unit() > other.unit() {
                (self, other)
            } else {
                (other, self)
            };
            let places = (higher.unit() - lower.unit()).cast_unsigned();
            let Self { digits, .. } = higher;
            let raised = digits.raised(places)?;
            lower.with(sum(lower.digits, raised))
        }
    }

    /// Adds a value. Calls `spill` with each integer that does not fit here, and with the exponent of its unit.
    pub(super) fn add(&mut self, (parts, is_whole): Value<'_>, spill: &mut dyn FnMut(i128, i32)) {
        if is_whole && self.is_zero() {
            self.unit = 0;
        }
        // The highest part is added first, because it determines the unit of the digits.
        for &(integer, unit) in parts {
            let whole = is_whole.then(|| self.plus_whole(integer)).flatten();
            match whole {
                Some(sum) => *self = sum,
                None => self.add_integer(integer, unit, spill),
            }
        }
    }

    /// Adds another number, or subtracts it if `is_less`.
    pub(super) fn merge(&mut self, other: Self, is_less: bool, spill: &mut dyn FnMut(i128, i32)) {
        if let Some(sum) = self.plus(other, is_less) {
            *self = sum;
            return;
        }
        for (part, unit) in other.parts() {
            self.add_integer(if is_less { -part } else { part }, unit, spill);
        }
    }

    fn add_integer(&mut self, integer: i128, unit: i32, spill: &mut dyn FnMut(i128, i32)) {
        if integer == 0 {
            return;
        }
        let zeros = integer.trailing_zeros();
        let (integer, unit) = (integer >> zeros, unit + zeros.cast_signed());
        let bits = (i128::BITS - integer.unsigned_abs().leading_zeros()).cast_signed();
        let places = unit - self.unit();
        let digits = self.digits;
        if (0..=Self::MOST_BITS - bits).contains(&places)
            && let Some(digits) = sum(digits, Wide::shifted(integer, places.cast_unsigned()))
        {
            self.digits = digits;
            return;
        }
        // Parts that are zero are not spilled, since spilling allocates memory.
        for (part, unit) in self.parts().into_iter().filter(|(part, _)| *part != 0) {
            spill(part, unit);
        }
        *self = Self::EMPTY;
        if let Some(own) = Self::unit_of(unit, unit + bits) {
            let places = (unit - i32::from(own)).cast_unsigned();
            *self = Self {
                digits: Wide::shifted(integer, places),
                unit: own,
            };
        } else {
            spill(integer, unit);
        }
    }

    /// The exponent of the digits' unit for a first value with bits in places `lowest` to `top` - 1; `None` if the value does not fit.
    fn unit_of(lowest: i32, top: i32) -> Option<i16> {
        let from_top = (top - Self::ITEM_BITS - Self::BELOW) & -UNIT_STEP;
        let least = top - Self::MOST_BITS;
        let own = from_top.max(least).min(lowest).min(Self::MOST_UNIT);
        let unit = i16::try_from(own).expect("the exponent is near that of a product of doubles");
        (own >= least).then_some(unit)
    }

    /// The words and the exponents of their units, from the highest to the lowest. The highest word has a sign.
    fn parts(self) -> [(i128, i32); N] {
        let Wide(words) = self.digits;
        let mut parts = [(0, 0); N];
        let units = (self.unit()..).step_by(64);
        for ((part, word), unit) in parts.iter_mut().zip(words).zip(units) {
            *part = (word.into(), unit);
        }
        parts[N - 1].0 = words[N - 1].cast_signed().into();
        parts.reverse();
        parts
    }

    /// The sign and the magnitude; `None` for zero.
    pub(super) fn magnitude(self) -> Option<(bool, Magnitude)> {
        let digits = self.digits;
        digits.magnitude(self.unit())
    }

    /// Adds this number to a long one.
    pub(super) fn add_to<F: FixedFormat>(self, long: &mut Fixed<F>) {
        for (part, unit) in self.parts() {
            long.add_integer(part, unit);
        }
    }

    /// Moves a long number into a short one. If the number does not fit, leaves it unchanged and returns the empty sum.
    pub(super) fn take<F: FixedFormat>(long: &mut Fixed<F>) -> Self {
        let (integer, unit) = long.integer();
        let places =
            |bits: u64| unit + i32::try_from(bits).expect("a number has a few thousand bits");
        let zeros = integer.trailing_zeros();
        let own = zeros
            .and_then(|zeros| Self::unit_of(places(zeros), places(integer.magnitude().bits())));
        own.map_or(Self::EMPTY, |unit| Self {
            digits: Wide(std::mem::replace(long, Fixed::ZERO).cut(unit.into())),
            unit,
        })
    }
}

/// The sum of two integers, if there is room.
#[inline(always)]
fn sum<const N: usize>(own: Wide<N>, other: Wide<N>) -> Option<Wide<N>> {
    if N == 2 {
        return own.lower().checked_add(other.lower()).map(Wide::of);
    }
    let sum = own.plus(other);
    let signs = [own, other, sum].map(Wide::is_negative);
    let has_room = signs[0] != signs[1] || signs[0] == signs[2];
    has_room.then_some(sum)
}

impl Short<2> {
    /// The digits, and the exponent of their unit.
    #[inline(always)]
    pub(super) fn integer(self) -> (i128, i32) {
        let digits = self.digits;
        (digits.lower(), self.unit())
    }
}
