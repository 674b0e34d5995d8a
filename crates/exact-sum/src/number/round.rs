//! Rounds to nearest, ties to even.

use num_bigint::BigUint;

use crate::number::fixed::Magnitude;

/// A binary interchange format of IEEE 754.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// The number of bits of a significand, including the bit that is not stored.
    pub(crate) precision: i32,
    /// The exponent of the smallest subnormal number.
    pub(crate) lowest: i32,
    /// The bits of infinity.
    pub(crate) infinity: u64,
}

impl Format {
    pub(crate) const DOUBLE: Self = Self {
        precision: 53,
        lowest: -1074,
        infinity: f64::INFINITY.to_bits(),
    };

    pub(crate) const SINGLE: Self = Self {
        precision: 24,
        lowest: -149,
        infinity: f32::INFINITY.to_bits() as u64,
    };

    /// The bits of the number that is nearest to a magnitude.
    pub(crate) fn round(self, magnitude: Magnitude) -> u64 {
        let Magnitude {
            bits,
            exponent,
            is_more,
        } = magnitude;
        let unit = (exponent + 128 - self.precision).max(self.lowest);
        // `dropped` is at least 1, since a significand has fewer than 128 bits. It exceeds 128 for numbers far below the subnormal ones.
        let dropped = (unit - exponent).unsigned_abs();
        let kept = bits.checked_shr(dropped).unwrap_or(0);
        let half = bits.checked_shr(dropped - 1).unwrap_or(0) & 1 == 1;
        let below_half = match 1_u128.checked_shl(dropped - 1) {
            Some(half) => bits & (half - 1) != 0,
            None => true,
        };
        let is_odd = kept & 1 == 1;
        let kept = u64::try_from(kept).expect("a significand has 53 bits at most");
        let rounded = kept + u64::from(half && (below_half || is_more || is_odd));
        // A normal number's highest bit adds 1 to the exponent field, and so does a carry out of the significand.
        // The exponent is clamped, so that numbers far above all finite ones do not overflow the field.
        let exponent = u64::from((unit - self.lowest).unsigned_abs().min(1 << 11));
        let bits = (exponent << (self.precision - 1)) + rounded;
        bits.min(self.infinity)
    }
}

/// A magnitude divided by a number that is not 0.
pub(crate) fn quotient(magnitude: Magnitude, divisor: u64) -> Magnitude {
    let divisor = u128::from(divisor);
    // The quotient has at least 64 bits. The magnitude exceeds `bits` by less than 1, so adding this excess keeps `rest` below the divisor.
    let (quotient, rest) = (magnitude.bits / divisor, magnitude.bits % divisor);
    let free = quotient.leading_zeros();
    Magnitude {
        bits: quotient << free,
        exponent: magnitude.exponent - free.cast_signed(),
        is_more: magnitude.is_more || rest != 0,
    }
}

/// The quotient of two numbers that are not 0, times 2^exponent.
pub(crate) fn ratio(numerator: &BigUint, denominator: &BigUint, exponent: i32) -> Magnitude {
    const BITS: u64 = u128::BITS as u64;
    // Shifts the numerator so far that the quotient has at least as many bits as a magnitude.
    let shift = (BITS + 1 + denominator.bits()).saturating_sub(numerator.bits());
    let numerator = numerator << shift;
    let quotient = &numerator / denominator;
    let dropped = quotient.bits() - BITS;
    let bits = &quotient >> dropped;
    let is_more = (&bits << dropped) * denominator != numerator;
    let places = |bits: u64| i32::try_from(bits).expect("a number has a few thousand bits");
    Magnitude {
        bits: u128::try_from(bits).expect("this has 128 bits"),
        exponent: exponent + places(dropped) - places(shift),
        is_more,
    }
}

/// The square root, to enough bits that rounding it gives the number that is nearest to the root.
pub(crate) fn root(magnitude: Magnitude) -> Magnitude {
    let Magnitude {
        bits,
        exponent,
        is_more,
    } = magnitude;
    let is_odd = exponent & 1 != 0;
    let (even, lost) = if is_odd {
        (bits >> 1, bits & 1 != 0)
    } else {
        (bits, false)
    };
    let root = even.isqrt();
    let free = root.leading_zeros();
    Magnitude {
        bits: root << free,
        exponent: (exponent + i32::from(is_odd)) / 2 - free as i32,
        is_more: is_more || lost || root * root != even,
    }
}
