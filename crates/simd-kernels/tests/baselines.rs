//! Checks that sums in other orders differ from a plain loop only by rounding.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use common::{Bits, finite_word};
use proptest::collection::vec;
use proptest::prelude::*;
use simd_kernels::{Level, Variant, left_to_right, unordered_sum, unordered_sum_with};

proptest! {
    #[test]
    fn unordered_sums_are_sums(words in vec(finite_word(), 0..3000)) {
        let doubles: Vec<f64> = words.iter().copied().map(Bits::from_word).collect();
        check_unordered(&doubles, 1e-12);
        let floats: Vec<f32> = words.iter().copied().map(Bits::from_word).collect();
        check_unordered(&floats, 1e-3);
    }
}

/// Compares every unordered variant with a plain loop.
#[track_caller]
fn check_unordered<T: Bits + Into<f64>>(leaves: &[T], relative_error: f64) {
    let magnitude = leaves
        .iter()
        .fold(0.0, |sum: f64, &leaf| sum + leaf.into().abs());
    let expected: f64 = left_to_right(leaves).unwrap_or(T::ZERO).into();
    for level in Level::available() {
        for variant in Variant::ALL {
            let total: f64 = unordered_sum_with(level, variant, leaves).into();
            assert!(
                (total - expected).abs() <= magnitude * relative_error,
                "{variant:?}, {level}"
            );
        }
    }
}

#[test]
fn no_items_are_zero() {
    for level in Level::available() {
        assert_eq!(unordered_sum::<f64>(level, &[]).to_bits(), 0);
    }
}
