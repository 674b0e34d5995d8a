//! Checks means, variances, standard deviations, removals and bytes.

use exact_sum::{
    Accumulator, BytesError, ComplexMoments, ComplexSum, Moments, ProductSum, Sum, WeightedMean,
};
use integer_sums::units::{
    UNITS_PER_ONE, dot, quotient_to_double, quotient_to_single, root_of_quotient, sum,
};
use num_bigint::BigInt;
use proptest::prelude::*;

use super::finite;

/// The numerator, in units, and the denominator of the variance of items with these sums of parts and of squares; `ddof` is `quarters` / 4.
fn variance(parts: &[BigInt], squares: &BigInt, items: usize, quarters: u32) -> (BigInt, BigInt) {
    let of_squares: BigInt = (squares * BigInt::from(items)) << UNITS_PER_ONE;
    let numerator = parts
        .iter()
        .fold(of_squares, |left, part| left - part * part);
    let freedom = BigInt::from(4 * items) - BigInt::from(quarters);
    // The numerator is in squared units, so one unit goes to the denominator.
    let denominator = (freedom * BigInt::from(items)) << UNITS_PER_ONE;
    (numerator * 4, denominator)
}

/// Items whose squares are mostly finite.
fn ordinary() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -1e3..1e3,
        1 => (-1e3..1e3).prop_map(|x: f64| 1e9 + x),
        1 => finite(),
    ]
}

proptest! {
    #[test]
    fn of_items(items in prop::collection::vec(ordinary(), 1..60), quarters in 0..9_u32) {
        let moments = Moments::of(&items);
        let (n, total) = (BigInt::from(items.len()), sum(items.iter().copied()));
        let is_negative_zero = items.iter().all(|item| item.to_bits() == 1 << 63);
        let mean = if is_negative_zero { -0.0 } else { quotient_to_double(&total, &n) };
        prop_assert_eq!(moments.mean().to_bits(), mean.to_bits());
        let ddof = f64::from(quarters) / 4.0;
        let (numerator, denominator) = variance(&[total], &dot(&items, &items), items.len(), quarters);
        let (variance, deviation) = (moments.variance(ddof), moments.standard_deviation(ddof));
        if denominator > BigInt::ZERO {
            prop_assert_eq!(variance, quotient_to_double(&numerator, &denominator));
            prop_assert_eq!(deviation, root_of_quotient(&numerator, &denominator));
        } else if numerator == BigInt::ZERO {
            prop_assert!(variance.is_nan() && deviation.is_nan());
        } else {
            prop_assert_eq!([variance, deviation], [f64::INFINITY; 2]);
        }
    }

    #[test]
    fn of_floats(items in prop::collection::vec(any::<f32>().prop_filter("finite", |x| x.is_finite()), 1..60)) {
        let moments = Moments::of(&items);
        let doubles: Vec<f64> = items.iter().copied().map(f64::from).collect();
        let (n, total) = (BigInt::from(items.len()), sum(doubles.iter().copied()));
        prop_assert_eq!(moments.mean(), quotient_to_single(&total, &n));
        let (numerator, denominator) = variance(&[total], &dot(&doubles, &doubles), items.len(), 0);
        prop_assert_eq!(moments.variance(0.0), quotient_to_single(&numerator, &denominator));
    }

    #[test]
    fn of_complex_items(items in prop::collection::vec([ordinary(), ordinary()], 1..40)) {
        let moments = ComplexMoments::of(&items);
        let part = |part: usize| sum(items.iter().map(|item| item[part]));
        let parts = [part(0), part(1)];
        let n = BigInt::from(items.len());
        prop_assert_eq!(moments.mean(), parts.each_ref().map(|part| quotient_to_double(part, &n)));
        let squares = dot(items.as_flattened(), items.as_flattened());
        let (numerator, denominator) = variance(&parts, &squares, items.len(), 0);
        prop_assert_eq!(moments.variance(0.0), quotient_to_double(&numerator, &denominator));
        let kept = ComplexMoments::<f64>::of_bytes(&moments.to_bytes());
        prop_assert_eq!(kept, Ok(moments));
    }

    #[test]
    fn weighted(pairs in prop::collection::vec((finite(), finite()), 1..40)) {
        let (x, w): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let mut mean = WeightedMean::new();
        mean.add(&x, &w);
        let (above, below) = (dot(&x, &w), sum(w.iter().copied()));
        if above != BigInt::ZERO && below != BigInt::ZERO {
            let above: BigInt = above << UNITS_PER_ONE;
            let above = if below < BigInt::ZERO { -above } else { above };
            let below = BigInt::from(below.magnitude().clone());
            prop_assert_eq!(mean.value(), quotient_to_double(&above, &below));
        } else if below == BigInt::ZERO {
            prop_assert!(!mean.value().is_finite());
        } else {
            prop_assert_eq!(mean.value(), 0.0);
        }
    }

    /// Removed items, in any order and pieces, leave no trace in values, counts or bytes.
    #[test]
    fn removals(
        kept in prop::collection::vec(any_item(), 0..50),
        removed in prop::collection::vec(any_item(), 0..50),
        pieces in 1..20_usize,
        order: u64,
    ) {
        let expected = Moments::of(&kept);
        let mut items = kept;
        items.extend(&removed);
        shuffle(&mut items, order);
        let mut moments = Moments::of(&items);
        let mut products = ProductSum::of(&items, &items);
        for piece in removed.rchunks(pieces) {
            moments.remove(piece).expect("they were added");
            products.remove(piece, piece).expect("they were added");
        }
        prop_assert_eq!(&moments, &expected);
        prop_assert_eq!(moments.to_bytes(), expected.to_bytes());
        prop_assert_eq!(&products, expected.squares());
    }

    #[test]
    fn bytes(items in prop::collection::vec(any_item(), 0..300), order: u64, at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let sum = Sum::of(&items);
        let bytes = sum.to_bytes();
        let mut others = items;
        shuffle(&mut others, order);
        let (left, right) = others.split_at(others.len() / 2);
        let mut merged = Sum::of(right);
        merged.merge(&Sum::of(left)).unwrap();
        prop_assert_eq!(&merged.to_bytes(), &bytes);
        prop_assert_eq!(Sum::<f64>::of_bytes(&bytes), Ok(sum));
        for length in 0..bytes.len() {
            prop_assert!(Sum::<f64>::of_bytes(&bytes[..length]).is_err());
        }
        // Bytes with a changed bit are refused, or hold another sum.
        let mut changed = bytes.clone();
        let at = at.index(bytes.len());
        changed[at] ^= 1_u8 << bit;
        if let Ok(other) = Sum::<f64>::of_bytes(&changed) {
            prop_assert_ne!(other, sum);
            prop_assert_eq!(other.to_bytes(), changed);
        }
    }
}

/// Items of all kinds, many of them infinite, NaN or -0.0.
fn any_item() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => finite(),
        1 => Just(-0.0),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(f64::NAN),
    ]
}

fn shuffle(items: &mut [f64], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        items.swap(last, (state >> 33) as usize % (last + 1));
    }
}

/// Checks a weighted mean of about 2^3123.
#[test]
fn quotients_far_above_all_doubles_are_infinite() {
    let mut mean = WeightedMean::new();
    let large = f64::MAX;
    mean.add(&[large, -large, 0.0], &[large, -large, 5e-324]);
    assert_eq!(mean.value(), f64::INFINITY);
}

#[test]
fn negative_zeros_that_are_left() {
    for spare in [1, 40, 5000] {
        let mut sum = Sum::of(&vec![-0.0_f64; spare]);
        sum.add(&[1.0, 0.0]);
        assert_eq!(sum.value(), 1.0);
        sum.remove(&[1.0]).unwrap();
        assert_eq!(sum.value().to_bits(), 0);
        sum.remove(&[0.0]).unwrap();
        assert_eq!(sum.value().to_bits(), (-0.0_f64).to_bits());
    }
}

#[test]
fn more_than_was_added_cannot_be_removed() {
    let items = [1.0, f64::NAN, -0.0];
    let mut sum = Sum::of(&items);
    let before = sum;
    let error = sum.remove(&[f64::NAN, f64::NAN]).unwrap_err().to_string();
    assert_eq!(error, "cannot remove 2 NaNs: the sum holds 1");
    let error = sum.remove(&[1.0; 4]).unwrap_err().to_string();
    assert_eq!(error, "cannot remove 4 items: the sum holds 3");
    let error = sum.remove(&[f64::INFINITY]).unwrap_err().to_string();
    assert_eq!(error, "cannot remove 1 infinity: the sum holds 0");
    assert_eq!(sum, before);

    let mut complex = ComplexSum::new();
    complex.add(&[[1.0, -0.0]]);
    let before = complex;
    assert!(complex.remove(&[[-0.0, -0.0]]).is_err());
    assert_eq!(complex, before);
}

#[test]
fn bytes_of_others() {
    let bytes = Sum::of(&[1.5]).to_bytes();
    let error = |bytes: &[u8]| Sum::<f64>::of_bytes(bytes).unwrap_err().to_string();
    let kind = ProductSum::<f64>::of_bytes(&bytes).unwrap_err().to_string();
    assert_eq!(
        kind,
        "the bytes are a sum of f64, not a sum of products of f64"
    );
    let kind = Sum::<f32>::of_bytes(&bytes).unwrap_err().to_string();
    assert_eq!(kind, "the bytes are a sum of f64, not a sum of f32");
    assert_eq!(error(b"PK"), "the bytes are not an exact sum");
    assert_eq!(error(b""), "the bytes end too early");
    assert_eq!(error(b"tfx"), "the bytes end too early");
    let mut later = bytes.clone();
    later[3] = 9;
    assert_eq!(
        error(&later),
        "the bytes have format version 9, but only version 1 can be read"
    );
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(error(&longer), "1 bytes follow the sum");
    let mut counted = bytes.clone();
    counted[16] = 2;
    let told = "the bytes of the sum are damaged: the counts of items contradict each other";
    assert_eq!(error(&counted), told);
    assert_eq!(
        Sum::<f64>::of_bytes(&bytes[..9]),
        Err(BytesError::Truncated)
    );
}

/// Checks the format byte by byte.
#[test]
fn bytes_are_these() {
    let bytes = Sum::of(&[1.5, -0.0, -3.0, f64::NAN]).to_bytes();
    let mut expected = b"tfx\x01\x01\x08\0\0".to_vec();
    for count in [4_u64, 1, 1, 0, 0] {
        expected.extend(count.to_le_bytes());
    }
    // -1.5 in units of 2^-50, which is 16 words of 64 bits above 2^-1074.
    expected.extend((-50_i32).to_le_bytes());
    expected.extend(8_u32.to_le_bytes());
    expected.extend((-3_i64 << 49).to_le_bytes());
    assert_eq!(bytes, expected);
    assert_eq!(Sum::<f32>::new().to_bytes().len(), 56);
}
