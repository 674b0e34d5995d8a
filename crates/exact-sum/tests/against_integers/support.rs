//! An oracle that shares nothing with the crate: sums as integers of any size, rounded by comparing with every candidate's neighbours.

use num_bigint::BigInt;

/// Units of 2^-2148, the smallest product of two doubles.
const UNIT: i32 = -2148;

/// A finite double in units.
pub(crate) fn units(x: f64) -> BigInt {
    let bits = x.to_bits();
    let biased = (bits >> 52 & 0x7FF) as i32;
    assert!(biased < 0x7FF, "{x} is finite");
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) = match biased {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, biased - 1075),
    };
    let magnitude = BigInt::from(significand) << (exponent - UNIT);
    if x.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// 2^exponent in units, from 2^-2148 on.
pub(crate) fn unit_of(exponent: i32) -> BigInt {
    BigInt::from(1) << (exponent - UNIT)
}

/// The exact sum of finite items.
pub(crate) fn sum(items: impl IntoIterator<Item = f64>) -> BigInt {
    items
        .into_iter()
        .fold(BigInt::ZERO, |sum, item| sum + units(item))
}

/// The exact dot product of finite items.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> BigInt {
    let product = |(x, y): (&f64, &f64)| -> BigInt { (units(*x) * units(*y)) >> -UNIT as u32 };
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

fn place_single(bits: u32) -> BigInt {
    if bits == f32::INFINITY.to_bits() {
        return BigInt::from(1) << (128 - UNIT);
    }
    units(f64::from(f32::from_bits(bits)))
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

/// The double nearest to a sum; +0.0 for zero.
pub(crate) fn to_double(sum: &BigInt) -> f64 {
    let magnitude = BigInt::from(sum.magnitude().clone());
    let rounded = f64::from_bits(nearest(&magnitude, f64::INFINITY.to_bits(), place));
    if *sum < BigInt::ZERO {
        -rounded
    } else {
        rounded
    }
}

/// The float nearest to a sum; +0.0 for zero.
pub(crate) fn to_single(sum: &BigInt) -> f32 {
    let magnitude = BigInt::from(sum.magnitude().clone());
    let infinity = u64::from(f32::INFINITY.to_bits());
    let bits = nearest(&magnitude, infinity, |bits| place_single(bits as u32)) as u32;
    let rounded = f32::from_bits(bits);
    if *sum < BigInt::ZERO {
        -rounded
    } else {
        rounded
    }
}

/// The double nearest to the root of a sum that is not negative.
pub(crate) fn root(sum: &BigInt) -> f64 {
    // Squares of places and of the points between them, in units of UNIT squared, four of which make one of half a place.
    let square = |x: BigInt| &x * &x;
    let four_sums: BigInt = (sum << -UNIT as u32) << 2_u32;
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
