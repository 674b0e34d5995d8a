//! Finite numbers and their sums as integers, and the floats that are nearest to them: found by halving all floats, and compared with both
//! neighbours.

use num_bigint::BigInt;

/// Units of 2^-2148, the smallest product of two doubles.
const UNIT: i32 = -2148;

/// The binary logarithm of the number of units in 1.
pub const UNITS_PER_ONE: u32 = UNIT.unsigned_abs();

/// The exponents that doubles have, as their bits say it; those of subnormal numbers and of the smallest normal ones stand for the same.
const EXPONENTS: usize = 0x7FF;

/// A finite double's exponent, as its bits say it, and its significand with its sign.
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

/// So many times a significand's last place at an exponent, in units.
fn at(exponent: usize, significands: impl Into<BigInt>) -> BigInt {
    // The last place of the smallest exponent, 1, is 2^-1074.
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

/// The exact sum of finite items, in units: by a sum of significands for each exponent, as there may be many millions.
///
/// # Panics
/// An item is not finite.
#[must_use]
pub fn sum(items: impl IntoIterator<Item = f64>) -> BigInt {
    // A significand has 53 bits: there is room for 2^74 of them.
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

/// The doubles from 0 up as a scale: place i is the double of bits i; the last one is what infinity stands for in rounding.
fn place(bits: u64) -> BigInt {
    if bits == f64::INFINITY.to_bits() {
        return BigInt::from(1) << (1024 - UNIT);
    }
    units(f64::from_bits(bits))
}

fn place_single(bits: u64) -> BigInt {
    let single = single(bits);
    if single.is_infinite() {
        return BigInt::from(1) << (128 - UNIT);
    }
    units(f64::from(single))
}

/// The float at a place of their scale.
fn single(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits).expect("no place is above infinity's"))
}

/// Of the numbers at places that grow, the one nearest to a magnitude, ties to the even place.
fn nearest(magnitude: &BigInt, infinity: u64, place: impl Fn(u64) -> BigInt) -> u64 {
    let (mut below, mut above) = (0, infinity);
    if *magnitude >= place(above) {
        return above;
    }
    // place(below) <= magnitude < place(above)
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if place(middle) <= *magnitude {
            below = middle;
        } else {
            above = middle;
        }
    }
    let to_below = magnitude - place(below);
    let to_above = place(above) - magnitude;
    match to_below.cmp(&to_above) {
        std::cmp::Ordering::Less => below,
        std::cmp::Ordering::Greater => above,
        std::cmp::Ordering::Equal => below + below % 2,
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
    let magnitude = BigInt::from(sum.magnitude().clone());
    let place = |bits| place(bits) * divisor;
    let rounded = f64::from_bits(nearest(&magnitude, f64::INFINITY.to_bits(), place));
    if *sum < BigInt::ZERO {
        -rounded
    } else {
        rounded
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
    let magnitude = BigInt::from(sum.magnitude().clone());
    let infinity = u64::from(f32::INFINITY.to_bits());
    let place = |bits| place_single(bits) * divisor;
    let rounded = single(nearest(&magnitude, infinity, place));
    if *sum < BigInt::ZERO {
        -rounded
    } else {
        rounded
    }
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
    // Squares of places and of the points between them, in units of UNIT squared, four of which make one of half a place.
    let square = |x: BigInt| &x * &x * divisor;
    let four_sums: BigInt = (sum << UNITS_PER_ONE) << 2_u32;
    let (mut below, mut above) = (0, f64::INFINITY.to_bits());
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if square(place(middle) << 1_u32) <= four_sums {
            below = middle;
        } else {
            above = middle;
        }
    }
    let between = square(place(below) + place(above));
    match four_sums.cmp(&between) {
        std::cmp::Ordering::Less => f64::from_bits(below),
        std::cmp::Ordering::Greater => f64::from_bits(above),
        std::cmp::Ordering::Equal => f64::from_bits(below + below % 2),
    }
}
