//! Compares every statistic of windows of every kind with a slot of each window's items.

use std::ops::Range;

use exact_sum::{
    CoMoments, Extrema, Float, Held, Moments, Options, Placement, Powers, ProductSum, Rolling,
    Slot, Statistic, Sum, WeightedMean,
};
use proptest::prelude::*;

use super::rolling_windows::{Windows, by_count, by_range, index, kinds};
use super::{finite, floats, in_range, ranges};

/// A statistic of a window's items, computed from sums that start at +0.0.
fn expected<T: Float>(statistic: Statistic, options: Options, x: &[T], y: &[T], zero: T) -> T {
    let with_zero = |items: &[T]| [items, &[zero]].concat();
    let value = match statistic.held() {
        Held::Sum => Sum::of(&with_zero(x)).statistic(statistic, options),
        Held::Products if statistic == Statistic::Norm => {
            let mut squares = ProductSum::new();
            squares.add_squares(x);
            squares.statistic(statistic, options)
        }
        Held::Products => {
            ProductSum::of(&with_zero(x), &with_zero(y)).statistic(statistic, options)
        }
        Held::Moments => {
            let moments = Moments::of(x);
            let is_zero = Sum::of(&with_zero(x)).value().into() == 0.0;
            match statistic {
                Statistic::Mean if is_zero => Some(zero),
                _ => moments.statistic(statistic, options),
            }
        }
        Held::CoMoments => CoMoments::of(x, y).statistic(statistic, options),
        Held::Powers => Powers::of(x).statistic(statistic, options),
        Held::Weighted => {
            let mut mean = WeightedMean::new();
            mean.add(&with_zero(x), &with_zero(y));
            mean.statistic(statistic, options)
        }
        _ => Extrema::of(x).statistic(statistic, options),
    };
    value.expect("the slot has the statistic")
}

/// All statistics, with several options.
fn all() -> Vec<(Statistic, Options)> {
    let mut all = Vec::new();
    for statistic in Statistic::ALL {
        let options = statistic.defaults();
        all.push((statistic, options));
        match statistic {
            Statistic::Skewness | Statistic::Kurtosis => {
                all.push((
                    statistic,
                    Options {
                        bias: false,
                        ..options
                    },
                ));
            }
            Statistic::Variance | Statistic::StandardDeviation | Statistic::Covariance => {
                for ddof in [1.0 - options.ddof, 1.5, -2.0, 7.0] {
                    all.push((statistic, Options { ddof, ..options }));
                }
            }
            _ => {}
        }
    }
    all
}

fn check<T: Float + Default>(x: &[T], y: &[T], windows: &Windows, least_items: usize) {
    let (windows, ranges) = windows;
    let windows = windows.clone().least_items(least_items);
    for (statistic, options) in all() {
        let columns = [x, y];
        let values = windows.values(statistic, options, &columns[..statistic.inputs()]);
        for (value, range) in values
            .expect("the columns and windows are right")
            .into_iter()
            .zip(ranges)
        {
            let Range { start, end } = *range;
            let value: f64 = value.into();
            let expected: f64 = if end - start < least_items {
                f64::NAN
            } else {
                let (x, y) = (&x[start..end], &y[start..end]);
                expected(statistic, options, x, y, T::default()).into()
            };
            assert_eq!(
                value.to_bits(),
                expected.to_bits(),
                "{statistic} {options:?} of {range:?}: {value:e} instead of {expected:e}, {windows:?}"
            );
        }
    }
}

/// Items of similar magnitude, with one significant bit or up to 53. Some are zero, and a few may be far larger.
fn near() -> impl Strategy<Value = Vec<f64>> {
    let exponent = prop_oneof![4 => -30..30, 1 => Just(-1040), 1 => Just(-1000), 1 => Just(990)];
    let item = (any::<u64>(), 0..24_i32, any::<bool>(), 0..12_u8);
    let items = prop::collection::vec(item, 1..60);
    (exponent, items, 0..3_u8).prop_map(|(exponent, items, kind)| {
        let item = |(bits, place, is_negative, odd): (u64, i32, bool, u8)| {
            let places = if kind == 0 { 1 } else { 53 };
            let significand = (bits >> (64 - places)) as f64;
            let item = match odd {
                0 => 0.0,
                1 if kind == 2 => 2_f64.powi(60),
                _ => significand * 2_f64.powi(place - 53),
            };
            if is_negative { -item } else { item }
        };
        let scale = 2_f64.powi(exponent / 2);
        items
            .into_iter()
            .map(|given| item(given) * scale * scale)
            .collect()
    })
}

fn pair<T: Float>(x: Vec<T>, mut y: Vec<T>) -> [Vec<T>; 2] {
    let len = x.len().min(y.len());
    y.truncate(len);
    [x[..len].to_vec(), y]
}

fn items() -> impl Strategy<Value = Vec<f64>> {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn of_near_items(x in near(), y in near(), window in 1..40_usize, width in 1..60_i64, least in 1..6_usize, seed: u64) {
        let [x, y] = pair(x, y);
        for kind in kinds(x.len(), window, width, seed) {
            check(&x, &y, &kind, least);
        }
    }

    #[test]
    fn of_any_items(x in prop::collection::vec(super::finite(), 1..40), y in near(), window in 1..20_usize, seed: u64, odd in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-f64::INFINITY), Just(-0.0)]), 0..4)) {
        let [mut x, mut y] = pair(x, y);
        for (index, is_x, item) in odd {
            let column = if is_x { &mut x } else { &mut y };
            let place = index.index(column.len());
            column[place] = item;
        }
        for kind in kinds(x.len(), window, 20, seed) {
            check(&x, &y, &kind, 1);
            check(&y, &x, &kind, 1);
        }
    }

    #[test]
    fn of_floats(x in floats(1..40), y in floats(1..40), near in near(), window in 1..20_usize, seed: u64) {
        let near: Vec<f32> = near.into_iter().map(|item| item as f32).collect();
        for [x, y] in [pair(x.clone(), y), pair(near, x)] {
            for kind in kinds(x.len(), window, 20, seed) {
                check(&x, &y, &kind, 2);
            }
        }
    }

    /// Rows with a NaN in either column are left out of each window.
    #[test]
    fn of_items_that_are_not_missing(x in near(), y in near(), window in 1..20_usize, seed: u64, holes: u64, least in 0..4_usize) {
        let [mut x, mut y] = pair(x, y);
        for row in 0..x.len() {
            match holes >> (row % 60) & 7 {
                0 => x[row] = f64::NAN,
                1 => y[row] = f64::NAN,
                _ => {}
            }
        }
        for (windows, ranges) in kinds(x.len(), window, 20, seed) {
            let windows = windows.least_items(least).skip_nan(true);
            for (statistic, options) in all() {
                let columns = [x.as_slice(), &y];
                let columns = &columns[..statistic.inputs()];
                let values = windows.values(statistic, options, columns).unwrap();
                prop_assert_eq!(values.len(), x.len());
                for (value, range) in values.into_iter().zip(&ranges) {
                    let is_there = |row: &usize| columns.iter().all(|column| !column[*row].is_nan());
                    let rows: Vec<usize> = range.clone().filter(is_there).collect();
                    let [x, y] = [&x, &y].map(|column| rows.iter().map(|row| column[*row]).collect::<Vec<f64>>());
                    let least = least.max(statistic.least_items(options) as usize);
                    let expected = if rows.len() < least { f64::NAN } else { expected(statistic, options, &x, &y, 0.0) };
                    prop_assert_eq!(value.to_bits(), expected.to_bits(), "{} {:?} of {:?}", statistic, options, range);
                }
            }
        }
    }

    #[test]
    fn of_long_columns(x in items(), seed: u64, window in 1..300_usize, width in 1..50_i64, least in 1..40_usize) {
        let y = in_range(x.len().max(1), (0, 15), true, seed);
        let y = &y[..x.len()];
        let trailing = Placement::Trailing;
        let by_range = by_range(&index(x.len(), seed), width, trailing);
        for (windows, ranges) in [by_count(x.len(), window, trailing), by_range] {
            let windows = windows.least_items(least);
            // Most statistics are compared for some windows only, since making a slot for each window takes long.
            for (statistic, step) in [
                (Statistic::Sum, 1),
                (Statistic::Mean, 1),
                (Statistic::Variance, 17),
                (Statistic::Kurtosis, 17),
                (Statistic::Correlation, 17),
            ] {
                let options = statistic.defaults();
                let values = windows.values(statistic, options, &[&x, y][..statistic.inputs()]).unwrap();
                prop_assert_eq!(values.len(), x.len());
                for (value, range) in values.iter().zip(ranges.iter().cloned()).step_by(step) {
                    let expected = if range.len() < least {
                        f64::NAN
                    } else {
                        expected(statistic, options, &x[range.clone()], &y[range.clone()], 0.0)
                    };
                    prop_assert_eq!(value.to_bits(), expected.to_bits(), "{} of {:?}", statistic, range);
                }
            }
        }
    }
}

fn last(windows: &Rolling, statistic: Statistic, options: Options, columns: &[&[f64]]) -> f64 {
    let values = windows
        .values(statistic, options, columns)
        .expect("the columns and windows are right");
    values[values.len() - 1]
}

/// Cases that were reported against other programs: after an outlier left the window, a residue stayed in the results.
#[test]
fn an_outlier_leaves_nothing() {
    let block = [
        0.01, -0.02, 0.015, 0.005, -0.01, 0.02, 0.01, -0.03, 0.0, 0.01,
    ];
    let x = [&[5000.0][..], &block, &block, &block].concat();
    let windows = Rolling::of_items(10, Placement::Trailing);
    let of = |statistic: Statistic, bias| {
        let options = Options {
            bias,
            ..statistic.defaults()
        };
        last(&windows, statistic, options, &[&x])
    };
    assert_eq!(of(Statistic::Kurtosis, true), -0.586_894_586_894_587);
    assert_eq!(of(Statistic::Kurtosis, false), -0.073_260_073_260_073_44);
    assert_eq!(of(Statistic::Skewness, true), -0.797_036_087_676_978_6);
    assert_eq!(of(Statistic::Skewness, false), -0.945_168_530_403_343_3);

    let x = [1.0, 2.0, 1e12, 1e7, 6.0, 5.0, 8.0, 7.0];
    let y = [2.0, 1.0, 3.0, -1e12, 4.0, 7.0, 6.0, 9.0];
    let windows = Rolling::of_items(3, Placement::Trailing);
    let of = |statistic: Statistic| last(&windows, statistic, statistic.defaults(), &[&x, &y]);
    assert_eq!(of(Statistic::Covariance), -1.0 / 3.0);
    assert_eq!(of(Statistic::Correlation), -0.142_857_142_857_142_85);

    let x = [1e9, 1e9, 1e9, 1e9, 1e9, 1.0, 0.0, 1.0, 0.0, 1.0];
    let of = |ddof| {
        let options = Options { ddof, bias: true };
        last(&windows, Statistic::StandardDeviation, options, &[&x])
    };
    assert_eq!(of(0.0), 0.471_404_520_791_031_7);
    assert_eq!(of(1.0), 0.577_350_269_189_625_7);
}

/// Items that are not finite count as long as they are in the window.
#[test]
fn what_is_not_finite_leaves() {
    for odd in [f64::NAN, f64::INFINITY, -f64::INFINITY] {
        let mut x: Vec<f64> = (0..40).map(|item| f64::from(item * item % 7)).collect();
        let y: Vec<f64> = x.iter().map(|item| item * 3.0 - 1.0).collect();
        x[20] = odd;
        for (statistic, options) in all() {
            let windows = Rolling::of_items(5, Placement::Trailing);
            let columns: [&[f64]; 2] = [&x, &y];
            let values = windows.values(statistic, options, &columns[..statistic.inputs()]);
            let is_nan: Vec<bool> = values.unwrap().iter().map(|value| value.is_nan()).collect();
            let needs = |item: usize| item < 4;
            for (item, is_nan) in is_nan.into_iter().enumerate() {
                let may_be = needs(item) || (20..25).contains(&item) || options.ddof > 5.0;
                assert!(!is_nan || may_be, "{statistic} {options:?} {item} {odd}");
            }
        }
    }
}
