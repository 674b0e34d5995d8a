//! Integers of 128 and of 256 bits.

use num_bigint::BigInt;

use crate::number::fixed::{Magnitude, short_magnitude};

/// An integer in two's complement. Words of 64 bits have the alignment of what databases keep for a group.
pub(crate) trait Digits: Copy + std::fmt::Debug {
    /// How many bits an integer has.
    const BITS: u32;

    /// An item's integer.
    type Item: Copy + Default + PartialEq + Into<i128>;

    /// The most bits of an item's integer, without its sign.
    const ITEM_BITS: u32;

    /// Where the first item is, so many places are left below it, or up to 15 more.
    const BELOW: i32;

    /// The highest place of an item's lowest bit: above it is room for the sign, and for one more bit.
    const MOST_PLACES: u32;

    /// The most that a unit's exponent may be.
    const MOST_UNIT: i32;

    const ZERO: Self;

    fn is_zero(self) -> bool;

    /// This and item * 2^places, where these are at most [`MOST_PLACES`](Self::MOST_PLACES); `None` if the sum has no room.
    fn plus_item(self, item: Self::Item, places: u32) -> Option<Self>;

    /// This and integer * 2^places, of which less than `BITS` - 1 bits are its own; `None` if the sum has no room.
    fn plus(self, integer: i128, places: u32) -> Option<Self>;

    /// This and another one; `None` if the sum has no room.
    fn plus_all(self, other: Self) -> Option<Self>;

    /// Integers that, each times two to the power of its place, add up to this.
    fn parts(self) -> impl Iterator<Item = (i128, u32)>;

    /// The sign and the magnitude of this * 2^unit; `None` for zero.
    fn magnitude(self, unit: i32) -> Option<(bool, Magnitude)>;

    fn big(self) -> BigInt {
        let parts = self
            .parts()
            .map(|(part, place)| BigInt::from(part) << place);
        parts.fold(BigInt::ZERO, |sum, part| sum + part)
    }
}

/// Powers of two.
static POWERS: [i64; Narrow::MOST_PLACES as usize + 1] = {
    let mut powers = [1; Narrow::MOST_PLACES as usize + 1];
    let mut place = 1;
    while place < powers.len() {
        powers[place] = 2 * powers[place - 1];
        place += 1;
    }
    powers
};

/// Room for doubles: they have 53 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrow([u64; 2]);

impl Narrow {
    #[inline(always)]
    pub(super) fn integer(self) -> i128 {
        let [lower, upper] = self.0;
        (u128::from(upper) << 64 | u128::from(lower)).cast_signed()
    }

    #[inline(always)]
    fn of(integer: i128) -> Self {
        Self(words_of(integer.cast_unsigned()))
    }
}

impl Digits for Narrow {
    type Item = i64;
    const BITS: u32 = 128;
    const ITEM_BITS: u32 = 53;
    const BELOW: i32 = 24;
    const MOST_PLACES: u32 = 62;
    /// Above it, what is infinite or NaN would seem to fit: as an integer it has the unit 972.
    const MOST_UNIT: i32 = 971 - Self::MOST_PLACES.cast_signed();
    const ZERO: Self = Self([0; 2]);

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0 == [0; 2]
    }

    #[inline(always)]
    fn plus_item(self, item: i64, places: u32) -> Option<Self> {
        // One multiplication: to shift by a number of places that is not known takes eight instructions.
        let shifted = i128::from(item) * i128::from(*POWERS.get(places as usize)?);
        self.integer().checked_add(shifted).map(Self::of)
    }

    #[inline(always)]
    fn plus(self, integer: i128, places: u32) -> Option<Self> {
        let sum = self.integer().checked_add(integer << places);
        sum.map(Self::of)
    }

    #[inline(always)]
    fn plus_all(self, other: Self) -> Option<Self> {
        self.plus(other.integer(), 0)
    }

    fn parts(self) -> impl Iterator<Item = (i128, u32)> {
        [(self.integer(), 0)].into_iter()
    }

    fn magnitude(self, unit: i32) -> Option<(bool, Magnitude)> {
        short_magnitude(self.integer(), unit)
    }
}

/// Room for products of two doubles: they have 106 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide([u64; 4]);

impl Wide {
    /// The lower half, and the upper one with the sign.
    #[inline(always)]
    fn halves(self) -> (u128, i128) {
        let [lowest, lower, higher, highest] = self.0.map(u128::from);
        let upper = highest << 64 | higher;
        (lower << 64 | lowest, upper.cast_signed())
    }

    #[inline(always)]
    pub(super) fn of((lower, upper): (u128, i128)) -> Self {
        let [lowest, next] = words_of(lower);
        let [higher, highest] = words_of(upper.cast_unsigned());
        Self([lowest, next, higher, highest])
    }

    #[inline(always)]
    fn plus_halves(self, (lower, upper): (u128, i128)) -> Option<Self> {
        let (own_lower, own_upper) = self.halves();
        let (lower, carries) = own_lower.overflowing_add(lower);
        // Where one addition overflows, the other may bring the sum back.
        let (sum, overflows) = own_upper.overflowing_add(upper);
        let (sum, overflows_again) = sum.overflowing_add(carries.into());
        (overflows == overflows_again).then(|| Self::of((lower, sum)))
    }
}

impl Digits for Wide {
    type Item = i128;
    const BITS: u32 = 256;
    const ITEM_BITS: u32 = 106;
    const BELOW: i32 = 66;
    const MOST_PLACES: u32 = Self::BITS - 2 - Self::ITEM_BITS;
    const MOST_UNIT: i32 = 2 * 971;
    const ZERO: Self = Self([0; 4]);

    fn is_zero(self) -> bool {
        self.0 == [0; 4]
    }

    #[inline(always)]
    fn plus_item(self, item: i128, places: u32) -> Option<Self> {
        self.plus(item, places)
    }

    #[inline(always)]
    fn plus(self, integer: i128, places: u32) -> Option<Self> {
        let halves = if places < 128 {
            // By 128 places in two steps, as one would be no shift.
            let upper = integer >> 1 >> (127 - places);
            (integer.cast_unsigned() << places, upper)
        } else {
            (0, integer << (places - 128))
        };
        self.plus_halves(halves)
    }

    #[inline(always)]
    fn plus_all(self, other: Self) -> Option<Self> {
        self.plus_halves(other.halves())
    }

    fn parts(self) -> impl Iterator<Item = (i128, u32)> {
        let [lowest, lower, ..] = self.0.map(i128::from);
        [(lowest, 0), (lower, 64), (self.halves().1, 128)].into_iter()
    }

    fn magnitude(self, unit: i32) -> Option<(bool, Magnitude)> {
        let (lower, upper) = self.halves();
        let is_negative = upper < 0;
        let (lower, upper) = if is_negative {
            let (lower, carries) = (!lower).overflowing_add(1);
            (lower, (!upper).wrapping_add(carries.into()))
        } else {
            (lower, upper)
        };
        let upper = upper.cast_unsigned();
        if upper == 0 {
            let free = lower.leading_zeros();
            let magnitude = || Magnitude {
                bits: lower << free,
                exponent: unit - free.cast_signed(),
                is_more: false,
            };
            return (lower != 0).then(|| (is_negative, magnitude()));
        }
        let free = upper.leading_zeros();
        let magnitude = Magnitude {
            bits: upper << free | lower >> 1 >> (127 - free),
            exponent: unit + 128 - free.cast_signed(),
            is_more: lower << free != 0,
        };
        Some((is_negative, magnitude))
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "each half is asked for")]
pub(super) fn words_of(integer: u128) -> [u64; 2] {
    [integer as u64, (integer >> 64) as u64]
}
