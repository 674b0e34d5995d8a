//! Chooses a unit in which items of similar magnitude are integers.

use crate::number::fixed::FixedFormat;
use crate::number::float::Float;
use simd_kernels::is_zero;

/// A column's unit, and the range of exponents that items must have to be integers in this unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// The lowest exponent of items, as the biased exponent of a double.
    lowest: u64,
    /// The number of exponents in the range, from `lowest` on.
    exponents: u64,
    /// The number of last bits that are zero in all significands.
    zeros: u32,
}

const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const BEYOND: usize = 0x7FF;

impl Grid {
    /// The number of bits that items may have as integers, so that sums of up to fourth powers have room: the sum of the k-th powers
    /// of 2^`count_bits` items is below 2^(64 (k + 1) - 1). So items may differ by a factor of 2^20, and more if they are `f32`.
    pub(crate) fn bits(count_bits: u32) -> u32 {
        const MOST: u32 = 74;
        /// With more bits in the number of items, numerators would not have room: see [`powers`](crate::slots::narrow::powers).
        const MOST_COUNT_BITS: u32 = 36;
        if count_bits > MOST_COUNT_BITS {
            return 0;
        }
        MOST.min((319 - count_bits) / 4)
    }

    /// The grid that the most items fit as integers of `bits` bits. `items` have been converted from type `T`.
    pub(crate) fn of<T: Float>(items: &[f64], bits: u32) -> Self {
        let precision = if T::IS_SINGLE {
            f32::MANTISSA_DIGITS
        } else {
            f64::MANTISSA_DIGITS
        };
        let zeros = f64::MANTISSA_DIGITS - precision;
        let exponents = (bits + 1).saturating_sub(precision) as usize;
        let mut counts = vec![0_usize; BEYOND + 1];
        for item in items {
            counts[(item.to_bits() >> FRACTION_BITS) as usize & BEYOND] += 1;
        }
        // The last bit of an item must not be below the lowest bit of the fixed-point format. Subnormal numbers do not fit.
        let least = T::Sums::LOWEST + 1075 - zeros.cast_signed();
        let least = usize::try_from(least.max(1)).expect("`least` is at least 1");
        let mut held: usize = counts[least..least + exponents]
            .iter()
            .fold(0, |sum, count| sum + count);
        let (mut best, mut most) = (least, held);
        for lowest in least + 1..=BEYOND - exponents {
            held = held + counts[lowest + exponents - 1] - counts[lowest - 1];
            if held >= most {
                (best, most) = (lowest, held);
            }
        }
        Self {
            lowest: best as u64,
            exponents: exponents as u64,
            zeros,
        }
    }

    /// The binary logarithm of the unit.
    pub(crate) fn unit(self) -> i32 {
        let lowest = i32::try_from(self.lowest).expect("exponents are small");
        lowest - 1075 + self.zeros.cast_signed()
    }

    /// An item as an integer, if it fits.
    #[inline(always)]
    pub(crate) fn integer(self, item: f64) -> Option<i128> {
        const IMPLICIT: u64 = 1 << FRACTION_BITS;
        let bits = item.to_bits();
        let distance = (bits >> FRACTION_BITS & BEYOND as u64).wrapping_sub(self.lowest);
        if distance < self.exponents {
            let significand = (bits & (IMPLICIT - 1) | IMPLICIT) >> self.zeros;
            // The distance is below 64, which the compiler does not know.
            let magnitude = i128::from(significand) << (distance % 64);
            let sign = i128::from(bits.cast_signed() >> (u64::BITS - 1));
            Some((magnitude ^ sign) - sign)
        } else {
            is_zero(item).then_some(0)
        }
    }
}
