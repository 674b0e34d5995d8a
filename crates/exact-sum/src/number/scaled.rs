//! Defines the numbers with which statistics are computed exactly: integers of any size times powers of two.

use num_bigint::{BigInt, Sign};

use crate::number::fixed::{Fixed, FixedFormat, Magnitude, integer};
use crate::number::float::Float;
use crate::number::round::{ratio, root};

/// integer * 2^unit.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    pub(crate) integer: BigInt,
    pub(crate) unit: i32,
}

impl Scaled {
    pub(crate) fn of<F: FixedFormat>(fixed: &Fixed<F>) -> Self {
        let (integer, unit) = fixed.integer();
        Self { integer, unit }
    }

    pub(crate) fn times(&self, factor: &BigInt) -> Self {
        Self {
            integer: &self.integer * factor,
            unit: self.unit,
        }
    }

    pub(crate) fn is_positive(&self) -> bool {
        self.integer.sign() == Sign::Plus
    }

    /// The product.
    pub(crate) fn by(&self, other: &Self) -> Self {
        Self {
            integer: &self.integer * &other.integer,
            unit: self.unit + other.unit,
        }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let ([own, other], unit) = self.aligned(other);
        let integer = own + other;
        Self { integer, unit }
    }

    /// The difference.
    pub(crate) fn less(&self, other: &Self) -> Self {
        let ([own, other], unit) = self.aligned(other);
        let integer = own - other;
        Self { integer, unit }
    }

    /// Both integers in the smaller of their units, and the exponent of this unit.
    fn aligned(&self, other: &Self) -> ([BigInt; 2], i32) {
        let unit = self.unit.min(other.unit);
        let integers = [self, other].map(|number| {
            let places = (number.unit - unit).unsigned_abs();
            &number.integer << places
        });
        (integers, unit)
    }
}

/// The numerator and the denominator of a quotient divided by 10^`tens`.
pub(crate) fn over_tens([numerator, denominator]: [Scaled; 2], tens: i32) -> [Scaled; 2] {
    let power = || BigInt::from(10).pow(tens.unsigned_abs());
    match tens {
        0 => [numerator, denominator],
        1.. => [numerator, denominator.times(&power())],
        _ => [numerator.times(&power()), denominator],
    }
}

/// The quotient of two numbers, rounded once: NaN if the denominator is zero, otherwise +0.0 if the numerator is zero.
pub(crate) fn quotient<T: Float>(numerator: &Scaled, denominator: &Scaled) -> T {
    rounded(numerator, numerator, denominator, |magnitude| magnitude)
}

/// The square root of numerator / denominator with the sign of `sign`, rounded once as in [`quotient`]. Numerator and denominator must
/// not be negative, and `sign` must be zero if the numerator is.
pub(crate) fn signed_root<T: Float>(sign: &Scaled, numerator: &Scaled, denominator: &Scaled) -> T {
    rounded(sign, numerator, denominator, root)
}

fn rounded<T: Float>(
    sign: &Scaled,
    numerator: &Scaled,
    denominator: &Scaled,
    change: fn(Magnitude) -> Magnitude,
) -> T {
    let signs = (sign.integer.sign(), denominator.integer.sign());
    match signs {
        (_, Sign::NoSign) => T::NAN,
        (Sign::NoSign, _) => T::ZERO,
        (own, other) => {
            let ratio = ratio(
                numerator.integer.magnitude(),
                denominator.integer.magnitude(),
                numerator.unit - denominator.unit,
            );
            T::signed((own != other, change(ratio)))
        }
    }
}

impl From<u64> for Scaled {
    fn from(number: u64) -> Self {
        Self {
            integer: number.into(),
            unit: 0,
        }
    }
}

/// The number must be finite.
impl From<f64> for Scaled {
    fn from(number: f64) -> Self {
        let (integer, unit) = integer(number);
        Self {
            integer: integer.into(),
            unit,
        }
    }
}
