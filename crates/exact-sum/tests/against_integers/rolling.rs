//! Compares sums and means of windows with a separate sum of each window.

use exact_sum::{Float, Placement, Rolling, RollingError, Statistic, Sum};
use proptest::prelude::*;

use super::{finite, floats, in_range, ranges};

/// The sums and the means of all windows.
fn sums_and_means<T: Float>(windows: &Rolling, items: &[T]) -> [Vec<T>; 2] {
    [Statistic::Sum, Statistic::Mean].map(|statistic| {
        let values = windows.values(statistic, statistic.defaults(), &[items]);
        values.expect("the columns and windows are right")
    })
}

pub(super) fn items() -> impl Strategy<Value = Vec<f64>> {
    let any_item = prop_oneof![
        6 => finite(),
        1 => Just(0.0),
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::NAN)],
    ];
    let odd = prop::collection::vec((any::<prop::sample::Index>(), any_item.clone()), 0..6);
    prop_oneof![
        prop::collection::vec(any_item, 0..200),
        (1..2000_usize, ranges(), any::<bool>(), any::<u64>(), odd).prop_map(
            |(len, range, signs, seed, odd)| {
                let mut items = in_range(len, range, signs, seed);
                for (index, item) in odd {
                    let index = index.index(items.len());
                    items[index] = item;
                }
                items
            }
        ),
    ]
}

/// The sum of a window, which starts at +0.0, and its mean.
fn expected(window: &[f64]) -> [u64; 2] {
    let mut sum = Sum::of(window);
    let is_zero = sum.value() == 0.0;
    let mean = if is_zero { 0.0 } else { sum.mean() };
    sum.add(&[0.0]);
    [sum.value().to_bits(), mean.to_bits()]
}

proptest! {
    #[test]
    fn by_count(items in items(), window in 1..300_usize, least in 1..40_usize) {
        let rolling = Rolling::of_items(window, Placement::Trailing).least_items(least);
        let [sums, means] = sums_and_means(&rolling, &items);
        prop_assert_eq!([sums.len(), means.len()], [items.len(); 2]);
        for last in 0..items.len() {
            let own = &items[(last + 1).saturating_sub(window)..=last];
            let given = [sums[last].to_bits(), means[last].to_bits()];
            let nothing = [f64::NAN.to_bits(); 2];
            let expected = if own.len() < least { nothing } else { expected(own) };
            prop_assert_eq!(given, expected, "{}", last);
        }
    }

    #[test]
    fn by_range(items in items(), width in 1..50_i64, seed: u64) {
        let mut at = -3_i64;
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            at += (state >> 61) as i64;
            at
        };
        let index: Vec<i64> = items.iter().map(|_| next()).collect();
        let rolling = Rolling::of_range(&index, width, Placement::Trailing).unwrap();
        let [sums, means] = sums_and_means(&rolling, &items);
        for (last, (sum, mean)) in sums.iter().zip(means).enumerate() {
            let first = index.partition_point(|at| *at <= index[last] - width);
            let given = [sum.to_bits(), mean.to_bits()];
            prop_assert_eq!(given, expected(&items[first..=last]));
        }
    }

    #[test]
    fn of_floats(items in floats(0..600), window in 1..100_usize) {
        let rolling = Rolling::of_items(window, Placement::Trailing).least_items(1);
        let [sums, means] = sums_and_means(&rolling, &items);
        for (last, (sum, mean)) in sums.iter().zip(means).enumerate() {
            let mut own = Sum::of(&items[(last + 1).saturating_sub(window)..=last]);
            let expected = if own.value() == 0.0 { 0.0 } else { own.mean() };
            prop_assert_eq!(mean.to_bits(), expected.to_bits());
            own.add(&[0.0]);
            prop_assert_eq!(sum.to_bits(), own.value().to_bits());
        }
    }
}

/// The first item of each window of `width` in an index, found by exact differences.
fn firsts(index: &[i128], width: i128) -> Vec<usize> {
    let first = |last: &i128| index.partition_point(|at| *at <= last - width);
    index.iter().map(first).collect()
}

/// The first item of each window. The items are powers of two, so a window's sum shows which items it has.
fn firsts_of(windows: &Rolling, items: usize) -> Vec<usize> {
    let powers: Vec<f64> = (0..items).map(|item| 2_f64.powi(item as i32)).collect();
    let [sums, _] = sums_and_means(windows, &powers);
    sums.iter()
        .map(|sum| (*sum as u64).trailing_zeros() as usize)
        .collect()
}

macro_rules! check_widths {
    ($($integer:ident)*) => {$({
        let (least, most) = ($integer::MIN, $integer::MAX);
        for index in [[least, 0, most], [least, least + 1, most], [0, most - 1, most]] {
            for width in [1, 10, most / 2 + 1, most - 1, most] {
                let windows = Rolling::of_range(&index, width, Placement::Trailing).expect("the columns and windows are right");
                let expected = firsts(&index.map(i128::from), width.into());
                assert_eq!(firsts_of(&windows, 3), expected, "{index:?} by {width}");
            }
        }
        assert_eq!(Rolling::of_range(&[least], 0, Placement::Trailing).unwrap_err(), RollingError::Width);
    })*};
}

#[test]
fn differences_are_exact() {
    check_widths!(i8 i16 i32 i64 u8 u16 u32 u64);
    assert_eq!(
        Rolling::of_range(&[1_i64], -1, Placement::Trailing).unwrap_err(),
        RollingError::Width
    );
    // The rounding error of the difference decides.
    let cases: [([f64; 2], f64, usize); 9] = [
        ([0.44, 0.96], 0.52, 0),
        ([0.1, 0.3], 0.2, 0),
        ([1.0, 3.0], 2.0, 1),
        ([-f64::MAX, f64::MAX], f64::MAX, 1),
        ([-f64::MAX, f64::MAX], f64::INFINITY, 0),
        ([f64::NEG_INFINITY, f64::MAX], f64::INFINITY, 1),
        ([f64::INFINITY; 2], f64::MIN_POSITIVE, 0),
        ([-5e-324, 5e-324], 1e-323, 1),
        ([-1e-300, 1.0], 1.0, 1),
    ];
    for (index, width, first) in cases {
        let windows = Rolling::of_range(&index, width, Placement::Trailing).unwrap();
        assert_eq!(firsts_of(&windows, 2), [0, first], "{index:?} by {width}");
    }
    for width in [0.0, -0.0, -1.0, f64::NAN] {
        assert_eq!(
            Rolling::of_range(&[1.0, 2.0], width, Placement::Trailing).unwrap_err(),
            RollingError::Width
        );
    }
}

#[test]
fn an_index_ascends() {
    let error = Rolling::of_range(&[1.0, 2.0, 1.5], 1.0, Placement::Trailing).unwrap_err();
    assert_eq!(error, RollingError::Descending { item: 2 });
    assert!(Rolling::of_range(&[f64::NAN], 1.0, Placement::Trailing).is_err());
    assert!(Rolling::of_range(&[1, 1, 7], 3, Placement::Trailing).is_ok());
}
