//! Checks which items the windows of every kind have.

use std::ops::Range;

use exact_sum::{Placement, Rolling, RollingError, Statistic};
use proptest::prelude::*;

pub(super) const PLACEMENTS: [Placement; 3] =
    [Placement::Trailing, Placement::Forward, Placement::Centred];

/// Windows, and the items that each has by definition.
pub(super) type Windows = (Rolling, Vec<Range<usize>>);

/// Windows of `items` items.
pub(super) fn by_count(len: usize, items: usize, placement: Placement) -> Windows {
    let ahead = match placement {
        Placement::Trailing => 0,
        Placement::Forward => items - 1,
        Placement::Centred => (items - 1) / 2,
    };
    let range = |item: usize| {
        let end = item as u128 + ahead as u128 + 1;
        let start = end.saturating_sub(items as u128);
        start as usize..end.min(len as u128) as usize
    };
    (
        Rolling::of_items(items, placement),
        (0..len).map(range).collect(),
    )
}

/// Windows of an index of integers. Distances are doubled, so that half a width is an integer.
pub(super) fn by_range(index: &[i64], width: i64, placement: Placement) -> Windows {
    let range = |item: usize| {
        let is_in = |other: &usize| {
            let after = 2 * (i128::from(index[*other]) - i128::from(index[item]));
            let width = i128::from(width);
            match placement {
                Placement::Trailing => *other <= item && after > -2 * width,
                Placement::Forward => *other >= item && after < 2 * width,
                Placement::Centred => -width < after && after <= width,
            }
        };
        let own: Vec<usize> = (0..index.len()).filter(is_in).collect();
        own[0]..own[own.len() - 1] + 1
    };
    let ranges = (0..index.len()).map(range).collect();
    let windows =
        Rolling::of_range(index, width, placement).expect("the columns and windows are right");
    (windows, ranges)
}

pub(super) fn expanding(len: usize) -> Windows {
    (
        Rolling::expanding(),
        (0..len).map(|last| 0..last + 1).collect(),
    )
}

/// An index that ascends by small steps, some of them 0.
pub(super) fn index(len: usize, seed: u64) -> Vec<i64> {
    let mut state = seed;
    let mut at = -3_i64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        at += (state >> 61) as i64;
        at
    };
    (0..len).map(next).collect()
}

/// Windows of every kind over `len` items.
pub(super) fn kinds(len: usize, items: usize, width: i64, seed: u64) -> Vec<Windows> {
    let index = index(len, seed);
    let mut kinds = vec![expanding(len)];
    for placement in PLACEMENTS {
        kinds.push(by_count(len, items, placement));
        kinds.push(by_range(&index, width, placement));
    }
    kinds
}

/// The range from the first to the last item of each window.
fn ends(windows: &Rolling, len: usize) -> Vec<Range<usize>> {
    let numbers: Vec<f64> = (0..len).map(|item| item as f64).collect();
    let of = |statistic: Statistic| {
        let values = windows.values(statistic, statistic.defaults(), &[&numbers]);
        values.expect("the columns and windows are right")
    };
    let (first, last) = (of(Statistic::Minimum), of(Statistic::Maximum));
    let range = |(first, last): (f64, f64)| first as usize..last as usize + 1;
    first.into_iter().zip(last).map(range).collect()
}

proptest! {
    #[test]
    fn have_the_items_of_their_definition(len in 0..60_usize, items in prop_oneof![9 => 1..80_usize, 1 => (usize::MAX - 3)..=usize::MAX], width in 1..30_i64, seed: u64) {
        for (windows, ranges) in kinds(len, items, width, seed) {
            prop_assert_eq!(ends(&windows.clone().least_items(1), len), ranges, "{:?}", windows);
        }
    }

    /// An index of floats gives the same windows as one of integers, even if the floats' differences and halves are rounded or overflow.
    #[test]
    fn of_floats_are_those_of_integers(len in 0..60_usize, width in 1..30_i64, seed: u64, is_tiny: bool, by in 0..2_i64) {
        let index = index(len, seed);
        let unit = if is_tiny { 5e-324 } else { 2_f64.powi(900) };
        let at = |number: i64| number as f64 * unit;
        let floats: Vec<f64> = index.iter().copied().map(at).collect();
        let width = width + by;
        for placement in PLACEMENTS {
            let (_, ranges) = by_range(&index, width, placement);
            let windows = Rolling::of_range(&floats, at(width), placement).unwrap();
            prop_assert_eq!(ends(&windows, len), ranges);
        }
    }
}

/// The windows of pandas 2.2: `pd.Series(range(7)).rolling(n, center=True, min_periods=1)`, and by times with a width of "4ns" and "5ns".
#[test]
fn centred_windows_are_those_of_pandas() {
    let ranges = |windows: &Rolling| ends(&windows.clone().least_items(1), 7);
    let centred = |items| ranges(&Rolling::of_items(items, Placement::Centred));
    assert_eq!(centred(3), [0..2, 0..3, 1..4, 2..5, 3..6, 4..7, 5..7]);
    assert_eq!(centred(4), [0..2, 0..3, 0..4, 1..5, 2..6, 3..7, 4..7]);
    let times = [0, 2, 3, 4, 7, 9, 10];
    let by = |width| ranges(&Rolling::of_range(&times, width, Placement::Centred).unwrap());
    assert_eq!(by(4), [0..2, 1..4, 1..4, 2..4, 4..6, 5..7, 5..7]);
    assert_eq!(by(5), [0..2, 0..4, 1..4, 1..4, 4..6, 4..7, 5..7]);
}

#[test]
fn columns_that_do_not_fit_are_errors() {
    let windows = Rolling::of_range(&[1, 2], 1, Placement::Trailing).unwrap();
    let values = |statistic: Statistic, columns: &[&[f64]]| {
        windows.values(statistic, statistic.defaults(), columns)
    };
    let error = values(Statistic::Correlation, &[&[1.0, 2.0]]).unwrap_err();
    assert_eq!(error.to_string(), "`corr` takes 2 columns, not 1");
    assert!(matches!(
        values(Statistic::Norm, &[]),
        Err(RollingError::Columns { found: 0, .. })
    ));
    let error = values(Statistic::Dot, &[&[1.0, 2.0], &[1.0]]).unwrap_err();
    assert_eq!(error.to_string(), "column 1 has 1 items instead of 2");
    assert!(matches!(
        values(Statistic::Sum, &[&[1.0]]),
        Err(RollingError::Length {
            column: 0,
            found: 1,
            expected: 2
        })
    ));
    let none = Rolling::expanding().values::<f64>(
        Statistic::Kurtosis,
        Statistic::Kurtosis.defaults(),
        &[&[]],
    );
    assert_eq!(none, Ok(vec![]));
}

/// The first item of each window.
fn firsts(windows: &Rolling, len: usize) -> Vec<usize> {
    let ranges = ends(windows, len).into_iter();
    ranges.map(|range| range.start).collect()
}

/// Compares the first item of each window in an index of integers with the first one according to exact differences.
macro_rules! check_widths {
    ($($integer:ident)*) => {$({
        let (least, most) = ($integer::MIN, $integer::MAX);
        for index in [[least, 0, most], [least, least + 1, most], [0, most - 1, most]] {
            for width in [1, 10, most / 2 + 1, most - 1, most] {
                let windows = Rolling::of_range(&index, width, Placement::Trailing).expect("the columns and windows are right");
                let wide = index.map(i128::from);
                let first = |last: &i128| wide.partition_point(|at| *at <= last - i128::from(width));
                assert_eq!(firsts(&windows, 3), wide.each_ref().map(first), "{index:?} by {width}");
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
        assert_eq!(firsts(&windows, 2), [0, first], "{index:?} by {width}");
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
