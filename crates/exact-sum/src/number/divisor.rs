//! Divides many numbers by the same integer.

use crate::number::fixed::Magnitude;
use crate::number::float::Float;
use crate::number::near::{Near, Part, signed};

/// An integer from 1 to 2^53 - 1, and its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    pub(crate) near: Near,
    /// 1 / divisor / 2^`unit`, rounded down.
    reciprocal: u64,
    unit: i32,
}

impl Divisor {
    /// The divisor; `None` if the integer is out of range.
    pub(crate) fn of(integer: i128) -> Option<Self> {
        let near = Near::of_integer(integer)?;
        let free = integer.leading_zeros() - u64::BITS;
        let reciprocal = (u128::MAX >> 1) / (integer.cast_unsigned() << free);
        Some(Self {
            near,
            reciprocal: u64::try_from(reciprocal).expect("the divisor has 64 bits"),
            unit: free.cast_signed() - 127,
        })
    }

    /// Divides a magnitude by this number. Returns a double and an exponent; double * 2^exponent is the rounded quotient. Returns `None` if
    /// 64 bits of the magnitude and of the reciprocal leave the rounding in doubt. That happens in less than 1% of cases.
    #[expect(clippy::cast_precision_loss, reason = "the quotient is rounded here")]
    #[inline(always)]
    fn divide(self, magnitude: Magnitude) -> Option<(f64, i32)> {
        // Both factors are too small by at most 1, so the product is too small by at most the sum of the factors: 2^65.
        let product = (magnitude.bits >> 64) * u128::from(self.reciprocal);
        let least = (product >> 65) as i64;
        let [least, most] = [least, least.wrapping_add(2)].map(|integer| integer as f64);
        let exponent = magnitude.exponent + 64 + self.unit + 65;
        (least.to_bits() == most.to_bits()).then_some((least, exponent))
    }
}

impl Part {
    /// The number divided by `divisor`, rounded once. `None` if the rounding is in doubt.
    #[inline(always)]
    pub(crate) fn over<T: Float>(self, divisor: Divisor) -> Option<T> {
        if let Some((is_negative, magnitude)) = self.number
            && self.error.is_none()
            && let Some(nearest) = divisor.divide(magnitude)
        {
            return signed(is_negative, nearest);
        }
        self.rounded(|number| number.over(divisor.near))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Divisor;
    use crate::number::fixed::short_magnitude;
    use crate::number::near::Part;
    use crate::number::scaled::{Scaled, quotient};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        /// Some quotients are next to the midpoint between two numbers.
        #[test]
        fn is_nearest_or_in_doubt(divisor in 1..1_u64 << 53, zeros in 0..53_u32, bits: i128, odd: u64, by in -2..3_i128, is_close: bool, unit in prop_oneof![Just(0), -1200..1200]) {
            let divisor = divisor >> zeros | 1;
            let close = i128::from(odd >> 10 | 1) * i128::from(divisor) + by;
            let integer = if is_close { close } else { bits };
            let part = Part::of(short_magnitude(integer, unit), None);
            let exact = Scaled { integer: integer.into(), unit };
            let divisor_of = Divisor::of(divisor.into()).unwrap();
            let found = part.over::<f64>(divisor_of);
            prop_assert!(found.is_none_or(|found| found.to_bits() == quotient::<f64>(&exact, &divisor.into()).to_bits()));
            let found = part.over::<f32>(divisor_of);
            prop_assert!(found.is_none_or(|found| found.to_bits() == quotient::<f32>(&exact, &divisor.into()).to_bits()));
        }
    }
}
