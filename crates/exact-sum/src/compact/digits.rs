//! The integers that hold sums: of 128 bits, and of several words.

use num_bigint::{BigInt, Sign};

use crate::number::fixed::{Magnitude, short_magnitude};
use crate::number::wide::{Wide, words_of};

/// An integer in two's complement. It consists of words of 64 bits, since databases align states to 8 bytes.
pub(crate) trait Digits: Copy + std::fmt::Debug {
    /// The number of bits of an integer.
    const BITS: u32;

    /// An item's integer.
    type Item: Copy + Default + PartialEq + Into<i128>;

    /// The largest number of bits of an item's integer, without its sign.
    const ITEM_BITS: u32;

    /// The number of places that stay free below the first item; up to 15 more may be free.
    const BELOW: i32;

    /// The highest place that an item's lowest bit may have, so that above the item there is room for the sign and one more bit.
    const MOST_PLACES: u32;

    /// The largest exponent of a unit.
    const MOST_UNIT: i32;

    const ZERO: Self;

    fn is_zero(self) -> bool;

    /// This integer plus item * 2^places, where `places` is at most [`MOST_PLACES`](Self::MOST_PLACES); `None` if there is no room for the sum.
    fn plus_item(self, item: Self::Item, places: u32) -> Option<Self>;

    /// This integer plus integer * 2^places, where `integer` has less than `BITS` - 1 bits; `None` if there is no room for the sum.
    fn plus(self, integer: i128, places: u32) -> Option<Self>;

    /// This integer plus another one; `None` if there is no room for the sum.
    fn plus_all(self, other: Self) -> Option<Self>;

    /// This integer, negated; `None` if there is no room for the result.
    fn negated(self) -> Option<Self>;

    /// Integers of 64 bits and a sign, each with a place. The sum of each integer times 2^place is this integer.
    fn parts(self) -> impl Iterator<Item = (i128, u32)>;

    /// Converts an integer, which must fit.
    fn of_big(integer: &BigInt) -> Self;

    /// The sign and the magnitude of this integer times 2^unit; `None` for zero.
    fn magnitude(self, unit: i32) -> Option<(bool, Magnitude)>;

    fn big(self) -> BigInt {
        let parts = self
            .parts()
            .map(|(part, place)| BigInt::from(part) << place);
        parts.fold(BigInt::ZERO, |sum, part| sum + part)
    }
}

/// Powers of two.
static POWERS: [i64; NarrowDigits::MOST_PLACES as usize + 1] = {
    let mut powers = [1; NarrowDigits::MOST_PLACES as usize + 1];
    let mut place = 1;
    while place < powers.len() {
        powers[place] = 2 * powers[place - 1];
        place += 1;
    }
    powers
};

/// Digits for sums of doubles, which have 53 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct NarrowDigits([u64; 2]);

impl NarrowDigits {
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

impl Digits for NarrowDigits {
    type Item = i64;
    const BITS: u32 = 128;
    const ITEM_BITS: u32 = 53;
    const BELOW: i32 = 24;
    const MOST_PLACES: u32 = 62;
    /// With a larger unit, infinities and NaNs would seem to fit: as integers they have the unit 972.
    const MOST_UNIT: i32 = 971 - Self::MOST_PLACES.cast_signed();
    const ZERO: Self = Self([0; 2]);

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0 == [0; 2]
    }

    #[inline(always)]
    fn plus_item(self, item: i64, places: u32) -> Option<Self> {
        // One multiplication, since a shift by a variable number of places takes eight instructions.
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

    #[inline(always)]
    fn negated(self) -> Option<Self> {
        self.integer().checked_neg().map(Self::of)
    }

    fn parts(self) -> impl Iterator<Item = (i128, u32)> {
        let [lower, upper] = self.0;
        [(lower.into(), 0), (upper.cast_signed().into(), 64)].into_iter()
    }

    fn of_big(integer: &BigInt) -> Self {
        Self::of(i128::try_from(integer).expect("the integer has room"))
    }

    fn magnitude(self, unit: i32) -> Option<(bool, Magnitude)> {
        short_magnitude(self.integer(), unit)
    }
}

/// Digits for sums of products of N - 2 doubles: products of two doubles, which have 106 bits, cubes, and fourth powers.
impl<const N: usize> Digits for Wide<N> {
    type Item = i128;
    const BITS: u32 = 64 * (factors(N) + 2);
    const ITEM_BITS: u32 = 53 * factors(N);
    const BELOW: i32 = (Self::MOST_PLACES.cast_signed() - 16) / 2;
    const MOST_PLACES: u32 = Self::BITS - 2 - Self::ITEM_BITS;
    const MOST_UNIT: i32 = factors(N).cast_signed() * 971;
    const ZERO: Self = Self::ZERO;

    fn is_zero(self) -> bool {
        self.0 == [0; N]
    }

    #[inline(always)]
    fn plus_item(self, item: i128, places: u32) -> Option<Self> {
        Digits::plus(self, item, places)
    }

    #[inline(always)]
    fn plus(self, integer: i128, places: u32) -> Option<Self> {
        self.plus_all(Self::shifted(integer, places))
    }

    #[inline(always)]
    fn plus_all(self, other: Self) -> Option<Self> {
        let sum = Wide::plus(self, other);
        let signs = [self, other, sum].map(Self::is_negative);
        let has_room = signs[0] != signs[1] || signs[0] == signs[2];
        has_room.then_some(sum)
    }

    fn negated(self) -> Option<Self> {
        let inverted = Self(self.0.map(|word| !word));
        Digits::plus(inverted, 1, 0)
    }

    fn parts(self) -> impl Iterator<Item = (i128, u32)> {
        let places = (0..Self::BITS).step_by(64);
        self.0.into_iter().zip(places).map(|(word, place)| {
            let is_highest = place + 64 == Self::BITS;
            let part = if is_highest {
                word.cast_signed().into()
            } else {
                word.into()
            };
            (part, place)
        })
    }

    fn of_big(integer: &BigInt) -> Self {
        let bytes = integer.to_signed_bytes_le();
        let sign = if integer.sign() == Sign::Minus {
            u8::MAX
        } else {
            0
        };
        let mut bytes = bytes.into_iter().chain(std::iter::repeat(sign));
        let mut byte = || bytes.next().expect("the bytes are endless");
        Self(std::array::from_fn(|_| {
            u64::from_le_bytes(std::array::from_fn(|_| byte()))
        }))
    }

    fn magnitude(self, unit: i32) -> Option<(bool, Magnitude)> {
        Wide::magnitude(self, unit)
    }
}

/// The number of factors of the products that `words` words are for.
#[expect(
    clippy::cast_possible_truncation,
    reason = "there are at most six words"
)]
const fn factors(words: usize) -> u32 {
    words as u32 - 2
}
