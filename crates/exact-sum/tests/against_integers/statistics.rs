//! Compares co-moments and powers with their definitions, computed in integers of any size.

use exact_sum::{CoMoments, Powers};
use integer_sums::units::{UNITS_PER_ONE, quotient_to_double, root_of_quotient, units};
use num_bigint::{BigInt, Sign};
use proptest::prelude::*;

use super::finite;

fn total(numbers: impl Iterator<Item = BigInt>) -> BigInt {
    numbers.fold(BigInt::ZERO, |sum, number| sum + number)
}

/// The differences of items from their mean, in units, times the number of items.
fn differences(items: &[f64]) -> Vec<BigInt> {
    let all: Vec<BigInt> = items.iter().map(|item| units(*item)).collect();
    let sum = total(all.iter().cloned());
    let times_n = |item: &BigInt| item * items.len() - &sum;
    all.iter().map(times_n).collect()
}

/// The sum over all items of the product of their `factors`.
fn products<'d>(factors: impl IntoIterator<Item = &'d [BigInt]>) -> BigInt {
    let factors: Vec<&[BigInt]> = factors.into_iter().collect();
    let product = |place: usize| {
        factors
            .iter()
            .map(|factor| &factor[place])
            .fold(BigInt::from(1), |product, factor| product * factor)
    };
    total((0..factors[0].len()).map(product))
}

/// A quotient of numbers in the same units.
fn quotient(numerator: &BigInt, denominator: &BigInt) -> f64 {
    quotient_to_double(&(numerator << UNITS_PER_ONE), denominator)
}

/// The root of a quotient, with the sign of a number.
fn root(sign: &BigInt, numerator: &BigInt, denominator: &BigInt) -> f64 {
    let root = root_of_quotient(&(numerator << UNITS_PER_ONE), denominator);
    if sign.sign() == Sign::Minus {
        -root
    } else {
        root
    }
}

fn item() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -1e3..1e3,
        1 => (-3..3).prop_map(f64::from),
        1 => (-1e3..1e3).prop_map(|x: f64| 1e9 + x),
        1 => finite(),
    ]
}

fn same(one: f64, other: f64) -> bool {
    one == other || one.is_nan() && other.is_nan()
}

proptest! {
    #[test]
    fn of_pairs(pairs in prop::collection::vec((item(), item()), 1..30), rest in prop::collection::vec((item(), item()), 0..5)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let both = CoMoments::of(&x, &y);
        let (dx, dy) = (differences(&x), differences(&y));
        let [xx, yy, xy] = [[&dx, &dx], [&dy, &dy], [&dx, &dy]].map(|of| products(of.map(Vec::as_slice)));
        let n = BigInt::from(x.len());
        // `xy` is in squares of units, and n^2 times too large.
        let covariance = |ddof: usize| {
            let freedom = &n - ddof;
            let denominator = (&n * &n * freedom) << UNITS_PER_ONE;
            if x.len() > ddof { quotient_to_double(&xy, &denominator) } else { f64::NAN }
        };
        prop_assert!(same(both.covariance(0.0), covariance(0)), "{:?} {:?}", both.covariance(0.0), covariance(0));
        prop_assert!(same(both.covariance(1.0), covariance(1)));
        let is_zero = |number: &BigInt| number.sign() == Sign::NoSign;
        let correlation = if is_zero(&xx) || is_zero(&yy) { f64::NAN } else { root(&xy, &(&xy * &xy), &(&xx * &yy)) };
        prop_assert!(same(both.correlation(), correlation), "{:?} {:?}", both.correlation(), correlation);
        let slope = if is_zero(&xx) { f64::NAN } else { quotient(&xy, &xx) };
        prop_assert!(same(both.slope(), slope));
        let intercept = if is_zero(&xx) { f64::NAN } else {
            let [x, y] = [&x, &y].map(|items| total(items.iter().map(|item| units(*item))));
            quotient_to_double(&(y * &xx - &xy * x), &(&n * &xx))
        };
        prop_assert!(same(both.intercept(), intercept), "{:?} {:?}", both.intercept(), intercept);
        // Pairs that are merged and removed again.
        let (u, v): (Vec<f64>, Vec<f64>) = rest.into_iter().unzip();
        let mut left = both;
        left.merge(&CoMoments::of(&u, &v)).unwrap();
        prop_assert_eq!(left, CoMoments::of(&[x, u.clone()].concat(), &[y, v.clone()].concat()));
        left.remove(&u, &v).unwrap();
        prop_assert_eq!(left, both);
        prop_assert_eq!(CoMoments::of_bytes(&left.to_bytes()), Ok(both));
        prop_assert_eq!(left.to_bytes(), both.to_bytes());
    }

    #[test]
    fn of_powers(items in prop::collection::vec(item(), 1..30), rest in prop::collection::vec(item(), 0..5)) {
        let powers = Powers::of(&items);
        let d = differences(&items);
        let [second, third, fourth] = [2, 3, 4].map(|power| products(vec![d.as_slice(); power]));
        let n = BigInt::from(items.len());
        let is_constant = second.sign() == Sign::NoSign;
        let square = &second * &second;
        // `second` to `fourth` are sums of powers of n times the differences. g1 = m3 / m2^(3/2) and g2 = m4 / m2^2 - 3, with m = sum / n.
        let cube = &square * &second;
        let (one, two, three) = (&n - 1, &n - 2, &n - 3);
        let of = |least: usize, value: &dyn Fn() -> f64| {
            if is_constant || items.len() < least { f64::NAN } else { value() }
        };
        let g1 = of(1, &|| root(&third, &(&third * &third * &n), &cube));
        prop_assert!(same(powers.skewness(true), g1), "{:?} {:?}", powers.skewness(true), g1);
        let unbiased = of(3, &|| root(&third, &(&third * &third * &n * &n * &one), &(&cube * &two * &two)));
        prop_assert!(same(powers.skewness(false), unbiased));
        let excess = &fourth * &n - &square * 3;
        let g2 = of(1, &|| quotient(&excess, &square));
        prop_assert!(same(powers.kurtosis(true), g2), "{:?} {:?}", powers.kurtosis(true), g2);
        let unbiased = of(4, &|| {
            let numerator = (&excess * (&n + 1) + &square * 6) * &one;
            quotient(&numerator, &(&square * &two * &three))
        });
        prop_assert!(same(powers.kurtosis(false), unbiased));
        let mut left = powers;
        left.merge(&Powers::of(&rest)).unwrap();
        prop_assert_eq!(left, Powers::of(&[items, rest.clone()].concat()));
        left.remove(&rest).unwrap();
        prop_assert_eq!(left, powers);
        prop_assert_eq!(Powers::of_bytes(&left.to_bytes()), Ok(powers));
        prop_assert_eq!(left.to_bytes(), powers.to_bytes());
    }

    #[test]
    fn floats_are_doubles_that_are_rounded_once(items in prop::collection::vec(-1e3_f32..1e3, 4..30)) {
        let doubles: Vec<f64> = items.iter().copied().map(f64::from).collect();
        let (powers, wide) = (Powers::of(&items), Powers::of(&doubles));
        let is_near = |one: f32, other: f64| (f64::from(one) - other).abs() <= other.abs() * f64::from(f32::EPSILON);
        prop_assert!(is_near(powers.skewness(false), wide.skewness(false)));
        prop_assert!(is_near(powers.kurtosis(true), wide.kurtosis(true)));
    }
}

/// Cases that were reported against other programs: after an outlier was removed, a residue stayed in the results.
#[test]
fn an_outlier_leaves_nothing() {
    let block = [
        0.01, -0.02, 0.015, 0.005, -0.01, 0.02, 0.01, -0.03, 0.0, 0.01,
    ];
    let mut powers = Powers::of(&[&[5000.0][..], &block].concat());
    powers.remove(&[5000.0]).unwrap();
    assert_eq!(powers.skewness(true), -0.797_036_087_676_978_6);
    assert_eq!(powers.skewness(false), -0.945_168_530_403_343_3);
    assert_eq!(powers.kurtosis(false), -0.073_260_073_260_073_44);
    assert_eq!(powers.kurtosis(true), -0.586_894_586_894_587);

    let x = [1.0, 2.0, 1e12, 1e7, 6.0, 5.0, 8.0, 7.0];
    let y = [2.0, 1.0, 3.0, -1e12, 4.0, 7.0, 6.0, 9.0];
    let mut both = CoMoments::of(&x, &y);
    both.remove(&x[..5], &y[..5]).unwrap();
    assert_eq!(both.covariance(1.0), -1.0 / 3.0);
    assert_eq!(both.correlation(), -0.142_857_142_857_142_85);
}

#[test]
fn what_is_not_finite_can_be_taken_back() {
    let mut powers = Powers::of(&[1.0, 2.0, 4.0, f64::NAN, f64::INFINITY]);
    assert!(powers.skewness(true).is_nan() && powers.kurtosis(true).is_nan());
    powers.remove(&[f64::NAN, f64::INFINITY]).unwrap();
    assert_eq!(powers, Powers::of(&[1.0, 2.0, 4.0]));

    let mut both = CoMoments::of(&[1.0, f64::INFINITY, 3.0], &[2.0, 0.0, 6.0]);
    assert!(both.correlation().is_nan() && both.slope().is_nan());
    let before = both;
    // y has no infinity, so nothing is removed from x either.
    assert!(both.remove(&[f64::INFINITY], &[f64::INFINITY]).is_err());
    assert_eq!(both, before);
    both.remove(&[f64::INFINITY], &[0.0]).unwrap();
    assert_eq!(
        [both.correlation(), both.slope(), both.intercept()],
        [1.0, 2.0, 0.0]
    );
}
