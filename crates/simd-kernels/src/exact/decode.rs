//! Decodes floats to pairs of integers, which can be added without propagating carries.

use crate::exact::zeros::is_zero;
use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// The most items in a call of [`decode`], [`decode_floats`] or [`decode_digits`]. Their pairs fit into the L1 cache, and the sum of 512 halves is
/// below 2^62 in magnitude.
pub const DECODED_ITEMS: usize = 512;

/// An item as an integer in two halves: the first, which is below 2^53 in magnitude, plus 2^53 times the second. Both have the item's sign.
pub type Pair = [i64; 2];

/// The unit of the integers of [`decode`]: 2^[`exponent`](Self::exponent).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeUnit {
    /// The lowest exponent of an item, biased.
    lowest: i32,
}

impl DecodeUnit {
    /// The number of consecutive exponents whose items fit into an integer of one unit.
    pub const EXPONENTS: i32 = 53;

    /// The unit for items whose exponents, as in [`Exponents`](crate::Exponents), are from `exponent` - `below` to `exponent`.
    #[must_use]
    pub fn for_range(exponent: i32, below: i32) -> Self {
        Self {
            lowest: exponent + 1023 - below,
        }
    }

    /// The unit 2^`exponent`.
    #[must_use]
    pub fn of_exponent(exponent: i32) -> Self {
        Self {
            lowest: exponent + 1075,
        }
    }

    /// The binary logarithm of the unit.
    #[must_use]
    pub fn exponent(self) -> i32 {
        self.lowest - 1075
    }

    /// An item as an integer in this unit; `None` if the item does not fit. Zeros fit, and so do normal numbers with one of the unit's exponents.
    #[must_use]
    #[inline(always)]
    pub fn pair(self, item: f64) -> Option<Pair> {
        let bits = item.to_bits();
        let distance = self.distance(bits);
        if distance < self.room() {
            Some(pair(bits & FRACTION | IMPLICIT, distance, bits))
        } else {
            is_zero(item).then_some([0; 2])
        }
    }

    /// An item's exponent minus the lowest one, wrapping.
    #[inline(always)]
    fn distance(self, bits: u64) -> u64 {
        (bits >> 52 & 0x7FF).wrapping_sub(i64::from(self.lowest).cast_unsigned())
    }

    /// The number of exponents, from the lowest on, whose items fit. Infinities and subnormal numbers never fit.
    #[inline(always)]
    fn room(self) -> u64 {
        let room = if self.lowest < 1 {
            0
        } else {
            BEYOND - self.lowest
        };
        u64::from(room.clamp(0, Self::EXPONENTS).cast_unsigned())
    }
}

/// Units for items of all exponents: digit d holds items of 32 exponents as integers in its [unit](Self::unit), which is 2^32 times the unit of
/// digit d - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeDigits {
    /// The place of the biased exponent 0 within digit 0.
    offset: u8,
}

impl DecodeDigits {
    /// The number of binary places of a digit.
    pub const PLACES: u32 = 32;

    /// The number of digits. Every finite item belongs to one of them.
    pub const DIGITS: usize = 65;

    /// The digits that have `unit` as one of their units.
    #[must_use]
    pub fn with(unit: DecodeUnit) -> Self {
        let offset = (-unit.lowest).rem_euclid(Self::PLACES.cast_signed());
        Self {
            offset: u8::try_from(offset).expect("the offset is below 32"),
        }
    }

    /// The digit of an item, and the item as an integer in the digit's unit; `None` if the item is not finite.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "there are few digits")]
    pub fn pair(self, item: f64) -> Option<(usize, Pair)> {
        let bits = item.to_bits();
        let [biased, significand] = parts(bits);
        let [digit, places] = self.place(biased);
        let is_finite = biased != u64::from(BEYOND.cast_unsigned());
        is_finite.then(|| (digit as usize, pair(significand, places, bits)))
    }

    /// The digit of an exponent, and the distance of the exponent from the digit's lowest exponent.
    #[inline(always)]
    fn place(self, biased: u64) -> [u64; 2] {
        let place = biased + u64::from(self.offset);
        [
            place / u64::from(Self::PLACES),
            place % u64::from(Self::PLACES),
        ]
    }

    /// The unit of a digit.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "there are fewer than 70 digits"
    )]
    pub fn unit(self, digit: usize) -> DecodeUnit {
        DecodeUnit {
            lowest: (digit * Self::PLACES as usize) as i32 - i32::from(self.offset),
        }
    }
}

/// The biased exponent of infinities and NaNs.
const BEYOND: i32 = 0x7FF;

const FRACTION: u64 = (1 << 52) - 1;
const IMPLICIT: u64 = 1 << 52;
/// The binary places of the first half of a [`Pair`].
pub const LOWER_PLACES: i32 = 53;
pub(crate) const LOWER: u64 = (1 << LOWER_PLACES) - 1;

/// An item's biased exponent, which is 1 for subnormal numbers, and its significand.
#[inline(always)]
fn parts(bits: u64) -> [u64; 2] {
    let biased = bits >> 52 & 0x7FF;
    let implicit = u64::from(biased != 0);
    let significand = bits & FRACTION | implicit << 52;
    [biased + 1 - implicit, significand]
}

/// The significand shifted left by less than 53 places, with the sign of `bits`. A significand of zero may be shifted by any number of places.
#[inline(always)]
fn pair(significand: u64, places: u64, bits: u64) -> Pair {
    let sign = bits.cast_signed() >> 63;
    let others = 53_u64.wrapping_sub(places) % 64;
    let lower = (significand << (places % 64) & LOWER).cast_signed();
    let higher = (significand >> others).cast_signed();
    [(lower ^ sign) - sign, (higher ^ sign) - sign]
}

/// Writes items as integers in a unit. Returns true if all fit, as in [`DecodeUnit::pair`]. An item that does not fit is written as zero.
///
/// # Panics
/// There are more than [`DECODED_ITEMS`] items.
///
/// ```
/// use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, decode};
///
/// let unit = DecodeUnit::for_range(0, 40);
/// let mut pairs = [[0; 2]; DECODED_ITEMS];
/// assert!(!decode(Level::best(), &[-1.0, 1e300], unit, &mut pairs));
/// let [lower, higher] = pairs[0].map(i128::from);
/// let integer = (higher << 53) + lower;
/// assert_eq!(integer as f64 * 2_f64.powi(unit.exponent()), -1.0);
/// assert_eq!(pairs[1], [0, 0]);
/// ```
pub fn decode(
    level: Level,
    items: &[f64],
    unit: DecodeUnit,
    pairs: &mut [Pair; DECODED_ITEMS],
) -> bool {
    assert!(items.len() <= DECODED_ITEMS);
    compute(level, Decode { items, unit, pairs })
}

struct Decode<'d> {
    items: &'d [f64],
    unit: DecodeUnit,
    pairs: &'d mut [Pair; DECODED_ITEMS],
}

// A plain loop, which the compiler vectorizes.
impl Kernel<f64> for Decode<'_> {
    type Output = bool;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> bool {
        let room = self.unit.room();
        let mut misfits = 0;
        for (&item, written) in self.items.iter().zip(self.pairs) {
            let bits = item.to_bits();
            let distance = self.unit.distance(bits);
            let fits = distance < room;
            let kept = if fits { bits & FRACTION | IMPLICIT } else { 0 };
            misfits |= if fits { 0 } else { bits };
            *written = pair(kept, distance, bits);
        }
        misfits << 1 == 0
    }
}

/// Writes floats as integers in a unit. Returns true if all fit into the first half of a [`Pair`]. A float fits if it is zero, or if it is normal and
/// its exponent is from e - 29 to e, where e is the unit's lowest exponent for doubles. A float that does not fit is written as zero.
///
/// # Panics
/// There are more than [`DECODED_ITEMS`] items.
///
/// ```
/// use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, decode_floats};
///
/// let mut integers = [0; DECODED_ITEMS];
/// assert!(decode_floats(Level::best(), &[-1.0], DecodeUnit::for_range(20, 0), &mut integers));
/// assert_eq!(integers[0], -1 << (52 - 20));
/// ```
pub fn decode_floats(
    level: Level,
    items: &[f32],
    unit: DecodeUnit,
    integers: &mut [i64; DECODED_ITEMS],
) -> bool {
    assert!(items.len() <= DECODED_ITEMS);
    let kernel = Floats {
        items,
        unit,
        integers,
    };
    compute(level, kernel)
}

struct Floats<'d> {
    items: &'d [f32],
    unit: DecodeUnit,
    integers: &'d mut [i64; DECODED_ITEMS],
}

impl Kernel<f64> for Floats<'_> {
    type Output = bool;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> bool {
        const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
        const MORE_BITS: i32 = 52 - FRACTION_BITS.cast_signed();
        // Floats fit if their biased exponents are in `first..end`. A float of biased exponent `zeroth` is shifted by 0 places. The bias of
        // doubles is larger by 896.
        let zeroth = self.unit.lowest - 896 - MORE_BITS;
        let [first, end] = [zeroth, zeroth + MORE_BITS + 1].map(|biased| biased.clamp(1, 255));
        let (first, room) = (first.cast_unsigned(), (end - first).cast_unsigned());
        let mut misfits = 0;
        for (&item, written) in self.items.iter().zip(self.integers) {
            let bits = item.to_bits();
            let biased = bits >> FRACTION_BITS & 0xFF;
            let fits = biased.wrapping_sub(first) < room;
            let significand = bits & ((1 << FRACTION_BITS) - 1) | 1 << FRACTION_BITS;
            let kept = i64::from(if fits { significand } else { 0 });
            misfits |= if fits { 0 } else { bits };
            let places = biased.wrapping_sub(zeroth.cast_unsigned()) % 64;
            let sign = i64::from(bits.cast_signed() >> 31);
            *written = (kept << places ^ sign) - sign;
        }
        misfits << 1 == 0
    }
}

/// Written in place of a digit for zeros, infinities and NaNs, which belong to no digit.
pub const NO_DIGIT: u8 = u8::MAX;

/// Writes items as integers in the units of their digits. Returns true if all are finite. An item that is not finite is written as zero.
///
/// # Panics
/// There are more than [`DECODED_ITEMS`] items.
pub fn decode_digits(
    level: Level,
    items: &[f64],
    digits: DecodeDigits,
    pairs: &mut [Pair; DECODED_ITEMS],
    of_items: &mut [u8; DECODED_ITEMS],
) -> bool {
    assert!(items.len() <= DECODED_ITEMS);
    compute(
        level,
        Digits {
            items,
            digits,
            pairs,
            of_items,
        },
    )
}

struct Digits<'d> {
    items: &'d [f64],
    digits: DecodeDigits,
    pairs: &'d mut [Pair; DECODED_ITEMS],
    of_items: &'d mut [u8; DECODED_ITEMS],
}

impl Kernel<f64> for Digits<'_> {
    type Output = bool;

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "there are few digits")]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> bool {
        let mut others = 0;
        let written = self.pairs.iter_mut().zip(self.of_items);
        for (&item, (written, of_item)) in self.items.iter().zip(written) {
            let bits = item.to_bits();
            let [biased, significand] = parts(bits);
            let is_finite = biased != u64::from(BEYOND.cast_unsigned());
            let kept = if is_finite { significand } else { 0 };
            others |= significand ^ kept;
            let [digit, places] = self.digits.place(biased);
            *written = pair(kept, places, bits);
            *of_item = if kept == 0 { NO_DIGIT } else { digit as u8 };
        }
        others == 0
    }
}
