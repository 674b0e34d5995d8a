//! Compares exact sums of adjacent columns with sums of integers.

#![expect(
    clippy::cast_possible_truncation,
    reason = "whole numbers become integers"
)]

use proptest::prelude::*;
use simd_kernels::{ColumnSplit, Level, SPLIT_ROWS, SplitScale, split_columns};

/// An item of a magnitude from 2^-20 to 2^50, a zero, or, rarely, an item that fits none of the scales.
fn item() -> impl Strategy<Value = f64> {
    prop_oneof![
        50 => (any::<i32>(), -20..20).prop_map(|(x, exponent)| f64::from(x) * 2_f64.powi(exponent)),
        10 => Just(-0.0),
        1 => Just(1e200),
        1 => Just(1e-200),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NAN),
    ]
}

proptest! {
    #[test]
    fn columns_are_split_as_slices_are(
        width in 1..60_usize,
        rows in 0..40_usize,
        pool in prop::collection::vec(item(), 1..200),
        scales in prop::collection::vec(-10..60_i32, 60),
        bounds in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let items: Vec<f64> = pool.iter().copied().cycle().take(width * rows).collect();
        let (one, other) = (bounds.0.index(width + 1), bounds.1.index(width + 1));
        let columns = one.min(other)..one.max(other);
        let exponents = &scales[columns.clone()];
        let scale = |&exponent: &i32| SplitScale::for_exponent(exponent).expect("it is small");
        let scales: Vec<SplitScale> = exponents.iter().map(scale).collect();
        for level in Level::available() {
            let mut splits = vec![None; scales.len()];
            split_columns(level, &items, width, columns.start, &scales, &mut splits);
            for (index, column) in columns.clone().enumerate() {
                let (exponent, scale) = (exponents[index], scales[index]);
                let column: Vec<f64> = items.iter().skip(column).step_by(width).copied().collect();
                // The products are exact, because the factor is a power of two.
                let units: Vec<f64> = column.iter().map(|item| item * 2_f64.powi(-scale.lower_unit())).collect();
                let are_units = units.iter().all(|units| units.fract() == 0.0 && units.abs() < 2_f64.powi(110));
                let Some(ColumnSplit { higher, lower, has_negative_zeros }) = splits[index] else {
                    // Only the last columns may be left out, if they do not fill a register.
                    let fits = column.iter().all(|item| item.abs() < 2_f64.powi(exponent + 1));
                    prop_assert!(!(are_units && fits) || columns.len() - index < 16, "{level}");
                    continue;
                };
                prop_assert!(are_units, "{level}: something is left of {column:?}");
                let sum = units.iter().fold(0, |sum, &units| sum + units as i128);
                let found = (i128::from(higher) << (scale.higher_unit() - scale.lower_unit())) + i128::from(lower);
                prop_assert_eq!(found, sum, "{}", level);
                let has_any = column.iter().any(|item| item.to_bits() == (-0.0_f64).to_bits());
                prop_assert_eq!(has_negative_zeros, has_any, "{}", level);
            }
        }
    }
}

/// Sums as many rows as possible of the largest items that fit. No accumulator overflows.
#[test]
fn the_most_rows() {
    let scale = SplitScale::for_exponent(0).expect("it is small");
    let largest = 2.0_f64.next_down();
    for level in Level::available() {
        for sign in [1.0, -1.0] {
            let items = vec![sign * largest; SPLIT_ROWS * 16];
            let mut splits = [None; 16];
            split_columns(level, &items, 16, 0, &[scale; 16], &mut splits);
            for split in splits {
                let split = split.expect("a column of 16 is tried, and fits");
                let units = 2_f64.powi(scale.higher_unit() - scale.lower_unit());
                let sum = split.higher as f64 * units + split.lower as f64;
                let expected = sign * largest * SPLIT_ROWS as f64 * 2_f64.powi(-scale.lower_unit());
                assert!((sum / expected - 1.0).abs() < 1e-12, "{level}");
            }
        }
    }
}
