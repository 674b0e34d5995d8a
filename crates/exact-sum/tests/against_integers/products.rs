//! Checks dot products and norms that need special code: zeros, errors that underflow, products that overflow, blocks of different ranges.

use exact_sum::{Accumulator, ProductSum};
use integer_sums::units::{dot, root, to_double};
use proptest::prelude::*;
use simd_kernels::Level;

use crate::in_range;

/// The sum, computed with each instruction set, in one call and in pieces. All sums must be equal.
fn by_all_levels(x: &[f64], y: &[f64]) -> ProductSum<f64> {
    let mut sums = Vec::new();
    for level in Level::available() {
        let mut sum = ProductSum::new();
        sum.add_at(level, x, y);
        sums.push(sum);
        let mut sum = ProductSum::new();
        for (x, y) in x.chunks(1000).zip(y.chunks(1000)) {
            sum.add_at(level, x, y);
        }
        sums.push(sum);
    }
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    let is_zero =
        |x: &f64, y: &f64| (*x == 0.0 || *y == 0.0) && x.is_sign_negative() != y.is_sign_negative();
    let zeros = x.iter().zip(y).filter(|(x, y)| is_zero(x, y));
    // The second count is of negative zeros.
    let zeros = (zeros.count() as u64).to_le_bytes();
    assert_eq!(sums[0].to_bytes()[16..24], zeros);
    sums[0]
}

/// A range of few exponents for factors. The products of such factors are in one range, or nearly so.
fn narrow() -> impl Strategy<Value = (i32, i32)> {
    (-500..480, 0..20).prop_map(|(low, binades)| (low, low + binades))
}

/// Unusual factors, which tests put among factors of few exponents.
fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(f64::from_bits(1)),
        Just(1e-310),
        Just(1e-160),
        Just(-1e160),
        Just(f64::MAX),
        Just(2_f64.powi(997)),
    ]
}

/// A dot product that is ill-conditioned by about 2^bits (Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005, algorithm 6.1).
fn ill_conditioned(len: usize, bits: i32, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = in_range(4 * len, (-1, -1), true, seed).into_iter();
    let places = in_range(len, (0, 0), false, !seed).into_iter();
    let mut places = places.map(|place| ((place - 1.0) * f64::from(bits) / 2.0) as i32);
    let mut next = |exponent: i32| random.next().expect("there are enough") * 2_f64.powi(exponent);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for place in 0..len / 2 {
        // The first product has the largest exponent.
        let exponent = if place == 0 {
            bits / 2
        } else {
            places.next().expect("there are enough")
        };
        x.push(next(exponent));
        y.push(next(exponent));
    }
    let others = len - len / 2;
    for place in 0..others {
        let exponent = bits / 2 - bits / 2 * place as i32 / others as i32;
        let factor = next(exponent);
        let wanted = next(exponent) - to_double(&dot(&x, &y));
        x.push(factor);
        y.push(wanted / factor);
    }
    let turn = seed as usize % len;
    x.rotate_left(turn);
    y.rotate_left(turn);
    (x, y)
}

proptest! {
    #[test]
    fn of_narrow_ranges(len in 0..9000_usize, ranges in (narrow(), narrow()), signs: bool, seed: u64) {
        let (x, y) = (in_range(len, ranges.0, signs, seed), in_range(len, ranges.1, signs, !seed));
        prop_assert_eq!(by_all_levels(&x, &y).value().to_bits(), to_double(&dot(&x, &y)).to_bits());
        let squares = by_all_levels(&x, &x);
        prop_assert_eq!(squares.root().to_bits(), root(&dot(&x, &x)).to_bits());
    }

    /// Factors of few exponents with some zeros, and some factors whose products underflow or overflow.
    #[test]
    fn with_odd_ones_among_them(
        ranges in (narrow(), narrow()),
        odd in prop::collection::vec((odd(), any::<prop::sample::Index>(), any::<bool>()), 1..40),
        seed: u64,
    ) {
        let len = 10_000;
        let (mut x, mut y) = (in_range(len, ranges.0, true, seed), in_range(len, ranges.1, true, !seed));
        for (odd, index, is_left) in odd {
            let index = index.index(len);
            if is_left { x[index] = odd } else { y[index] = odd }
        }
        // The oracle accepts finite factors only.
        prop_assume!(x.iter().zip(&y).all(|(x, y)| x.is_finite() && y.is_finite()));
        prop_assert_eq!(by_all_levels(&x, &y).value().to_bits(), to_double(&dot(&x, &y)).to_bits());
    }

    /// Products on both sides of 2^-968, below which their errors are not doubles, and on both sides of 2^1024.
    #[test]
    fn at_both_ends(len in 1..5000_usize, shift in -6..6, binades in 0..14, is_high: bool, seed: u64) {
        let middle = if is_high { 511 } else { -484 };
        let low = middle + shift;
        let mut x = in_range(len, (low, low + binades), true, seed);
        let mut y = in_range(len, (low, low + binades), true, !seed);
        if !is_high {
            // The rounded products cancel, so that the sum of the errors is left.
            let products: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
            x.extend(products);
            y.extend(vec![-1.0; len]);
        }
        prop_assert_eq!(by_all_levels(&x, &y).value().to_bits(), to_double(&dot(&x, &y)).to_bits());
    }

    #[test]
    fn ill_conditioned_ones(len in 6..120_usize, bits in 10..1000, seed: u64) {
        let (x, y) = ill_conditioned(len, bits, seed);
        prop_assert_eq!(by_all_levels(&x, &y).value().to_bits(), to_double(&dot(&x, &y)).to_bits());
    }

    /// Successive blocks have different ranges.
    #[test]
    fn of_blocks_that_are_not_alike(blocks in prop::collection::vec((narrow(), narrow(), any::<bool>(), any::<u64>()), 2..5)) {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (x_range, y_range, has_zeros, seed) in blocks {
            x.extend(in_range(4096, x_range, true, seed));
            y.extend(in_range(4096, y_range, true, !seed));
            if has_zeros {
                let len = x.len();
                x[len - 2000..len - 1000].fill(-0.0);
            }
        }
        prop_assert_eq!(by_all_levels(&x, &y).value().to_bits(), to_double(&dot(&x, &y)).to_bits());
    }
}

/// Checks blocks of several lengths in which all products are -0.0, and blocks in which all but one are.
#[test]
fn negative_zeros() {
    for len in [1, 15, 16, 100, 5000] {
        let (mut x, y) = (vec![-0.0; len], vec![1.0; len]);
        assert_eq!(
            by_all_levels(&x, &y).value().to_bits(),
            (-0.0_f64).to_bits(),
            "{len}"
        );
        x[len / 2] = 0.0;
        assert_eq!(by_all_levels(&x, &y).value().to_bits(), 0, "{len}");
        // The same products after blocks that have a scale.
        let x = [&vec![0.5; 4096][..], &vec![-0.5; 4096], &x].concat();
        let y = [&vec![1.0; 8192][..], &y].concat();
        assert_eq!(by_all_levels(&x, &y).value().to_bits(), 0, "{len}");
    }
}

/// An infinity or a NaN anywhere in blocks that have a scale.
#[test]
fn specials_among_others() {
    for place in [0, 17, 4095, 4096, 8191] {
        for zero in [0.5, 0.0] {
            let (mut x, mut y) = (vec![0.5; 8192], vec![0.75; 8192]);
            x[5] = zero;
            x[place] = f64::INFINITY;
            assert_eq!(by_all_levels(&x, &y).value(), f64::INFINITY);
            y[place] = 0.0;
            assert!(by_all_levels(&x, &y).value().is_nan());
            x[place] = 1.0;
            y[place] = f64::NAN;
            assert!(by_all_levels(&x, &y).value().is_nan());
            // A product beyond the range, which another product cancels.
            (x[place], y[place]) = (1e300, 1e300);
            (x[6], y[6]) = (-1e300, 1e300);
            let exact = to_double(&dot(&x, &y));
            assert_eq!(by_all_levels(&x, &y).value(), exact);
        }
    }
}
