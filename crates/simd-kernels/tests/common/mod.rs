//! Helps the tests of all kernels: compares floats by their bits, defines operations as IEEE 754 does, and makes random numbers.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file is a crate of its own, and uses only some of these functions"
)]

use proptest::prelude::*;
use simd_kernels::{Float, Level, Operation};

/// The bits of a float, with one canonical NaN.
pub trait Bits: Float {
    fn bits(self) -> u64;
    fn from_word(word: u64) -> Self;
    /// The magnitude, by IEEE 754's `abs`.
    fn magnitude(self) -> Self;
    /// The operation as IEEE 754-2019 defines it (section 9.6).
    fn by_standard(operation: Operation, left: Self, right: Self) -> Self;
}

pub const OPERATIONS: [Operation; 4] = [
    Operation::Sum,
    Operation::Product,
    Operation::Minimum,
    Operation::Maximum,
];

/// The methods that are the same for both float types.
macro_rules! by_standard {
    () => {
        fn magnitude(self) -> Self {
            if self.is_sign_negative() { -self } else { self }
        }

        fn by_standard(operation: Operation, left: Self, right: Self) -> Self {
            let negative = left.is_sign_negative();
            let zeros = left == 0.0 && right == 0.0 && negative != right.is_sign_negative();
            match operation {
                Operation::Sum => left + right,
                Operation::Product => left * right,
                _ if left.is_nan() || right.is_nan() => Self::NAN,
                Operation::Minimum if zeros => -0.0,
                Operation::Maximum if zeros => 0.0,
                Operation::Minimum => left.min(right),
                Operation::Maximum => left.max(right),
                other => unimplemented!("the standard's definition of {other:?}"),
            }
        }
    };
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        if self.is_nan() {
            f64::NAN.to_bits()
        } else {
            self.to_bits()
        }
    }
    fn from_word(word: u64) -> Self {
        f64::from_bits(word)
    }
    by_standard!();
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        if self.is_nan() {
            f32::NAN.to_bits().into()
        } else {
            self.to_bits().into()
        }
    }
    fn from_word(word: u64) -> Self {
        f32::from_bits(u32::try_from(word >> 32).unwrap())
    }
    by_standard!();
}

/// Numbers of many magnitudes, and special values.
pub fn word() -> impl Strategy<Value = u64> {
    let special = prop::sample::select(vec![
        -0.0,
        0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MAX,
        f64::MIN_POSITIVE,
        1.0,
    ]);
    prop_oneof![
        60 => finite_word(),
        2 => special.prop_map(f64::to_bits),
        // Subnormal doubles, whose upper halves are subnormal floats.
        2 => 0..1_u64 << 52,
        1 => any::<u64>(),
    ]
}

pub fn finite_word() -> impl Strategy<Value = u64> {
    (-1.0..1.0_f64, -30..30)
        .prop_map(|(mantissa, exponent)| (mantissa * 2_f64.powi(exponent)).to_bits())
}

/// Words of many magnitudes with special values among them, or of finite numbers only.
pub fn words(count: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<u64>> {
    let count = count.into();
    prop_oneof![
        prop::collection::vec(word(), count.clone()),
        prop::collection::vec(finite_word(), count),
    ]
}

/// The i-th number of a sequence, evenly distributed over finite numbers.
pub fn spread_word(i: u64) -> u64 {
    i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2 | 0x3000_0000_0000_0000
}

/// The levels that a test runs, printed in its output, so that a missing level is visible.
#[allow(
    clippy::print_stdout,
    reason = "the output of a test lists the levels that ran"
)]
pub fn levels() -> Vec<Level> {
    let levels: Vec<Level> = Level::available().collect();
    let names: Vec<&str> = levels.iter().map(|level| level.name()).collect();
    println!("levels that run: {}", names.join(", "));
    levels
}
