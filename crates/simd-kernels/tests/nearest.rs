//! Compares the rounding of pairs of integers, and of their quotients, with arithmetic on 128-bit integers.

use proptest::prelude::*;
use simd_kernels::{DecodeUnit, Level, Pair, doubles_to_round, nearest_doubles, nearest_quotients};

fn pair() -> impl Strategy<Value = Pair> {
    // Halves that end in many zeros or ones are near ties.
    let half = (-(1_i64 << 62)..1 << 62, 0..62_u32, any::<bool>());
    let half = half.prop_map(|(half, places, ones)| {
        let mask = (1_i64 << places) - 1;
        if ones { half | mask } else { half & !mask }
    });
    let short = (any::<i64>(), 2..64_u32).prop_map(|(half, places)| half >> places);
    let half = prop_oneof![half, short];
    [half.clone(), half]
}

fn integers(pairs: &[Pair]) -> impl Iterator<Item = i128> {
    pairs
        .iter()
        .map(|&[lower, higher]| (i128::from(higher) << 53) + i128::from(lower))
}

proptest! {
    #[test]
    fn doubles(pairs in prop::collection::vec(pair(), 0..70), exponent in -1022..900_i32) {
        let unit = DecodeUnit::of_exponent(exponent);
        prop_assert_eq!(unit.exponent(), exponent);
        let scale = 2_f64.powi(exponent);
        let expected: Vec<f64> = integers(&pairs).map(|integer| integer as f64 * scale).collect();
        let mut doubles = vec![0.0; pairs.len()];
        for level in Level::available() {
            prop_assert!(nearest_doubles(level, &pairs, unit, &mut doubles));
            prop_assert_eq!(&doubles, &expected, "{}", level);
        }
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "the test is about this cast")]
    fn floats(pairs in prop::collection::vec(pair(), 0..70)) {
        let unit = DecodeUnit::of_exponent(0);
        let expected: Vec<f32> = integers(&pairs).map(|integer| integer as f32).collect();
        let mut doubles = vec![0.0; pairs.len()];
        for level in Level::available() {
            prop_assert!(doubles_to_round(level, &pairs, unit, &mut doubles));
            let floats: Vec<f32> = doubles.iter().map(|double| *double as f32).collect();
            prop_assert_eq!(&floats, &expected, "{}", level);
        }
    }

    #[test]
    fn quotients(
        pairs in prop::collection::vec((pair(), 1..1_usize << 26, 0..26_u32), 0..70),
        exponent in -990..900_i32,
    ) {
        let unit = DecodeUnit::of_exponent(exponent);
        let scale = 2_f64.powi(exponent);
        // The number of items is a power of two, or a number of any magnitude.
        let items = |(_, items, places): &(Pair, usize, u32)| match items % 3 {
            0 => 1 << places,
            _ => (items >> places).max(1),
        };
        let items: Vec<usize> = pairs.iter().map(items).collect();
        let pairs: Vec<Pair> = pairs.iter().map(|(pair, ..)| *pair).collect();
        let mut quotients = vec![0.0; pairs.len()];
        for level in Level::available() {
            prop_assert!(nearest_quotients(level, &pairs, &items, unit, &mut quotients));
            for ((integer, &items), &own) in integers(&pairs).zip(&items).zip(&quotients) {
                let (nearest, is_near_tie) = quotient(integer, items);
                if own.is_nan() {
                    prop_assert!(is_near_tie, "{integer} / {items}, {level}");
                } else {
                    let expected = (nearest * scale).to_bits();
                    prop_assert_eq!(own.to_bits(), expected, "{} / {}, {}", integer, items, level);
                }
            }
        }
    }
}

/// The double that is nearest to a quotient, and whether the quotient is nearly halfway between two
/// doubles.
fn quotient(integer: i128, items: usize) -> (f64, bool) {
    let magnitude = integer.unsigned_abs();
    if magnitude == 0 {
        return (0.0, false);
    }
    let free = magnitude.leading_zeros();
    let (magnitude, items) = (magnitude << free, items as u128);
    let quotient = (magnitude / items) | u128::from(magnitude % items != 0);
    let half = 1_u128 << (127 - quotient.leading_zeros() - 53);
    let is_near_tie = (quotient % (2 * half)).abs_diff(half) < half >> 40;
    let nearest = quotient as f64 * 0.5_f64.powi(free.cast_signed());
    (if integer < 0 { -nearest } else { nearest }, is_near_tie)
}

#[test]
fn not_where_results_may_be_subnormal() {
    let unit = DecodeUnit::for_range(-971, 0);
    assert!(!nearest_doubles(Level::best(), &[[1, 0]], unit, &mut [0.0]));
    let can = |exponent, items| {
        let unit = DecodeUnit::of_exponent(exponent);
        nearest_quotients(Level::best(), &[[1, 0]], &[items], unit, &mut [0.0])
    };
    assert!(can(-995, (1 << 26) - 1));
    assert!(!can(-996, 1));
    assert!(!can(0, 1 << 26));
}
