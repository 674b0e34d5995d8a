//! Checks the loops for few exponents at the ends of their ranges: items and products are added exactly, or refused.

use integer_sums::units::{dot, sum, to_double, unit_of};
use num_bigint::BigInt;
use proptest::prelude::*;
use simd_kernels::{Ahead, Level, RangeScale, Split, split_products_in_range, split_sums_in_range};

use crate::in_range;

/// The sum that a split holds, in units of the oracle.
fn held(split: &Split, units: [i32; 2]) -> BigInt {
    let [higher, lower] = [split.higher, split.lower].map(|[even, odd]| BigInt::from(even) + odd);
    higher * unit_of(units[0]) + lower * unit_of(units[1])
}

/// Numbers from 1 to 2 with significands of all kinds, times 2 to one of these exponents, and their negatives.
fn item(exponents: std::ops::Range<i32>) -> impl Strategy<Value = f64> {
    let significand = prop_oneof![
        4 => (1_u64 << 52..1 << 53).prop_map(|bits| bits | 1),
        1 => Just(1 << 52),
        1 => Just((1 << 53) - 1),
        1 => Just((1 << 53) - (1 << 11)),
        1 => Just((1 << 52) + 1),
    ];
    (significand, exponents, any::<bool>()).prop_map(|(bits, exponent, is_negative)| {
        let item = bits as f64 * 2_f64.powi(-52) * 2_f64.powi(exponent);
        if is_negative { -item } else { item }
    })
}

/// Items in a range, whose end is also returned; one item may be outside the range.
fn items() -> impl Strategy<Value = (Vec<f64>, i32)> {
    let odd = prop_oneof![
        4 => Just(None),
        1 => item(-35..-29).prop_map(Some),
        1 => item(-2..4).prop_map(Some),
        1 => item(-1000..1020).prop_map(Some),
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(f64::INFINITY), Just(f64::NAN)].prop_map(Some),
    ];
    let items = prop::collection::vec(item(-31..0), 1..300);
    let highest = prop_oneof![4 => -40..40_i32, 1 => -980..-970, 1 => 1000..1015];
    (items, odd, any::<prop::sample::Index>(), highest).prop_map(|(items, odd, place, highest)| {
        let scaled = |item: f64| item * 2_f64.powi(highest / 2) * 2_f64.powi(highest - highest / 2);
        let mut items: Vec<f64> = items.into_iter().map(scaled).collect();
        if let Some(odd) = odd {
            let place = place.index(items.len());
            items[place] = scaled(odd);
        }
        (items, highest)
    })
}

/// The scale whose range ends at an exponent.
fn scale_to(highest: i32) -> RangeScale {
    RangeScale::for_items(highest - 31, highest).expect("it is one range")
}

proptest! {
    #[test]
    fn sums_in_range_are_exact_or_refused((items, highest) in items()) {
        let scale = scale_to(highest);
        prop_assert_eq!(scale.highest(), highest);
        let is_in_range = |x: &f64| x.abs() >= 2_f64.powi(highest - 31) && x.abs() < 2_f64.powi(highest);
        let are_in_range = items.iter().all(is_in_range);
        let are_or_zero = items.iter().all(|x| *x == 0.0 || is_in_range(x));
        for level in Level::available() {
            let strict = split_sums_in_range(level, &items, false, scale, Ahead::Nothing);
            let lenient = split_sums_in_range(level, &items, true, scale, Ahead::Nothing);
            prop_assert!(strict.is_some() || !are_in_range, "{level}: refused");
            prop_assert!(lenient.is_some() || !are_or_zero, "{level}: refused");
            for split in [strict, lenient].into_iter().flatten() {
                prop_assert!(items.iter().all(|x| x.is_finite()), "{level}");
                prop_assert_eq!(held(&split, scale.units()), sum(items.iter().copied()), "{}", level);
            }
        }
    }

    #[test]
    fn products_in_range_are_exact_or_refused(
        (x, highest) in items(),
        y in prop::collection::vec(item(-1..1), 300),
        zero in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut y = y[..x.len()].to_vec();
        if let Some(zero) = zero {
            let zero = zero.index(y.len());
            y[zero] = 0.0;
        }
        let Some(scale) = RangeScale::for_products(highest - 31, highest) else {
            prop_assert!(highest < -936);
            return Ok(());
        };
        let products: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
        let is_in_range = |x: &f64| x.abs() >= 2_f64.powi(highest - 31) && x.abs() < 2_f64.powi(highest);
        let are_in_range = products.iter().all(is_in_range);
        // Without FMA, large factors are refused.
        let is_large = |x: &f64| x.abs() >= 2_f64.powi(990);
        for level in Level::available() {
            let strict = split_products_in_range(level, &x, &y, false, scale, Ahead::Nothing);
            let lenient = split_products_in_range(level, &x, &y, true, scale, Ahead::Nothing);
            prop_assert!(strict.is_some() || !are_in_range || x.iter().any(is_large), "{level}: refused");
            prop_assert!(lenient.is_some() || strict.is_none(), "{level}: refused");
            for [products, errors] in [strict, lenient].into_iter().flatten() {
                prop_assert!(x.iter().all(|x| x.is_finite()), "{level}");
                let held = held(&products, scale.units()) + held(&errors, scale.error_units());
                prop_assert_eq!(held, dot(&x, &y), "{}", level);
            }
        }
    }

    /// At the smallest scale that products have, the last bit of an error is the last one of a subnormal number.
    #[test]
    fn errors_do_not_underflow(pairs in prop::collection::vec((item(-31..-28), item(0..2)), 1..40)) {
        let lowest = -968 + 1;
        let scale = RangeScale::for_products(lowest, lowest + 31).expect("it is the smallest one");
        prop_assert_eq!(RangeScale::for_products(lowest, lowest), Some(scale));
        prop_assert_eq!(RangeScale::for_products(lowest - 1, lowest), None);
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let x: Vec<f64> = x.iter().map(|x| x * 2_f64.powi(lowest + 31)).collect();
        for level in Level::available() {
            if let Some([products, errors]) = split_products_in_range(level, &x, &y, false, scale, Ahead::Nothing) {
                let held = held(&products, scale.units()) + held(&errors, scale.error_units());
                prop_assert_eq!(held, dot(&x, &y), "{}", level);
            }
        }
    }
}

/// No lane overflows if a call has as many items as it may have, and the items are as large as
/// possible, or leave the largest rests.
#[test]
fn lanes_have_room_for_all_items() {
    const ITEMS: usize = 1 << 16;
    let scale = scale_to(0);
    // The last place of the higher accumulator is 2^-40. An item whose higher part is 2.0 is out of range.
    let places = [-40, -41, -42];
    let below = |place: i32| 2.0 - 2_f64.powi(-40) - 2_f64.powi(place).next_down();
    let largest = places.map(below).into_iter().chain([
        1.0 + 2_f64.powi(-41),
        1.0 + 2_f64.powi(-41).next_down(),
        2_f64.powi(-31).next_down(),
        2_f64.powi(-31),
    ]);
    for item in largest {
        for sign in [1.0, -1.0] {
            let items = vec![sign * item; ITEMS];
            for level in Level::available() {
                let split = split_sums_in_range(level, &items, false, scale, Ahead::Nothing);
                let held = held(&split.expect("it is in range"), scale.units());
                assert_eq!(held, sum([sign * item]) * ITEMS, "{level}: {item:e}");
            }
        }
    }
}

/// Lanes have room for the largest errors of products, all of one sign: half a place of the largest product in range.
#[test]
fn lanes_have_room_for_all_errors() {
    const ITEMS: usize = 1 << 16;
    let scale = RangeScale::for_products(-31, 0).expect("it is one range");
    let mut largest = (0.0, 0.0, 0.0);
    let x = in_range(5000, (0, 0), false, 1);
    for (x, y) in x.iter().zip(in_range(5000, (0, 0), false, 2)) {
        // The product is between 1 and 2.
        let (x, y) = (1.0 + x / 4.0, 0.75 + y / 10.0);
        let error = to_double(&dot(&[x, -1.0], &[y, x * y]));
        if error.abs() > largest.0 {
            largest = (error.abs(), x, y * error.signum());
        }
    }
    let (error, x, y) = largest;
    assert!(
        error > 2_f64.powi(-53) * 0.99,
        "{error:e} is nearly half a place"
    );
    for y in [y, -y] {
        let (x, y) = (vec![x; ITEMS], vec![y; ITEMS]);
        for level in Level::available() {
            let splits = split_products_in_range(level, &x, &y, false, scale, Ahead::Nothing);
            let [products, errors] = splits.expect("they are in range");
            let held = held(&products, scale.units()) + held(&errors, scale.error_units());
            assert_eq!(held, dot(&x[..1], &y[..1]) * ITEMS, "{level}");
        }
    }
}

/// An item that would leave a rest is detected at every place of slices of many lengths.
#[test]
fn small_items_are_refused_wherever_they_are() {
    let small = 2_f64.powi(-40) * (1.0 + f64::EPSILON);
    for len in 1..80 {
        for place in 0..len {
            let mut items = vec![0.75; len];
            items[place] = small;
            let scale = scale_to(0);
            for level in Level::available() {
                let split = split_sums_in_range(level, &items, true, scale, Ahead::Nothing);
                assert!(split.is_none(), "{level}: {place} of {len}");
                let ones = vec![1.0; len];
                let splits =
                    split_products_in_range(level, &items, &ones, true, scale, Ahead::Nothing);
                assert!(splits.is_none(), "{level}: {place} of {len}");
            }
        }
    }
}

/// Products a little below the range, whose rounded values are in the range. No other products that
/// are accepted have such low last bits.
#[test]
fn products_next_to_the_range_are_exact() {
    let scale = RangeScale::for_products(-31, 0).expect("it is one range");
    for (a, b) in [(1, 1), (1, 255), (127, 129)] {
        let below_2 = |odd: i32| 2.0 - f64::from(odd) * 2_f64.powi(-52);
        let (x, y) = (
            [below_2(a) * 2_f64.powi(-16)],
            [below_2(b) * 2_f64.powi(-17)],
        );
        assert!(x[0] * y[0] < 2_f64.powi(-31));
        for level in Level::available() {
            let splits = split_products_in_range(level, &x, &y, false, scale, Ahead::Nothing);
            let [products, errors] = splits.expect("the rounded product is in range");
            let held = held(&products, scale.units()) + held(&errors, scale.error_units());
            assert_eq!(held, dot(&x, &y), "{level}: {a} {b}");
        }
    }
}

/// Items that cancel, and are so large that the bits of their exponents look like those of items in range.
#[test]
fn huge_items_are_refused() {
    for highest in [-200, 0, 200] {
        let scale = scale_to(highest);
        for exponent in 900..1024 {
            let huge = 2_f64.powi(exponent);
            for level in Level::available() {
                for between in [0, 1, 31, 32, 100] {
                    let mut items = vec![2_f64.powi(highest - 3); 200];
                    items[0] = huge;
                    items[between + 1] = -huge;
                    let split = split_sums_in_range(level, &items, false, scale, Ahead::Nothing);
                    assert!(split.is_none(), "{level}: 2^{exponent} at {highest}");
                }
            }
        }
    }
}

/// A product that underflows to zero is not treated as a product with a factor of zero.
#[test]
fn products_that_underflow_are_no_zeros() {
    let scale = RangeScale::for_products(-31, 0).expect("it is one range");
    for level in Level::available() {
        for place in 0..40 {
            let (mut x, mut y) = (vec![0.75; 40], vec![0.75; 40]);
            (x[place], y[place]) = (1e-200, 1e-200);
            assert!(
                split_products_in_range(level, &x, &y, true, scale, Ahead::Nothing).is_none(),
                "{level}"
            );
            (x[place], y[place]) = (0.0, 1e-200);
            assert!(
                split_products_in_range(level, &x, &y, true, scale, Ahead::Nothing).is_some(),
                "{level}"
            );
            y[place] = f64::INFINITY;
            assert!(
                split_products_in_range(level, &x, &y, true, scale, Ahead::Nothing).is_none(),
                "{level}"
            );
        }
    }
}
