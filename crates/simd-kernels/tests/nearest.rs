//! Pairs of integers as floats, against conversions of integers of 128 bits.

use proptest::prelude::*;
use simd_kernels::{DecodeUnit, Level, Pair, doubles_to_round, nearest_doubles};

fn pair() -> impl Strategy<Value = Pair> {
    // Ends of many zeros or ones are near ties.
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
    #[expect(clippy::cast_possible_truncation, reason = "it is what is tested")]
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
}

#[test]
fn not_where_results_may_be_subnormal() {
    let unit = DecodeUnit::for_range(-971, 0);
    assert!(!nearest_doubles(Level::best(), &[[1, 0]], unit, &mut [0.0]));
}
