//! Represents finite numbers and their sums as integers, and rounds these to floats. A bisection of all floats finds the two neighbours of
//! a sum, and their midpoint decides which of them is nearer.

use std::cmp::Ordering;
use std::ops::Neg;

use num_bigint::BigInt;

/// Units of 2^-2148, the smallest product of two doubles.
const UNIT: i32 = -2148;

/// The binary logarithm of the number of units in 1.
pub const UNITS_PER_ONE: u32 = UNIT.unsigned_abs();

/// The number of exponent fields of finite doubles. Fields 0 (subnormal numbers) and 1 (the smallest normal ones) mean the same exponent.
const EXPONENTS: usize = 0x7FF;

/// A finite double's exponent field, and its significand with its sign.
fn parts(x: f64) -> (usize, i64) {
    assert!(x.is_finite(), "{x} is finite");
    let bits = x.to_bits();
    let fraction = (bits & ((1 << 52) - 1)).cast_signed();
    let exponent = usize::try_from(bits >> 52 & 0x7FF).expect("11 bits");
    let significand = match exponent {
        0 => fraction,
        _ => fraction | 1 << 52,
    };
    let sign = if x.is_sign_negative() { -1 } else { 1 };
    (exponent, sign * significand)
}

/// A sum of significands with the same exponent, in units.
fn at(exponent: usize, significands: impl Into<BigInt>) -> BigInt {
    // At the smallest exponent, 1, a significand's last place is 2^-1074.
    significands.into() << (exponent.max(1) - 1 + 1074)
}

/// A finite double in units.
///
/// # Panics
/// The number is not finite.
#[must_use]
pub fn units(x: f64) -> BigInt {
    let (exponent, significand) = parts(x);
    at(exponent, significand)
}

/// 2^exponent in units.
///
/// # Panics
/// The exponent is below -2148.
#[must_use]
pub fn unit_of(exponent: i32) -> BigInt {
    assert!(exponent >= UNIT, "2^{exponent} is less than a unit");
    BigInt::from(1) << (exponent - UNIT)
}

/// The exact sum of finite items, in units. Adds significands separately for each exponent, since there may be many millions of items.
///
/// # Panics
/// An item is not finite.
#[must_use]
pub fn sum(items: impl IntoIterator<Item = f64>) -> BigInt {
    // A significand has 53 bits, so each sum has room for 2^74 of them.
    let mut significands = [0_i128; EXPONENTS];
    for item in items {
        let (exponent, significand) = parts(item);
        significands[exponent] += i128::from(significand);
    }
    let bins = significands.into_iter().enumerate();
    bins.filter(|&(_, significands)| significands != 0)
        .fold(BigInt::ZERO, |sum, (exponent, significands)| {
            sum + at(exponent, significands)
        })
}

/// The exact dot product of finite items, in units.
///
/// # Panics
/// An item is not finite.
#[must_use]
pub fn dot(x: &[f64], y: &[f64]) -> BigInt {
    let product = |(x, y): (&f64, &f64)| -> BigInt { (units(*x) * units(*y)) >> UNITS_PER_ONE };
    x.iter()
        .zip(y)
        .map(product)
        .fold(BigInt::ZERO, |sum, product| sum + product)
}

/// The non-negative floats of a type, in ascending order: the float with bits i is at place i.
struct Scale {
    value: fn(u64) -> f64,
    /// The place of infinity, which is the last one.
    infinity: u64,
    /// The exponent of the power of two that infinity stands for in rounding.
    end: i32,
}

const DOUBLES: Scale = Scale {
    value: f64::from_bits,
    infinity: f64::INFINITY.to_bits(),
    end: 1024,
};

const SINGLES: Scale = Scale {
    value: |bits| f64::from(single(bits)),
    infinity: f32::INFINITY.to_bits() as u64,
    end: 128,
};

fn single(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits).expect("no place is above infinity's"))
}

impl Scale {
    /// The number at a place, in units.
    fn at(&self, place: u64) -> BigInt {
        if place == self.infinity {
            unit_of(self.end)
        } else {
            units((self.value)(place))
        }
    }

    /// The place of the number nearest to x, ties to even, where `of_twice` is `function(2x)` and `function` is increasing.
    fn nearest(&self, of_twice: &BigInt, function: impl Fn(BigInt) -> BigInt) -> u64 {
        let (mut below, mut above) = (0, self.infinity);
        if *of_twice >= function(self.at(above) << 1_u32) {
            return above;
        }
        // x is at least the number at `below`, and less than the number at `above`.
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if function(self.at(middle) << 1_u32) <= *of_twice {
                below = middle;
            } else {
                above = middle;
            }
        }
        match of_twice.cmp(&function(self.at(below) + self.at(above))) {
            Ordering::Less => below,
            Ordering::Greater => above,
            Ordering::Equal => below + below % 2,
        }
    }

    /// The place of the number nearest to the magnitude of a sum divided by a positive number.
    fn nearest_quotient(&self, sum: &BigInt, divisor: &BigInt) -> u64 {
        let magnitude = BigInt::from(sum.magnitude().clone());
        self.nearest(&(magnitude << 1_u32), |twice| twice * divisor)
    }
}

/// The double nearest to a sum, ties to even; +0.0 for zero.
#[must_use]
pub fn to_double(sum: &BigInt) -> f64 {
    quotient_to_double(sum, &BigInt::from(1))
}

/// The double nearest to a sum divided by a positive number, ties to even; +0.0 for zero.
#[must_use]
pub fn quotient_to_double(sum: &BigInt, divisor: &BigInt) -> f64 {
    signed(sum, f64::from_bits(DOUBLES.nearest_quotient(sum, divisor)))
}

/// A magnitude with the sign of a sum.
fn signed<F: Neg<Output = F>>(sum: &BigInt, magnitude: F) -> F {
    if *sum < BigInt::ZERO {
        -magnitude
    } else {
        magnitude
    }
}

/// The float nearest to a sum, ties to even; +0.0 for zero.
#[must_use]
pub fn to_single(sum: &BigInt) -> f32 {
    quotient_to_single(sum, &BigInt::from(1))
}

/// The float nearest to a sum divided by a positive number, ties to even; +0.0 for zero.
#[must_use]
pub fn quotient_to_single(sum: &BigInt, divisor: &BigInt) -> f32 {
    signed(sum, single(SINGLES.nearest_quotient(sum, divisor)))
}

/// The double nearest to the root of a sum, ties to even.
///
/// # Panics
/// The sum is negative.
#[must_use]
pub fn root(sum: &BigInt) -> f64 {
    root_of_quotient(sum, &BigInt::from(1))
}

/// The double nearest to the root of a sum divided by a positive number, ties to even.
///
/// # Panics
/// The sum is negative.
#[must_use]
pub fn root_of_quotient(sum: &BigInt, divisor: &BigInt) -> f64 {
    assert!(*sum >= BigInt::ZERO, "a negative sum has no root");
    // The sum is converted to squared units, like a square, and multiplied by four, because `square` squares twice the number.
    let four_sums: BigInt = (sum << UNITS_PER_ONE) << 2_u32;
    let square = |twice: BigInt| &twice * &twice * divisor;
    f64::from_bits(DOUBLES.nearest(&four_sums, square))
}
