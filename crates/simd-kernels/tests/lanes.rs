//! Compares sums in lanes at every level of this machine with the recursive definition, bit for bit.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use common::{Bits, levels, spread_word, words};
use proptest::prelude::*;
use simd_kernels::{Level, by_definition, sum_lanes};

const LANES: [usize; 4] = [16, 32, 64, 128];

fn in_lanes<T: Bits>(items: &[T], lanes: usize) -> T {
    let add = |left, right| left + right;
    let sums = (0..lanes.min(items.len())).map(|lane| {
        let own: Vec<T> = items.iter().copied().skip(lane).step_by(lanes).collect();
        by_definition(&own, &add).unwrap()
    });
    by_definition(&sums.collect::<Vec<T>>(), &add).unwrap()
}

#[track_caller]
fn check<T: Bits>(items: &[T]) {
    for lanes in LANES {
        let is_short = items.len() < lanes;
        let expected = (!is_short).then(|| in_lanes(items, lanes).bits());
        for level in levels() {
            let expected = expected.filter(|_| level != Level::SCALAR);
            let found = sum_lanes(level, lanes, items).map(Bits::bits);
            let count = items.len();
            assert_eq!(found, expected, "{lanes} lanes, {level}, N = {count}");
        }
    }
}

fn numbers<T: Bits>(words: &[u64]) -> Vec<T> {
    words.iter().copied().map(Bits::from_word).collect()
}

fn spread<T: Bits>(count: u64) -> Vec<T> {
    (0..count).map(|i| T::from_word(spread_word(i))).collect()
}

proptest! {
    #[test]
    fn any_length_and_offset(words in words(0..3000_usize), offset in 0..16_usize) {
        let from = offset.min(words.len());
        check(&numbers::<f64>(&words)[from..]);
        check(&numbers::<f32>(&words)[from..]);
    }

    #[test]
    fn long_slices(words in words(1000_usize), repeats in 1..120_usize, cut in 0..1000_usize) {
        let words = words.repeat(repeats);
        check(&numbers::<f64>(&words[cut..]));
        check(&numbers::<f32>(&words[cut..]));
    }
}

/// Lengths around whole rows, whole groups of 32 rows, and where the memory of waiting rows grows.
#[test]
fn lengths_where_something_ends() {
    let (doubles, floats) = (spread::<f64>(300_000), spread::<f32>(300_000));
    for lanes in LANES {
        for rows in [
            1, 2, 3, 31, 32, 33, 63, 64, 65, 95, 96, 127, 128, 129, 2047, 2048,
        ] {
            for more in [0, 1, 7, 8, 9, 15] {
                check(&doubles[..lanes * rows + more]);
                check(&floats[..lanes * rows + more]);
            }
            check(&doubles[..lanes * rows - 1]);
            check(&floats[..lanes * rows - 1]);
        }
    }
}

/// More items than a cache is expected to hold: rows are prefetched, and doubles use shorter
/// registers.
#[test]
fn items_from_memory() {
    check(&spread::<f64>((1 << 21) + 4099));
    check(&spread::<f32>((1 << 22) + 4099));
}

/// A +0.0 in place of a missing item would turn a sum of negative zeros positive.
#[test]
fn nothing_is_padded() {
    for length in 1..300 {
        check(&vec![-0.0_f64; length]);
        check(&vec![-0.0_f32; length]);
    }
}

#[test]
fn other_numbers_of_lanes_have_no_kernel() {
    for lanes in [0, 1, 2, 8, 15, 17, 256] {
        assert_eq!(sum_lanes(Level::best(), lanes, &[1.0; 1000]), None);
    }
}
