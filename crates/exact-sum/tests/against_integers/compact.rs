//! Sums in few bytes, in any order and any parts.

use exact_sum::{CompactMean, CompactMoments, CompactProducts, CompactSum, IntegerSum, LimitError};
use integer_sums::units::{
    UNITS_PER_ONE, dot, quotient_to_double, root_of_quotient, sum, to_double,
};
use num_bigint::BigInt;
use proptest::prelude::*;

use super::{finite, in_range, ranges};

/// Items of few exponents, or of any.
fn items() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        2 => prop::collection::vec(finite(), 1..60),
        1 => prop::collection::vec((-1000..1000).prop_map(f64::from), 1..60),
        3 => (1..400_usize, ranges(), any::<bool>(), any::<u64>())
            .prop_map(|(len, range, signs, seed)| in_range(len, range, signs, seed)),
    ]
}

/// Adds parts of items to sums that are merged: those of `of_part` first to last, or the other way round.
fn in_parts<S: Clone>(
    (items, parts, is_reversed): (&[f64], usize, bool),
    empty: S,
    mut of_part: impl FnMut(&mut S, &[f64]),
    merge: impl Fn(&mut S, &S) -> Result<(), LimitError>,
) -> S {
    let mut sums: Vec<S> = items
        .chunks(items.len().div_ceil(parts))
        .map(|part| {
            let mut sum = empty.clone();
            of_part(&mut sum, part);
            sum
        })
        .collect();
    if is_reversed {
        sums.reverse();
    }
    let mut all = empty;
    for sum in &sums {
        merge(&mut all, sum).expect("they are few");
    }
    all
}

fn one_by_one<S>(add: impl Fn(&mut S, f64)) -> impl Fn(&mut S, &[f64]) {
    move |sum, items| items.iter().for_each(|item| add(sum, *item))
}

proptest! {
    #[test]
    fn sums_and_means(items in items(), parts in 1..9_usize, is_reversed: bool) {
        let call = (&items[..], parts, is_reversed);
        let exact = sum(items.iter().copied());
        let expected = to_double(&exact).to_bits();
        for (name, add) in [
            ("one by one", &one_by_one(CompactSum::add) as &dyn Fn(&mut CompactSum, &[f64])),
            ("together", &|sum, items| sum.add_all(items)),
        ] {
            let sum = in_parts(call, CompactSum::new(), add, CompactSum::merge);
            prop_assert_eq!(sum.value().map(f64::to_bits), Some(expected), "{}", name);
        }
        let mean = in_parts(call, CompactMean::new(), one_by_one(CompactMean::add), CompactMean::merge);
        let expected = quotient_to_double(&exact, &items.len().into());
        prop_assert_eq!(mean.value().map(f64::to_bits), Some(expected.to_bits()));
    }

    #[test]
    fn products(x in items(), y in items(), parts in 1..9_usize, is_reversed: bool) {
        let pairs = x.len().min(y.len());
        let (x, y) = (&x[..pairs], &y[..pairs]);
        let mut next = 0;
        let mut turn = || { next += 1; y[next - 1] };
        let sum = in_parts(
            (x, parts, is_reversed),
            CompactProducts::new(),
            |sum, x| x.iter().for_each(|x| sum.add(*x, turn())),
            CompactProducts::merge,
        );
        prop_assert_eq!(sum.value(), Some(to_double(&dot(x, y))));
    }

    #[test]
    fn moments(items in items(), parts in 1..9_usize, is_reversed: bool, ddof in 0..3_u32) {
        let call = (&items[..], parts, is_reversed);
        let moments = in_parts(
            call,
            CompactMoments::new(),
            one_by_one(CompactMoments::add),
            CompactMoments::merge,
        );
        let total = sum(items.iter().copied());
        let (of_items, freedom) = (BigInt::from(items.len()), items.len().saturating_sub(ddof as usize));
        let of_squares: BigInt = (dot(&items, &items) * &of_items) << UNITS_PER_ONE;
        let numerator = of_squares - &total * &total;
        let denominator: BigInt = (of_items * BigInt::from(freedom)) << UNITS_PER_ONE;
        let has_some = freedom > 0;
        let expected = has_some.then(|| quotient_to_double(&numerator, &denominator));
        prop_assert_eq!(moments.variance(ddof), expected);
        let expected = has_some.then(|| root_of_quotient(&numerator, &denominator));
        prop_assert_eq!(moments.standard_deviation(ddof), expected);
    }

    #[test]
    fn integers(items in prop::collection::vec((any::<i128>(), 0..128_u32), 1..40), parts in 1..9_usize) {
        let items: Vec<i128> = items.iter().map(|(item, places)| item >> places).collect();
        let sums = items.chunks(items.len().div_ceil(parts)).map(|part| {
            let mut sum = IntegerSum::new();
            part.iter().for_each(|item| sum.add_one(*item));
            sum
        });
        let sum = sums.fold(IntegerSum::new(), |mut all, sum| { all.merge(&sum).unwrap(); all });
        let exact = items.iter().fold(BigInt::ZERO, |sum, item| sum + item);
        prop_assert_eq!(sum.items(), items.len() as u64);
        prop_assert_eq!(sum.value(), i128::try_from(&exact).ok());
        let units = exact << UNITS_PER_ONE;
        prop_assert_eq!(sum.mean(), Some(quotient_to_double(&units, &items.len().into())));
        let (first, others) = items.split_at(items.len() / parts);
        let (mut all, mut left) = (sum, IntegerSum::new());
        all.remove(first).unwrap();
        left.add(others);
        prop_assert_eq!(all, left);
    }

    #[test]
    fn moments_of_integers(items in prop::collection::vec(any::<i64>(), 2..40), shift in 0..64) {
        let mut moments = CompactMoments::new();
        let items: Vec<i64> = items.iter().map(|item| item >> shift).collect();
        items.iter().for_each(|item| moments.add_integer(*item));
        let big = items.iter().map(|item| BigInt::from(*item));
        let squares = big.clone().fold(BigInt::ZERO, |sum, item| sum + &item * &item);
        let total = big.fold(BigInt::ZERO, |sum, item| sum + item);
        let n = BigInt::from(items.len());
        let numerator = (squares * &n - &total * &total) << UNITS_PER_ONE;
        let denominator = &n * (&n - 1);
        prop_assert_eq!(moments.variance(1), Some(quotient_to_double(&numerator, &denominator)));
    }
}

#[test]
fn what_is_not_finite() {
    const INFINITY: f64 = f64::INFINITY;
    for (items, expected) in [
        (&[1e308, f64::NAN, 1e308][..], f64::NAN),
        (&[INFINITY, 1.0], INFINITY),
        (&[f64::MAX, -INFINITY, f64::MAX], -INFINITY),
        (&[INFINITY, 0.0, -INFINITY], f64::NAN),
    ] {
        let long: Vec<f64> = [items, &[2.5; 100]].concat();
        let (mut mean, mut sum) = (CompactMean::new(), CompactSum::new());
        mean.add_all(&long);
        for item in items {
            let mut part = CompactSum::new();
            part.add(*item);
            sum.merge(&part).unwrap();
        }
        let mut moments = CompactMoments::new();
        items.iter().for_each(|item| moments.add(*item));
        let is_right = |value: Option<f64>, expected: f64| {
            value.is_some_and(|value| value == expected || value.is_nan() && expected.is_nan())
        };
        assert!(is_right(sum.value(), expected), "{items:?}: {sum:?}");
        assert!(is_right(mean.value(), expected), "{items:?}: {mean:?}");
        assert!(is_right(moments.variance(0), f64::NAN), "{items:?}");
    }
    for (x, y, expected) in [
        (INFINITY, -2.0, -INFINITY),
        (-INFINITY, -INFINITY, INFINITY),
        (INFINITY, -0.0, f64::NAN),
        (f64::NAN, 1.0, f64::NAN),
    ] {
        let mut sum = CompactProducts::new();
        sum.add(x, y);
        sum.add(1e300, 1e300);
        let value = sum.value().unwrap();
        assert!(
            value == expected || value.is_nan() && expected.is_nan(),
            "{x} * {y}: {value}"
        );
    }
}

#[test]
fn nothing_has_no_value_and_negative_zeros_have_a_positive_one() {
    let mut sum = CompactSum::new();
    sum.merge(&CompactSum::new()).unwrap();
    assert_eq!(sum.value(), None);
    sum.add_all(&[-0.0; 100]);
    sum.add(-0.0);
    assert_eq!(sum.value().map(f64::to_bits), Some(0));
    assert_eq!(CompactMean::new().value(), None);
    assert_eq!(CompactProducts::new().value(), None);
    assert_eq!(IntegerSum::new().mean(), None);
    let mut moments = CompactMoments::new();
    assert_eq!(moments.variance(0), None);
    moments.add(3.0);
    assert_eq!(moments.variance(0), Some(0.0));
    assert_eq!(moments.standard_deviation(1), None);
}

/// The sum of so many items of a kind leaves the digits at their upper end.
#[test]
fn digits_that_overflow() {
    let mut sum = CompactSum::new();
    sum.add(1.0);
    for _ in 0..80 {
        let before = sum.clone();
        sum.merge(&before).unwrap();
    }
    assert_eq!(sum.value(), Some(2_f64.powi(80)));
    sum.add(2_f64.powi(-60));
    sum.add(-2_f64.powi(80));
    assert_eq!(sum.value(), Some(2_f64.powi(-60)));
}
