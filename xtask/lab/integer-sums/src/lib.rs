//! A reference for exact sums: big integers that are rounded to the nearest float by comparison with neighbouring floats.
//!
//! It shares neither code nor ideas with `exact-sum`. [`units`] represents finite numbers as integers. The functions in this module also
//! handle zeros, infinities and NaNs.
//!
//! ```
//! // A widely used superaccumulator rounds this single item to …256b.
//! let item = f64::from_bits(0xC001_215A_19D5_E256);
//! assert_eq!(integer_sums::sum(&[item]), item);
//! assert_eq!(integer_sums::sum(&[1e300, 1.0, -1e300]), 1.0);
//! assert_eq!(integer_sums::root(&[3e-200, 4e-200], &[3e-200, 4e-200]), 5e-200);
//! ```

pub mod units;

use num_bigint::{BigInt, Sign};

/// The exact sum, rounded to nearest, ties to even: +0.0 for no items, -0.0 for negative zeros alone.
#[must_use]
pub fn sum(items: &[f64]) -> f64 {
    let is_special = |item: &f64| !item.is_finite();
    if let Some(special) = special(items.iter().copied().filter(is_special)) {
        return special;
    }
    let is_negative_zero = |item: &f64| *item == 0.0 && item.is_sign_negative();
    let sum = units::sum(items.iter().copied());
    let all_are = !items.is_empty() && items.iter().all(is_negative_zero);
    zero_or(&sum, all_are, units::to_double)
}

/// The exact sum of the products x0 * y0, x1 * y1, …, rounded to nearest, ties to even; zeros are signed as in [`sum`].
///
/// # Panics
/// The slices differ in length.
#[must_use]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    of_products(x, y, |special| special, units::to_double)
}

/// The square root of the exact sum of x0 * y0, x1 * y1, …, rounded once: the norm if both slices are the same. NaN if the sum is negative.
///
/// # Panics
/// The slices differ in length.
#[must_use]
pub fn root(x: &[f64], y: &[f64]) -> f64 {
    let root = |sum: &BigInt| match sum.sign() {
        Sign::Minus => f64::NAN,
        _ => units::root(sum),
    };
    // `sqrt` is not used: its NaN is negative, and LLVM treats it as equal to the positive NaN that would replace it.
    let of_special = |special| match special {
        f64::NEG_INFINITY => f64::NAN,
        _ => special,
    };
    of_products(x, y, of_special, root)
}

/// The exact mean, rounded to nearest, ties to even; NaN of no items.
#[must_use]
pub fn mean(items: &[f64]) -> f64 {
    let is_finite = !items.is_empty() && items.iter().all(|item| item.is_finite());
    match (is_finite, sum(items)) {
        (true, sum) if sum != 0.0 => {
            let sum = units::sum(items.iter().copied());
            units::quotient_to_double(&sum, &BigInt::from(items.len()))
        }
        (false, _) if items.is_empty() => f64::NAN,
        (_, sum) => sum,
    }
}

/// The exact variance with divisor n - 1, rounded to nearest, ties to even; NaN of fewer than two items, or of infinities and NaNs.
#[must_use]
pub fn variance(items: &[f64]) -> f64 {
    let n = BigInt::from(items.len());
    if items.len() < 2 || !items.iter().all(|item| item.is_finite()) {
        return f64::NAN;
    }
    let (sum, squares) = (units::sum(items.iter().copied()), units::dot(items, items));
    // `sum * sum` is in squared units, so the other terms are converted to squared units, too.
    let numerator = ((squares * &n) << units::UNITS_PER_ONE) - &sum * &sum;
    let denominator = ((&n - 1) * &n) << units::UNITS_PER_ONE;
    units::quotient_to_double(&numerator, &denominator)
}

fn of_products(
    x: &[f64],
    y: &[f64],
    of_special: impl Fn(f64) -> f64,
    of_sum: impl Fn(&BigInt) -> f64,
) -> f64 {
    assert_eq!(x.len(), y.len(), "products have two factors each");
    let pairs = || x.iter().copied().zip(y.iter().copied());
    let specials = pairs().filter(|(x, y)| !x.is_finite() || !y.is_finite());
    if let Some(special) = special(specials.map(|(x, y)| x * y)) {
        return of_special(special);
    }
    let is_negative_zero = |(x, y): (f64, f64)| {
        (x == 0.0 || y == 0.0) && (x.is_sign_negative() != y.is_sign_negative())
    };
    let all_are = !x.is_empty() && pairs().all(is_negative_zero);
    zero_or(&units::dot(x, y), all_are, of_sum)
}

/// The sum of infinities and NaNs; `None` if there are none of them.
fn special(specials: impl Iterator<Item = f64>) -> Option<f64> {
    specials.reduce(|sum, special| sum + special).map(one_nan)
}

fn one_nan(number: f64) -> f64 {
    if number.is_nan() { f64::NAN } else { number }
}

fn zero_or(sum: &BigInt, is_negative_zero: bool, rounded: impl Fn(&BigInt) -> f64) -> f64 {
    match (*sum == BigInt::ZERO, is_negative_zero) {
        (true, true) => -0.0,
        (true, false) => 0.0,
        (false, _) => rounded(sum),
    }
}

#[cfg(test)]
mod tests {
    use super::{dot, mean, root, sum, variance};

    #[track_caller]
    fn check(found: f64, expected: f64) {
        let is_same = found.to_bits() == expected.to_bits();
        assert!(is_same, "{found:e}, {expected:e}");
    }

    /// Items that an earlier, incorrect reference changed although each was summed alone.
    #[test]
    fn one_item_is_its_own_sum() {
        for bits in [
            0xC001_215A_19D5_E256,
            0x4001_215A_19D5_E256,
            1,
            0x7FEF_FFFF_FFFF_FFFF,
        ] {
            let item = f64::from_bits(bits);
            check(sum(&[item]), item);
            check(dot(&[item], &[1.0]), item);
        }
    }

    #[test]
    fn sums_are_rounded_to_nearest_and_even() {
        let half = f64::EPSILON / 2.0;
        check(sum(&[1.0, half]), 1.0);
        check(sum(&[1.0, f64::EPSILON, half]), 1.0 + 2.0 * f64::EPSILON);
        check(sum(&[1.0, half, 5e-324]), 1.0 + f64::EPSILON);
        check(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        check(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        check(sum(&[0.1; 10]), 1.0);
        check(dot(&[1e200, 3.0, 1e200], &[1e200, 4.0, -1e200]), 12.0);
        check(root(&[2.0], &[1.0]), 2.0_f64.sqrt());
    }

    #[test]
    fn many_items_are_added_in_bins() {
        let items = vec![2_f64.powi(-60); 1 << 20];
        check(
            sum(&[&[1e100], &items[..], &[-1e100]].concat()),
            2_f64.powi(-40),
        );
    }

    #[test]
    fn zeros_infinities_and_nans() {
        let infinity = f64::INFINITY;
        check(sum(&[]), 0.0);
        check(sum(&[-0.0, -0.0]), -0.0);
        for zero in [&[-0.0, 0.0][..], &[1.0, -1.0], &[-1.0, 1.0, -0.0]] {
            check(sum(zero), 0.0);
        }
        check(sum(&[infinity, -1.0]), infinity);
        check(sum(&[infinity, -infinity]), f64::NAN);
        check(sum(&[-f64::NAN, infinity]), f64::NAN);
        check(dot(&[0.0, -0.0], &[-1.0, 0.0]), -0.0);
        check(dot(&[1e-300, -1e-300], &[1e-300, 1e-300]), 0.0);
        check(dot(&[infinity, 1.0], &[-1.0, 1.0]), -infinity);
        check(dot(&[infinity], &[0.0]), f64::NAN);
    }

    #[test]
    fn means_and_variances() {
        let items = [1e8 + 1.0, 1e8 + 2.0, 1e8 + 6.0];
        check(mean(&items), 1e8 + 3.0);
        check(variance(&items), 7.0);
        check(mean(&[5e-324, 5e-324, 5e-324, 0.0]), 5e-324);
        check(mean(&[f64::MAX; 3]), f64::MAX);
        check(
            variance(&[1.0, 1.0 + f64::EPSILON]),
            f64::EPSILON * f64::EPSILON / 2.0,
        );
        check(variance(&[-0.0, 0.0]), 0.0);
        check(mean(&[f64::INFINITY, 1.0]), f64::INFINITY);
        for (found, expected) in [(mean(&[]), f64::NAN), (mean(&[-0.0]), -0.0)] {
            check(found, expected);
        }
        for items in [&[][..], &[1.0], &[f64::INFINITY, 1.0], &[f64::NAN; 3]] {
            check(variance(items), f64::NAN);
        }
    }

    #[test]
    fn a_negative_sum_has_no_root() {
        check(root(&[1.0, 2.0], &[1.0, -1.0]), f64::NAN);
        check(root(&[f64::INFINITY], &[-1.0]), f64::NAN);
        check(root(&[f64::INFINITY], &[1.0]), f64::INFINITY);
        check(root(&[1.0, 1.0], &[1.0, -1.0]), 0.0);
        check(root(&[-0.0], &[1.0]), -0.0);
    }
}
