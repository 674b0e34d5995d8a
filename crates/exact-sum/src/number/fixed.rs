//! Defines fixed-point numbers that hold any sum of floats.
//!
//! The idea is simple. Every finite double is a multiple of 2^-1074, and its magnitude is below 2^1024. So an integer of 2,162 bits and a
//! sign, in units of 2^-1074, holds the sum of any 2^64 doubles. Integers are added exactly, in any order. The integer is an array of
//! limbs: limb i counts units of 2^(`LOWEST` + 32 i), in a signed word of 64 bits. A value below 2^54 in magnitude, in units of 2^unit, is
//! added as follows:
//!
//! ```text
//! position = unit - LOWEST
//! i, shift = position / 32, position mod 32
//! limb[i]     += (value << shift) mod 2^32
//! limb[i + 1] += value >> (32 - shift)         rounded down, so with value's sign
//! after every 256th addition: propagate carries
//! ```
//!
//! - **Carries wait.** An addition changes a limb by less than 2^54. So a word has room for 256 additions, and no addition follows a
//!   chain of carries. After 256, one pass from the lowest limb to the highest moves the bits above a limb's lower 32 to the next limb.
//! - **Limbs have signs.** A negative value is cut in the same way: its lower part is not negative, and its upper part is
//!   rounded down. So subtraction needs no separate code, and a limb below zero is a borrow that waits.
//! - **Merging is adding limbs**, after the carries of both numbers were propagated. A message holds either two limbs in a word, or a word for
//!   each limb. With a word for each limb, plain additions of integers merge numbers, for example by `MPI_SUM`.
//! - **Items are rarely added one by one.** [`blocks`](super::blocks) adds a few integers for each block of items.

use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};
use num_bigint::BigInt;
use simd_kernels::{LOWER_PLACES, Pair};

use crate::number::counters::Counters;

/// The number of a limb's own bits; the bits above them are a carry that waits.
const LIMB_BITS: u32 = 32;
const LIMB_MASK: i64 = (1 << LIMB_BITS) - 1;

/// Carries are propagated after this many additions. Each addition changes a limb by less than 2^54, and a limb has room for 2^63.
const MOST_ADDITIONS: u32 = 1 << 8;

/// The range of a fixed-point number: an array of limbs of 32 bits, in words of 64 so that carries can wait.
pub trait FixedFormat: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// An array of limbs.
    type Limbs: AsRef<[i64]> + AsMut<[i64]> + Copy + PartialEq + core::fmt::Debug + Send + Sync;

    /// An array of the limbs, two in a word, and the [`Counters`].
    type Words: AsRef<[u64]> + AsMut<[u64]> + Pod;

    /// An array of the limbs and the [`Counters`].
    type Integers: AsRef<[i64]> + AsMut<[i64]> + Pod;

    /// The number of limbs.
    const LIMBS: usize;

    /// The exponent of the lowest bit.
    const LOWEST: i32;

    /// The exponent of a power of two above the magnitudes of all numbers that are added.
    const HIGHEST: i32;

    /// Zero.
    const ZERO: Self::Limbs;
}

/// A format with room for 2^64 numbers below 2^`$highest`, all multiples of 2^`$lowest`.
macro_rules! fixed_format {
    ($(#[$doc:meta])* $name:ident, $lowest:literal, $highest:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $name {
            /// The number of limbs: one limb is for the sign, and for the upper end of an addition.
            const LIMBS: usize = {
                let bits: i32 = $highest + 64 - $lowest;
                bits.cast_unsigned().div_ceil(LIMB_BITS) as usize + 1
            };
        }

        impl FixedFormat for $name {
            type Limbs = [i64; $name::LIMBS];
            type Words = [u64; $name::LIMBS.div_ceil(2) + Counters::INTEGERS];
            type Integers = [i64; $name::LIMBS + Counters::INTEGERS];
            const LIMBS: usize = $name::LIMBS;
            const LOWEST: i32 = $lowest;
            const HIGHEST: i32 = $highest;
            const ZERO: Self::Limbs = [0; $name::LIMBS];
        }
    };
}

fixed_format!(
    /// Sums of doubles.
    Doubles, -1074, 1024
);
fixed_format!(
    /// Sums of products of two doubles.
    DoubleProducts, -2148, 2048
);
fixed_format!(
    /// Sums of the cubes of doubles.
    DoubleCubes, -3222, 3072
);
fixed_format!(
    /// Sums of the fourth powers of doubles.
    DoubleFourths, -4296, 4096
);
fixed_format!(
    /// Sums of floats.
    Singles, -149, 128
);
fixed_format!(
    /// Sums of products of two floats.
    SingleProducts, -298, 256
);
fixed_format!(
    /// Sums of the cubes of floats.
    SingleCubes, -447, 384
);
fixed_format!(
    /// Sums of the fourth powers of floats.
    SingleFourths, -596, 512
);

/// A fixed-point number: limb i counts units of 2^(`F::LOWEST` + 32 i).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed<F: FixedFormat> {
    limbs: F::Limbs,
    /// The number of additions since carries were propagated.
    additions: u32,
    format: PhantomData<F>,
}

impl<F: FixedFormat> Fixed<F> {
    pub(crate) const ZERO: Self = Self {
        limbs: F::ZERO,
        additions: 0,
        format: PhantomData,
    };

    /// Adds value * 2^unit. The value has 53 bits and a sign; the product must be a multiple of 2^`F::LOWEST`, and in the format's range.
    #[inline]
    pub(crate) fn add(&mut self, value: i64, unit: i32) {
        debug_assert!(value.unsigned_abs() < 1 << 54);
        let position = (unit - F::LOWEST).cast_unsigned();
        let shift = position % LIMB_BITS;
        let first = (position / LIMB_BITS) as usize;
        let limbs = &mut self.limbs.as_mut()[first..][..2];
        limbs[0] += (value << shift) & LIMB_MASK;
        limbs[1] += value >> (LIMB_BITS - shift);
        self.count_addition();
    }

    #[inline]
    fn count_addition(&mut self) {
        self.additions += 1;
        if self.additions >= MOST_ADDITIONS {
            self.propagate_carries();
        }
    }

    /// Like [`add`](Self::add), but for any value. The unit may be below the format's range if the value's bits below the range are zero.
    pub(crate) fn add_long(&mut self, value: i64, unit: i32) {
        let below = (F::LOWEST - unit).max(0).unsigned_abs();
        let (value, unit) = (value.checked_shr(below).unwrap_or(0), unit.max(F::LOWEST));
        self.add(value & LIMB_MASK, unit);
        self.add(value >> LIMB_BITS, unit + LIMB_BITS as i32);
    }

    /// Adds value * 2^unit, which is a multiple of 2^`F::LOWEST`, and within the format's range.
    pub(crate) fn add_integer(&mut self, value: i128, unit: i32) {
        let below = (F::LOWEST - unit).max(0).unsigned_abs();
        let (mut value, mut unit) = (value >> below.min(i128::BITS - 1), unit.max(F::LOWEST));
        // Limbs above the value are not touched, as they may not exist.
        while value.unsigned_abs() >= 1 << 54 {
            self.add(
                lower_half(value.cast_unsigned()).cast_signed() & LIMB_MASK,
                unit,
            );
            value >>= LIMB_BITS;
            unit += LIMB_BITS.cast_signed();
        }
        if value != 0 {
            self.add(lower_half(value.cast_unsigned()).cast_signed(), unit);
        }
    }

    /// Like [`add_integer`](Self::add_integer), but for a value that is given as words in two's complement.
    pub(crate) fn add_wide<const N: usize>(&mut self, mut words: [u64; N], unit: i32) {
        // Limbs above the value are not touched, as they may not exist.
        each_word(&mut words, unit, |word, unit| self.add_integer(word, unit));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_limbs(other.propagated_limbs().as_ref());
    }

    pub(crate) fn unmerge(&mut self, other: &Self) {
        let mut limbs = other.propagated_limbs();
        for limb in limbs.as_mut() {
            *limb = limb.wrapping_neg();
        }
        self.add_limbs(limbs.as_ref());
    }

    /// Adds limbs, which must all be below 2^62 in magnitude.
    pub(crate) fn add_limbs(&mut self, limbs: &[i64]) {
        self.propagate_carries();
        for (own, other) in self.limbs.as_mut().iter_mut().zip(limbs) {
            *own += *other;
        }
        self.propagate_carries();
    }

    /// Adds a number given as words, in the form that [`write_words`](Self::write_words) writes.
    pub(crate) fn add_words(&mut self, words: &[u64]) {
        let (highest, lower) = words.split_last().expect("a number has limbs");
        let (pairs, highest_limbs) = self.limbs.as_mut().split_at_mut(2 * lower.len());
        for (limbs, word) in pairs.as_chunks_mut().0.iter_mut().zip(lower) {
            let word = word.cast_signed();
            let [lower, upper] = limbs;
            *lower += word & LIMB_MASK;
            *upper += word >> LIMB_BITS & LIMB_MASK;
        }
        match (highest_limbs, highest.cast_signed()) {
            ([lower, upper], word) => {
                *lower += word & LIMB_MASK;
                *upper += word >> LIMB_BITS;
            }
            // Words from outside may have any value, so this addition wraps. The words of a sum are far from the limits.
            (limbs, word) => limbs[0] = limbs[0].wrapping_add(word),
        }
        self.count_addition();
    }

    /// Writes the number as words in two's complement, two limbs in a word.
    pub(crate) fn write_words(&self, words: &mut [u64]) {
        /// Most groups of this many words have only zero bits or, above the bits of a negative number, only ones.
        const WORDS: usize = 4;
        let mut carry = 0_i64;
        let limbs = self.limbs.as_ref().chunks(2 * WORDS);
        for (words, limbs) in words.chunks_mut(WORDS).zip(limbs) {
            if limbs.iter().fold(0, |bits, limb| bits | limb) == 0 && matches!(carry, 0 | -1) {
                words.fill(carry.cast_unsigned());
                continue;
            }
            for (word, limbs) in words.iter_mut().zip(limbs.chunks(2)) {
                let upper = limbs.get(1).copied().unwrap_or(0);
                let lower = i128::from(limbs[0]) + i128::from(carry);
                let sum = lower + (i128::from(upper) << LIMB_BITS);
                *word = lower_half(sum.cast_unsigned());
                carry = lower_half((sum >> 64).cast_unsigned()).cast_signed();
            }
        }
    }

    /// The number as words, followed by the words of the counters, which are zero.
    pub(crate) fn words(&self) -> F::Words {
        let mut words = F::Words::zeroed();
        self.write_words(&mut words.as_mut()[..Self::WORDS]);
        words
    }

    /// Makes every limb but the highest one a number from 0 to 2^32 - 1.
    pub(crate) fn propagate_carries(&mut self) {
        let limbs = self.limbs.as_mut();
        let (highest, lower) = limbs.split_last_mut().expect("a number has limbs");
        let mut carry = 0;
        for limb in lower {
            let sum = *limb + carry;
            *limb = sum & LIMB_MASK;
            carry = sum >> LIMB_BITS;
        }
        *highest = highest.wrapping_add(carry);
        self.additions = 0;
    }

    /// The limbs; all but the highest are numbers from 0 to 2^32 - 1.
    pub(crate) fn propagated_limbs(&self) -> F::Limbs {
        let mut copy = *self;
        copy.propagate_carries();
        copy.limbs
    }

    /// The number as an integer, and the exponent of its unit.
    pub(crate) fn integer(&self) -> (BigInt, i32) {
        let words = self.words();
        let words = &words.as_ref()[..Self::WORDS];
        let zeros = words.iter().take_while(|&&word| word == 0).count();
        let bytes: Vec<u8> = words[zeros..]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let unit = F::LOWEST + 64 * i32::try_from(zeros).expect("a number has few words");
        (BigInt::from_signed_bytes_le(&bytes), unit)
    }

    /// The number in units of 2^unit, rounded down, in two's complement. It must fit N words.
    pub(crate) fn cut<const N: usize>(&self, unit: i32) -> [u64; N] {
        const BITS: i32 = u64::BITS.cast_signed();
        let words = self.words();
        let words = &words.as_ref()[..Self::WORDS];
        let sign = words
            .last()
            .map_or(0, |word| word.cast_signed() >> (BITS - 1));
        let place = unit - F::LOWEST;
        let (first, shift) = (place.div_euclid(BITS), place.rem_euclid(BITS));
        let word = |index: i32| match usize::try_from(index) {
            Ok(index) => words.get(index).copied().unwrap_or(sign.cast_unsigned()),
            Err(_) => 0,
        };
        let mut cut = [0; N];
        for (index, cut) in (first..).zip(&mut cut) {
            let both = u128::from(word(index + 1)) << BITS | u128::from(word(index));
            *cut = lower_half(both >> shift);
        }
        cut
    }

    /// The number of words that a fixed-point number takes.
    pub(crate) const WORDS: usize = F::LIMBS.div_ceil(2);

    pub(crate) fn is_negative(&self) -> bool {
        self.magnitude().is_some_and(|(is_negative, _)| is_negative)
    }

    /// The sign and the magnitude; `None` for zero.
    pub(crate) fn magnitude(&self) -> Option<(bool, Magnitude)> {
        let mut words = self.words();
        let words = &mut words.as_mut()[..Self::WORDS];
        magnitude_of(words, F::LOWEST)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only the lower half is needed"
)]
pub(crate) fn lower_half(number: u128) -> u64 {
    number as u64
}

/// The sign and the magnitude of words in two's complement times 2^unit; `None` for zero. The words are changed.
#[inline(always)]
pub(crate) fn magnitude_of(words: &mut [u64], unit: i32) -> Option<(bool, Magnitude)> {
    let is_negative = words.last().is_some_and(|word| word.cast_signed() < 0);
    if is_negative {
        negate(words);
    }
    let top = words.iter().rposition(|&word| word != 0)?;
    let at = |below: usize| top.checked_sub(below).map_or(0, |index| words[index]);
    let upper = u128::from(at(0)) << 64 | u128::from(at(1));
    let free = upper.leading_zeros();
    let next = u128::from(at(2)) << free;
    let rest = &words[..top.saturating_sub(2)];
    let top = i32::try_from(top).expect("a number has few words");
    let magnitude = Magnitude {
        bits: upper << free | next >> 64,
        exponent: unit + 64 * (top - 1) - free.cast_signed(),
        is_more: lower_half(next) != 0 || rest.iter().any(|&word| word != 0),
    };
    Some((is_negative, magnitude))
}

/// Negates a number in two's complement.
fn negate(words: &mut [u64]) {
    let mut carry = true;
    for word in words {
        (*word, carry) = (!*word).overflowing_add(carry.into());
    }
}

impl<F: FixedFormat> PartialEq for Fixed<F> {
    fn eq(&self, other: &Self) -> bool {
        self.propagated_limbs() == other.propagated_limbs()
    }
}

/// Calls `each` with every nonzero word of a number's magnitude, as an integer with the number's sign, and the exponent of the word's unit.
/// `words`, in two's complement, are changed. `lowest` is the exponent of the lowest word's unit.
pub(crate) fn each_word(words: &mut [u64], lowest: i32, mut each: impl FnMut(i128, i32)) {
    let is_negative = words.last().is_some_and(|word| word.cast_signed() < 0);
    if is_negative {
        negate(words);
    }
    for (word, unit) in words.iter().zip((lowest..).step_by(64)) {
        if *word != 0 {
            let magnitude = i128::from(*word);
            each(if is_negative { -magnitude } else { magnitude }, unit);
        }
    }
}

/// Adds a number in two's complement.
pub(crate) fn add_to_words(words: &mut [u64], other: &[u64]) {
    let mut carry = false;
    for (word, &other) in words.iter_mut().zip(other) {
        let (sum, overflows) = word.overflowing_add(other);
        let (sum, carries) = sum.overflowing_add(carry.into());
        (*word, carry) = (sum, overflows | carries);
    }
}

/// The integer that a pair represents.
#[inline(always)]
pub(crate) fn integer_of([lower, higher]: Pair) -> i128 {
    (i128::from(higher) << LOWER_PLACES) + i128::from(lower)
}

/// The sign and the magnitude of value * 2^unit; `None` for zero.
#[inline]
pub(crate) fn short_magnitude(value: i128, unit: i32) -> Option<(bool, Magnitude)> {
    let bits = value.unsigned_abs();
    let free = bits.leading_zeros();
    let magnitude = || Magnitude {
        bits: bits << free,
        exponent: unit - free.cast_signed(),
        is_more: false,
    };
    (bits != 0).then(|| (value < 0, magnitude()))
}

/// The number bits * 2^exponent, where the highest bit of `bits` is set. If `is_more` is true, the number is
/// larger than this product, by less than a unit in the 64th place from the top.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Magnitude {
    pub(crate) bits: u128,
    pub(crate) exponent: i32,
    pub(crate) is_more: bool,
}

impl Magnitude {
    /// The exponent of the smallest power of two above the number.
    pub(crate) fn bits_end(self) -> i32 {
        self.exponent + u128::BITS.cast_signed()
    }
}

/// A finite number as an integer of 53 bits and a sign, in units of 2^unit.
#[inline(always)]
pub(crate) fn integer(item: f64) -> (i64, i32) {
    let bits = item.to_bits();
    let biased = (bits >> 52) as i32 & 0x7FF;
    let fraction = (bits & ((1 << 52) - 1)).cast_signed();
    // Subnormal numbers have the unit of the smallest normal ones.
    let significand = fraction | i64::from(biased != 0) << 52;
    let sign = bits.cast_signed() >> 63;
    ((significand ^ sign) - sign, biased.max(1) - 1075)
}
