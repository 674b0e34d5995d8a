//! Computes with about a hundred bits, and rounds correctly if these bits leave no doubt.
//!
//! A result is rounded correctly if all numbers within its error bound round to the same number (Ziv, "Fast evaluation of elementary
//! mathematical functions with correctly rounded last bit", ACM TOMS 17, 1991). Otherwise callers compute with integers.

use crate::number::fixed::Magnitude;
use crate::number::float::Float;

/// A double-word number: (high + low) * 2^exponent, where high is high + low rounded (Dekker, Numerische Mathematik 18, 1971).
///
/// Let u = 2^-53. The functions' relative errors, up to terms of u^3, are
///
/// | function | error in addition to the operands' errors |
/// |---|---|
/// | [`of`](Self::of) | 2 u^2, since 106 bits are kept |
/// | [`by`](Self::by) | 8 u^2 |
/// | [`over`](Self::over) | 13 u^2 |
/// | [`root`](Self::root) | 6 u^2 |
///
/// Product: x.low y.low is left out (u^2). The cross products (u^2 each), their sum (2 u^2) and its sum with the high parts' error (3 u^2)
/// are rounded. Quotient: the quotient of the high parts leaves a remainder of at most 3u, whose terms of u, u and 2u are rounded (4 u^2), and so is
/// their sum (3 u^2). Dividing the remainder by y.high instead of y, and rounding, adds 6 u^2. Root: the root of the high part leaves a remainder of
/// at most 3u, which is computed with an error of 5 u^2, and halved. Dividing it by twice that root, instead of by the sum of both roots,
/// adds 1.5 u^2, and so does rounding. A root halves its operand's error. Differences of high parts are exact (Sterbenz), and so are errors
/// of products (Dekker), as all high parts are from 2^-64 to 2^64. The slots' longest formula, a √b / (c √c d), has an error of (2 + 7 + 8)
/// + (2 + 7 + 8 + 2 + 8) + 13 = 57 u^2 < 2^-100.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    high: f64,
    low: f64,
    exponent: i32,
}

/// Eight times the bound of all errors, so that the roundings of [`Near::nearest`] are negligible.
const ERROR: f64 = 1.0 / (1_u128 << 97) as f64;

impl Near {
    /// The 106 highest bits of a magnitude.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "halves of 53 bits are exact"
    )]
    #[inline(always)]
    pub(crate) fn of(magnitude: Magnitude) -> Self {
        const HALF_BITS: u32 = 53;
        const ONE: f64 = 1.0 / (1_u64 << (HALF_BITS - 1)) as f64;
        const BELOW_ONE: f64 = ONE / (1_u64 << HALF_BITS) as f64;
        let high = (magnitude.bits >> (u128::BITS - HALF_BITS)) as i64;
        let low = (magnitude.bits >> (u128::BITS - 2 * HALF_BITS)) as i64;
        let low = low & ((1 << HALF_BITS) - 1);
        Self::sum(
            high as f64 * ONE,
            low as f64 * BELOW_ONE,
            magnitude.exponent + u128::BITS.cast_signed() - 1,
        )
    }

    /// An integer from 1 to 2^53 - 1; `None` for any other integer.
    #[expect(clippy::cast_precision_loss, reason = "the cast is exact")]
    #[inline(always)]
    pub(crate) fn of_integer(integer: i128) -> Option<Self> {
        let integer = i64::try_from(integer).ok()?;
        let range = 1..1 << f64::MANTISSA_DIGITS;
        range.contains(&integer).then_some(Self {
            high: integer as f64,
            low: 0.0,
            exponent: 0,
        })
    }

    /// The sum of two numbers times 2^exponent, by Dekker's Fast2Sum. The magnitude of `low` must not exceed that of `high`.
    #[inline(always)]
    fn sum(high: f64, low: f64, exponent: i32) -> Self {
        let sum = high + low;
        Self {
            high: sum,
            low: low - (sum - high),
            exponent,
        }
    }

    /// The product.
    #[inline(always)]
    pub(crate) fn by(self, other: Self) -> Self {
        let [product, error] = product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self::sum(product, error + cross, self.exponent + other.exponent)
    }

    /// The quotient.
    #[inline(always)]
    pub(crate) fn over(self, other: Self) -> Self {
        let quotient = self.high / other.high;
        let [product, error] = product(quotient, other.high);
        let rest = ((self.high - product) - error) + (self.low - quotient * other.low);
        Self::sum(quotient, rest / other.high, self.exponent - other.exponent)
    }

    /// The square root.
    #[inline(always)]
    pub(crate) fn root(self) -> Self {
        let is_odd = self.exponent & 1;
        let scale = f64::from(1 + is_odd);
        let [high, low] = [self.high * scale, self.low * scale];
        let root = high.sqrt();
        let [square, error] = product(root, root);
        let rest = ((high - square) - error) + low;
        Self::sum(root, rest / (2.0 * root), (self.exponent - is_odd) / 2)
    }

    /// The number of type `T` that is nearest to this number, or to its negative if `is_negative` is set. `None` if the rounding is in
    /// doubt: the result may be subnormal, or this number's error, including the relative error `lacking` of its operands, reaches the
    /// midpoint between two numbers.
    #[inline(always)]
    pub(crate) fn nearest<T: Float>(self, is_negative: bool, lacking: f64) -> Option<T> {
        let error = self.high * (ERROR + lacking);
        let [least, most] = [-error, error].map(|error| self.high + (self.low + error));
        if least.to_bits() == most.to_bits() {
            signed(is_negative, (least, self.exponent))
        } else {
            None
        }
    }
}

/// The number of type `T` nearest to a value, given the value's sign and the double `nearest` to its magnitude / 2^exponent. `None` if the
/// rounding is in doubt.
#[inline(always)]
pub(super) fn signed<T: Float>(is_negative: bool, (nearest, exponent): (f64, i32)) -> Option<T> {
    /// No double from 2^-64 to 2^64 becomes subnormal or infinite when it is multiplied by 2 to one of these exponents.
    const EXPONENTS: std::ops::Range<i32> = -950..950;
    /// All doubles from 2^-64 to 2^64 become zero or infinite when they are multiplied by 2 to an exponent outside this range.
    const BEYOND: std::ops::Range<i32> = -1200..1200;
    let value = if EXPONENTS.contains(&exponent) {
        let biased = (exponent + 1023).cast_unsigned();
        T::of_nearest(nearest * f64::from_bits(u64::from(biased) << 52))?
    } else if BEYOND.contains(&exponent) {
        return None;
    } else if exponent < 0 {
        T::ZERO
    } else {
        T::INFINITY
    };
    Some(if is_negative { value.negate() } else { value })
}

/// A product and its rounding error (Dekker and Veltkamp).
#[inline(always)]
fn product(x: f64, y: f64) -> [f64; 2] {
    let product = x * y;
    let [[x, lower_x], [y, lower_y]] = [halves(x), halves(y)];
    let error = ((x * y - product) + x * lower_y + lower_x * y) + lower_x * lower_y;
    [product, error]
}

/// A number as the sum of two halves, which are so short that products of halves are exact.
#[inline(always)]
fn halves(number: f64) -> [f64; 2] {
    let scaled = number * ((1 << 27) + 1) as f64;
    let upper = scaled - (scaled - number);
    [upper, number - upper]
}

/// A number as [`Wide::magnitude`](crate::number::wide::Wide::magnitude) returns it, and a bound on its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(super) number: Option<(bool, Magnitude)>,
    /// `None` if the number is exact; otherwise its error is less than 2 to this power.
    pub(super) error: Option<i32>,
}

impl Part {
    #[inline(always)]
    pub(crate) fn of(number: Option<(bool, Magnitude)>, error: Option<i32>) -> Self {
        Self { number, error }
    }

    /// A function of the number, rounded once; +0.0 if the number is zero. `None` if the rounding is in doubt.
    #[inline(always)]
    pub(crate) fn rounded<T: Float>(self, of: impl FnOnce(Near) -> Near) -> Option<T> {
        match self.number {
            None => self.error.is_none().then_some(T::ZERO),
            Some((is_negative, magnitude)) => {
                let lacking = 4.0 * self.lacking(magnitude);
                of(Near::of(magnitude)).nearest(is_negative, lacking)
            }
        }
    }

    /// A bound on the relative error.
    #[inline(always)]
    fn lacking(&self, magnitude: Magnitude) -> f64 {
        self.error.map_or(0.0, |error| {
            let places = (magnitude.bits_end() - 1 - error)
                .clamp(0, 1000)
                .cast_unsigned();
            f64::from_bits(u64::from(1023 - places) << 52)
        })
    }
}

impl From<Option<(bool, Magnitude)>> for Part {
    #[inline(always)]
    fn from(number: Option<(bool, Magnitude)>) -> Self {
        Self::of(number, None)
    }
}

/// A function of a numerator and a denominator, rounded once; NaN if the denominator is zero, otherwise +0.0 if the numerator is zero. `None` if the
/// rounding is in doubt. In `of`, both may be factors to the power of 1/2, 1 or 3/2.
#[inline(always)]
pub(crate) fn near_quotient<T: Float>(
    numerator: Part,
    denominator: Part,
    of: impl FnOnce(Near, Near) -> Near,
) -> Option<T> {
    match (numerator.number, denominator.number) {
        (None, _) | (_, None) if numerator.error.or(denominator.error).is_some() => None,
        (_, None) => Some(T::NAN),
        (None, _) => Some(T::ZERO),
        (Some((is_negative, above)), Some((is_opposite, below))) => {
            // Relative errors x so large that (1 + x)^(3/2) exceeds 1 + 2x leave the rounding in doubt anyway.
            let lacking = 2.0 * (numerator.lacking(above) + denominator.lacking(below));
            of(Near::of(above), Near::of(below)).nearest(is_negative != is_opposite, 2.0 * lacking)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Near, near_quotient};
    use crate::number::fixed::Magnitude;
    use crate::number::float::Float;
    use crate::number::scaled::{Scaled, quotient, signed_root};
    use crate::number::wide::Wide;

    fn scaled<const N: usize>(wide: Wide<N>, unit: i32) -> Scaled {
        let integer = wide.big();
        Scaled { integer, unit }
    }

    /// Returns whether all results that are not in doubt are right, and whether the quotient is not in doubt.
    fn check<T: Float>(a: Wide<3>, b: Wide<3>, unit: i32) -> [bool; 2] {
        let [above, below] = [a.magnitude(unit), b.magnitude(0)];
        let (exact_above, exact_below) = (scaled(a, unit), scaled(b, 0));
        let cube = exact_below.by(&exact_below).by(&exact_below);
        let square = exact_above.by(&exact_above);
        let is_right = |near: Option<T>, exact: T| {
            near.is_none_or(|near| {
                let [near, exact]: [f64; 2] = [near.into(), exact.into()];
                near.to_bits() == exact.to_bits()
            })
        };
        let ratio = near_quotient::<T>(above.into(), below.into(), |a, b| a.over(b));
        let mut are_right = is_right(ratio, quotient(&exact_above, &exact_below));
        if !a.is_negative() && !b.is_negative() {
            let root = near_quotient::<T>(above.into(), below.into(), |a, b| a.over(b).root());
            are_right &= is_right(root, signed_root(&exact_above, &exact_above, &exact_below));
        }
        if !b.is_negative() {
            let power =
                near_quotient::<T>(above.into(), below.into(), |a, b| a.over(b.by(b.root())));
            are_right &= is_right(power, signed_root(&exact_above, &square, &cube));
        }
        [are_right, ratio.is_some()]
    }

    fn wide() -> impl Strategy<Value = Wide<3>> {
        let all = any::<[u64; 3]>().prop_map(Wide);
        let short =
            (any::<i64>(), 0..64_u32).prop_map(|(bits, shift)| Wide::of((bits >> shift).into()));
        // Quotients next to the midpoint between two numbers.
        let close = (any::<u64>(), 0..120_u32, -1..=1_i128).prop_map(|(bits, shift, by)| {
            let middle = i128::from(bits >> 11) * 2 + 1;
            Wide::<3>::of(middle)
                .times::<2, 3>(Wide::of(1_i128 << shift))
                .plus(Wide::of(by))
        });
        prop_oneof![
            all,
            short,
            close,
            Just(Wide::of(1)),
            (0..190_usize).prop_map(|bit| {
                let mut words = [0; 3];
                words[bit / 64] = 1 << (bit % 64);
                Wide(words)
            })
        ]
    }

    /// Whether a number's relative error is at most `most` times 2^-106.
    fn is_within(near: &Scaled, exact: &Scaled, most: i32) -> bool {
        let difference = near.less(exact);
        let difference = if difference.is_positive() {
            difference
        } else {
            exact.less(near)
        };
        let bound = exact.by(&Scaled::from(f64::from(most) * 2_f64.powi(-106)));
        !difference.less(&bound).is_positive()
    }

    /// Checks the error bounds of the table at [`Near`], plus the errors of the operands.
    fn check_errors(a: Magnitude, b: Magnitude) {
        let exact = |of: Magnitude| Scaled {
            integer: of.bits.into(),
            unit: of.exponent,
        };
        let value = |near: Near| {
            let unit = near.exponent;
            let [high, low] = [near.high, near.low].map(Scaled::from);
            let Scaled { integer, unit: own } = high.plus(&low);
            Scaled {
                integer,
                unit: unit + own,
            }
        };
        let (near_a, near_b) = (Near::of(a), Near::of(b));
        let (a, b) = (exact(a), exact(b));
        assert!(is_within(&value(near_a), &a, 2));
        assert!(is_within(&value(near_a.by(near_b)), &a.by(&b), 12));
        assert!(is_within(&value(near_a.over(near_b)).by(&b), &a, 17));
        let root = value(near_a.root());
        assert!(is_within(&root.by(&root), &a, 15));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn errors_are_bounded(a: u128, b: u128, zeros in 0..100_u32, exponent in -100..100) {
            let of = |bits: u128, exponent| Magnitude { bits: bits | 1 << 127, exponent, is_more: false };
            check_errors(of(a, exponent), of(b, 0));
            // Factors that are near powers of two, from above and from below.
            check_errors(of(a >> zeros, exponent), of(!(b >> zeros), 0));
        }

        #[test]
        fn is_nearest_or_in_doubt(a in wide(), b in wide(), unit in prop_oneof![Just(0), -1200..1200]) {
            prop_assert!(check::<f64>(a, b, unit)[0], "{:?} {:?}", a, b);
            prop_assert!(check::<f32>(a, b, unit)[0], "{:?} {:?}", a, b);
        }

        #[test]
        fn most_are_clear(a: [u64; 2], b: [u64; 2]) {
            let [a, b] = [a, b].map(|[low, high]| Wide([low, high >> 1 | 1, 0]));
            prop_assert!(check::<f64>(a, b, 0)[1], "{:?} {:?}", a, b);
        }
    }
}
