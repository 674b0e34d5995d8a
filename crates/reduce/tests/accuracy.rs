//! Compares the error of a sum in tree order, measured against an exact sum, with its bound.
//!
//! The error of pairwise summation of N numbers is at most g(ceil(log2 N)) times the sum of their absolute values, where g(n) = n u / (1 - n u)
//! and u is the unit roundoff (Balaji and Kimpe, eq. 1, after Higham). The exact sum is computed in integers of any size.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use integer_sums::units;
use proptest::collection::vec;
use proptest::prelude::*;
use reduce::sum;

/// Half the distance from 1 to the next double, and half the distance to the next float.
const DOUBLE_ROUNDOFF: f64 = f64::EPSILON / 2.0;
const FLOAT_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;

/// The difference between `total` and the exact sum, rounded once.
fn error(items: &[f64], total: f64) -> f64 {
    let exact = units::sum(items.iter().copied());
    units::to_double(&(exact - units::units(total))).abs()
}

/// The error bound, computed from the exact sum of the absolute values.
fn bound(items: &[f64], roundoff: f64) -> f64 {
    let magnitudes = units::sum(items.iter().map(|item| item.abs()));
    let levels = f64::from(items.len().max(1).next_power_of_two().ilog2());
    levels * roundoff / (1.0 - levels * roundoff) * units::to_double(&magnitudes)
}

#[track_caller]
fn check(items: &[f64]) {
    let found = error(items, sum(items).unwrap());
    let most = bound(items, DOUBLE_ROUNDOFF);
    assert!(
        found <= most,
        "N = {}: error {found:e}, bound {most:e}",
        items.len()
    );
}

/// Numbers from 2^-60 to 2^60, of both signs.
fn number() -> impl Strategy<Value = f64> {
    (-1.0..1.0_f64, -60..60).prop_map(|(mantissa, exponent)| mantissa * 2_f64.powi(exponent))
}

proptest! {
    #[test]
    fn doubles(items in vec(number(), 0..3000)) {
        check(&items);
        // After the items come their opposites. The exact sum is 0, so the result is the error.
        let cancelling: Vec<f64> = items.iter().copied().chain(items.iter().map(|item| -item)).collect();
        check(&cancelling);
    }

    #[test]
    fn log_likelihoods(items in vec(-100.0..-1.0_f64, 1..5000)) {
        check(&items);
    }

    #[test]
    fn floats(items in vec(-1e4..1e4_f32, 0..3000)) {
        let total = f64::from(sum(&items).unwrap());
        let items: Vec<f64> = items.into_iter().map(f64::from).collect();
        let found = error(&items, total);
        let most = bound(&items, FLOAT_ROUNDOFF);
        prop_assert!(found <= most, "N = {}: error {found:e}, bound {most:e}", items.len());
    }
}

/// Adds a million terms of the harmonic series. The error of a plain fold grows with N; the error of the tree grows with log N.
#[test]
fn a_plain_fold_errs_more() {
    let items: Vec<f64> = (1..=1_000_000).map(|i| 1.0 / f64::from(i)).collect();
    let plain = items.iter().fold(0.0, |sum, item| sum + item);
    let (tree_error, plain_error) = (error(&items, sum(&items).unwrap()), error(&items, plain));
    println!(
        "1/1 + … + 1/1000000: error {tree_error:e} in tree order, {plain_error:e} from left to right"
    );
    assert!(tree_error * 10.0 < plain_error);
}
