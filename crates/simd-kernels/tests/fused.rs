//! Compares fused sums with the recursive definition over precomputed leaves, bit for bit, on every level.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use common::{Bits, levels, spread_word, words};
use proptest::prelude::*;
use simd_kernels::{Level, Operation, by_definition, dot, squared_norm, sum, sum_and_absolute_sum};

/// Runs every level and compares. Each leaf is rounded before the additions.
#[track_caller]
fn check<T: Bits>(levels: &[Level], x: &[T], y: &[T]) {
    let by_leaves = |leaf: &dyn Fn(T, T) -> T| {
        let leaves: Vec<T> = x.iter().zip(y).map(|(&x, &y)| leaf(x, y)).collect();
        by_definition(&leaves, &|left, right| left + right).map(Bits::bits)
    };
    let products = by_leaves(&|x, y| T::by_standard(Operation::Product, x, y));
    let squares = by_leaves(&|x, _| T::by_standard(Operation::Product, x, x));
    let elements = by_leaves(&|x, _| x);
    let magnitudes = by_leaves(&|x, _| x.magnitude());
    for &level in levels {
        let n = x.len();
        let found = dot(level, x, y).map(Bits::bits);
        assert_eq!(found, products, "dot, {level}, N = {n}");
        let found = squared_norm(level, x).map(Bits::bits);
        assert_eq!(found, squares, "squared norm, {level}, N = {n}");
        let (sum, magnitude) = sum_and_absolute_sum(level, x).unzip();
        assert_eq!(sum.map(Bits::bits), elements, "sum, {level}, N = {n}");
        let found = magnitude.map(Bits::bits);
        assert_eq!(found, magnitudes, "absolute sum, {level}, N = {n}");
    }
}

/// Checks the words as doubles and as floats, in allocations that end after the last word. x and y begin at
/// different offsets.
#[track_caller]
fn check_both(words: &[u64], x_skipped: usize, y_skipped: usize) {
    let levels = levels();
    let leaves = words.len() / 2 - x_skipped.max(y_skipped);
    let (x, y) = words.split_at(words.len() / 2);
    let part = |words: &[u64], skipped| words[..skipped + leaves].to_vec();
    let (x, y) = (part(x, x_skipped), part(y, y_skipped));
    let doubles =
        |words: &[u64]| -> Box<[f64]> { words.iter().copied().map(Bits::from_word).collect() };
    check(
        &levels,
        &doubles(&x)[x_skipped..],
        &doubles(&y)[y_skipped..],
    );
    let floats =
        |words: &[u64]| -> Box<[f32]> { words.iter().copied().map(Bits::from_word).collect() };
    check(&levels, &floats(&x)[x_skipped..], &floats(&y)[y_skipped..]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_length_and_offsets(
        words in words(64..2000),
        x_skipped in 0..16_usize,
        y_skipped in 0..16_usize,
    ) {
        check_both(&words, x_skipped, y_skipped);
    }

    /// Slices of several blocks and groups.
    #[test]
    fn long_slices(words in words(1000), repeats in 2..30_usize, skipped in 0..1000_usize) {
        check_both(&words.repeat(repeats), skipped, skipped / 2);
    }
}

#[test]
fn lengths_where_something_ends() {
    let words: Vec<u64> = (0..1 << 17).map(spread_word).collect();
    for length in 0..=280 {
        check_both(&words[..2 * length], 0, 0);
    }
    for edge in [512, 1024, 4096, 4096 + 512 + 64, 5000, 32768] {
        for length in edge - 2..=edge + 2 {
            check_both(&words[..2 * length], 0, 0);
        }
    }
}

/// Two slices so long that both are prefetched.
#[test]
fn leaves_that_are_fetched_ahead() {
    let doubles = |from: u64| -> Vec<f64> {
        (from..from + (1 << 19) + 3)
            .map(|i| f64::from_word(spread_word(i)))
            .collect()
    };
    check(&levels(), &doubles(0), &doubles(1 << 40));
}

/// (1 + u)^2 = 1 + 2u + u^2: a fused multiply-add would keep the u^2 that rounding the product drops.
#[test]
fn products_round_before_they_are_added() {
    let x = 1.0 + f64::EPSILON;
    let rounded = 1.0 + 2.0 * f64::EPSILON;
    for length in [2, 100, 128, 1000, 4096] {
        let mut leaves = vec![0.0; length];
        let mut partners = vec![0.0; length];
        (leaves[0], leaves[1]) = (x, -1.0);
        (partners[0], partners[1]) = (x, rounded);
        for level in levels() {
            assert_eq!(
                dot(level, &leaves, &partners),
                Some(0.0),
                "{level}, N = {length}"
            );
        }
    }
}

/// |-0| is +0, so the two sums of negative zeros differ in their sign.
#[test]
fn zeros_lose_their_signs() {
    for length in 1..600 {
        let zeros = vec![-0.0_f64; length];
        for level in levels() {
            let (sum, absolute) = sum_and_absolute_sum(level, &zeros).unwrap();
            assert_eq!(
                (sum.to_bits(), absolute.to_bits()),
                ((-0.0_f64).to_bits(), 0)
            );
        }
    }
}

#[test]
fn a_sum_is_the_same_sum_and_nothing_is_nothing() {
    let x: Vec<f64> = (0..5000).map(|i| f64::from_word(spread_word(i))).collect();
    for level in levels() {
        let (both, _) = sum_and_absolute_sum(level, &x).unwrap();
        assert_eq!(Some(both.to_bits()), sum(level, &x).map(f64::to_bits));
        assert_eq!(squared_norm(level, &x), dot(level, &x, &x));
        assert_eq!(dot::<f64>(level, &[], &[]), None);
        assert_eq!(squared_norm::<f32>(level, &[]), None);
        assert_eq!(sum_and_absolute_sum::<f32>(level, &[]), None);
    }
}

#[test]
#[should_panic(expected = "the factors of a dot product differ in number")]
fn factors_come_in_pairs() {
    let _ = dot(Level::SCALAR, &[1.0, 2.0], &[1.0]);
}
