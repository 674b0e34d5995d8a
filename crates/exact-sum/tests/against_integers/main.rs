//! Compares every sum with integers of any size.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "random numbers are truncated on purpose"
)]
#![expect(clippy::float_cmp, reason = "sums are exact")]

mod compact;
mod damaged;
mod keyed;
mod keyed_kinds;
mod limits;
mod moments;
mod partial;
mod products;
mod ranges;
mod rolling_statistics;
mod rolling_windows;
mod statistics;

use exact_sum::{Accumulator, ComplexProductSum, ComplexSum, ProductSum, Sum};
use integer_sums::units::{dot, root, sum, to_double, to_single};
use proptest::prelude::*;
use simd_kernels::Level;

/// Finite doubles of all kinds: of any bits, of few exponents, small integers, and others.
fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
        2 => (any::<i32>(), -40..40).prop_map(|(x, exponent)| f64::from(x) * 2_f64.powi(exponent)),
        1 => (-3..3).prop_map(f64::from),
        1 => (0..1_u64 << 53, any::<bool>()).prop_map(|(bits, sign)| f64::from_bits(bits | u64::from(sign) << 63)),
        1 => (0..4_u64).prop_map(|below| f64::from_bits(f64::MAX.to_bits() - below)),
        1 => Just(-0.0),
    ]
}

/// `f32` of any bits, or of 16 exponents.
fn floats(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f32>> {
    (prop::collection::vec(any::<u32>(), len), any::<bool>()).prop_map(|(bits, narrow)| {
        let narrowed = |bits: u32| bits & 0x87FF_FFFF | 0x3800_0000;
        let item = |bits: u32| f32::from_bits(if narrow { narrowed(bits) } else { bits });
        bits.into_iter().map(item).collect()
    })
}

/// Items of one range of exponents, computed from a seed, since drawing a long slice item by item takes too long.
fn in_range(len: usize, (low, high): (i32, i32), signs: bool, seed: u64) -> Vec<f64> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    };
    let item = |bits: u64, place: u64| {
        let exponent = low + (place % (high - low + 1) as u64) as i32;
        let fraction = bits >> 12;
        let sign = if signs { bits << 63 } else { 0 };
        f64::from_bits(sign | ((exponent + 1023) as u64) << 52 | fraction)
    };
    (0..len).map(|_| item(next(), next() >> 20)).collect()
}

fn ranges() -> impl Strategy<Value = (i32, i32)> {
    prop_oneof![
        (-1022..1024).prop_map(|low| (low, low)),
        (-1022..1000, 1..23).prop_map(|(low, binades)| (low, low + binades)),
        (-1022..900, 30..124).prop_map(|(low, binades)| (low, low + binades)),
        Just((-1022, 1023)),
    ]
}

/// The sum, computed with each instruction set. All results must agree.
fn by_all_levels(items: &[f64]) -> f64 {
    let zeros = items.iter().filter(|item| item.to_bits() == 1 << 63);
    let zeros = zeros.count() as u64;
    let value = |level| {
        let mut sum = Sum::new();
        sum.add_at(level, items);
        // The second count is of negative zeros.
        assert_eq!(sum.to_bytes()[16..24], zeros.to_le_bytes(), "{level}");
        sum.value()
    };
    let values: Vec<f64> = Level::available().map(value).collect();
    let are_alike = values
        .iter()
        .all(|value| value.to_bits() == values[0].to_bits());
    assert!(are_alike, "{values:?}");
    assert_eq!(exact_sum::sum(items).to_bits(), values[0].to_bits());
    values[0]
}

fn expected(items: &[f64]) -> f64 {
    let is_negative_zero = |item: &f64| item.to_bits() == (-0.0_f64).to_bits();
    if !items.is_empty() && items.iter().all(is_negative_zero) {
        -0.0
    } else {
        to_double(&sum(items.iter().copied()))
    }
}

proptest! {
    #[test]
    fn few_items_of_all_kinds(items in prop::collection::vec(finite(), 0..200)) {
        prop_assert_eq!(by_all_levels(&items).to_bits(), expected(&items).to_bits());
    }

    #[test]
    fn many_items_of_a_range(len in 0..20_000_usize, range in ranges(), signs: bool, seed: u64) {
        let items = in_range(len, range, signs, seed);
        prop_assert_eq!(by_all_levels(&items).to_bits(), expected(&items).to_bits());
    }

    /// Most plain additions of such items are not rounded.
    #[test]
    fn items_of_few_places(
        len in 0..20_000_usize,
        low in -1022..1000,
        (binades, places) in (0..24, 0..30_u32),
        zeros in 0..3_u64,
        odd in prop::collection::vec((any::<prop::sample::Index>(), finite()), 0..3),
        seed: u64,
    ) {
        let mut items = in_range(len, (low, low + binades), true, seed);
        for (number, item) in items.iter_mut().enumerate() {
            let bits = item.to_bits() & u64::MAX << (52 - places);
            let is_zero = (seed >> (number % 61)) % 4 < zeros;
            *item = f64::from_bits(if is_zero { bits & 1 << 63 } else { bits });
        }
        for (index, item) in odd {
            if len > 0 {
                items[index.index(len)] = item;
            }
        }
        let expected = expected(&items);
        prop_assert_eq!(by_all_levels(&items).to_bits(), expected.to_bits());
        prop_assert_eq!(exact_sum::sum(&items).to_bits(), expected.to_bits());
        let (pairs, _) = items.as_chunks();
        let parts = [0, 1].map(|part| -> Vec<f64> { pairs.iter().map(|pair: &[f64; 2]| pair[part]).collect() });
        let mut complex = ComplexSum::new();
        complex.add(pairs);
        prop_assert_eq!(complex.value().map(f64::to_bits), parts.each_ref().map(|part| Sum::of(part).value().to_bits()));
        let floats: Vec<f32> = items.iter().map(|item| *item as f32).filter(|x| x.is_finite()).collect();
        let exact = sum(floats.iter().copied().map(f64::from));
        prop_assert_eq!((exact_sum::sum(&floats) + 0.0).to_bits(), (to_single(&exact) + 0.0).to_bits());
        let mut singly = Sum::new();
        floats.iter().for_each(|item| singly.add(&[*item]));
        prop_assert_eq!(singly, Sum::of(&floats));
    }

    /// Successive blocks have different ranges, and some have an odd item.
    #[test]
    fn blocks_that_are_not_alike(
        blocks in prop::collection::vec((ranges(), any::<bool>(), any::<u64>()), 1..6),
        odd in prop::collection::vec((any::<prop::sample::Index>(), finite()), 0..4),
    ) {
        let mut items = Vec::new();
        for (range, signs, seed) in blocks {
            items.extend(in_range(4096, range, signs, seed));
        }
        for (index, item) in odd {
            let index = index.index(items.len());
            items[index] = item;
        }
        prop_assert_eq!(by_all_levels(&items).to_bits(), expected(&items).to_bits());
    }

    /// Items in long blocks have one range of exponents, except for a few odd ones.
    #[test]
    fn long_blocks_with_odd_items(
        len in 12_000..60_000_usize,
        low in -1022..990,
        odd in prop::collection::vec((any::<prop::sample::Index>(), finite()), 0..4),
        signs: bool,
        seed: u64,
    ) {
        let mut items = in_range(len, (low, low + 8), signs, seed);
        for (index, item) in &odd {
            items[index.index(len)] = *item;
        }
        prop_assert_eq!(by_all_levels(&items).to_bits(), expected(&items).to_bits());
    }

    /// Runs of items, some of them too far apart for one integer.
    #[test]
    fn parts_far_apart(
        runs in prop::collection::vec((30..700_usize, -1022..1000, any::<u64>()), 1..6),
        last in finite(),
    ) {
        let run = |&(len, low, seed): &(usize, i32, u64)| in_range(len, (low, low + 4), true, seed);
        let mut items: Vec<f64> = runs.iter().flat_map(run).collect();
        items.push(last);
        prop_assert_eq!(by_all_levels(&items).to_bits(), expected(&items).to_bits());
    }

    #[test]
    fn cancellation(len in 1..3000_usize, range in ranges(), seed: u64, left in finite()) {
        let mut items = in_range(len, range, true, seed);
        let negatives: Vec<f64> = items.iter().rev().map(|item| -item).collect();
        items.extend(negatives);
        items.insert((seed % len as u64) as usize, left);
        let expected = if left == 0.0 { 0.0 } else { left };
        prop_assert_eq!(by_all_levels(&items).to_bits(), expected.to_bits());
    }

    #[test]
    fn any_parts_in_any_order_merge_to_the_same(
        items in prop::collection::vec(finite(), 1..300),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        seed: u64,
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(items.len())).collect();
        cuts.sort_unstable();
        let mut rest = &items[..];
        let mut parts = Vec::new();
        for cut in cuts.into_iter().rev() {
            let (before, after) = rest.split_at(cut.min(rest.len()));
            rest = before;
            parts.push(after);
        }
        parts.push(rest);
        let middle = (seed % parts.len() as u64) as usize;
        parts.rotate_left(middle);
        let mut merged = Sum::new();
        let mut words = Sum::<f64>::new().words();
        let mut integers = Sum::<f64>::new().integers();
        for part in parts {
            let mut sum = Sum::new();
            sum.add(part);
            merged.merge(&sum).unwrap();
            Sum::<f64>::merge_words(&mut words, &sum.words());
            for (integer, own) in integers.iter_mut().zip(sum.integers()) {
                *integer += own;
            }
        }
        let [mut of_words, mut of_integers] = [Sum::<f64>::new(); 2];
        of_words.add_words(&words).unwrap();
        of_integers.add_integers(&integers).unwrap();
        for sent in [of_words, of_integers] {
            prop_assert_eq!(sent.value().to_bits(), expected(&items).to_bits());
            prop_assert_eq!(sent.items(), items.len() as u64);
        }
        prop_assert_eq!(merged.value().to_bits(), expected(&items).to_bits());
        prop_assert_eq!(merged.items(), items.len() as u64);
    }

    /// Sums of rows equal the sums of their columns, however the rows are divided into calls.
    #[test]
    fn rows(width in 1..70_usize, counts in prop::collection::vec(0..700_usize, 1..4), seed: u64) {
        let rows: usize = counts.iter().fold(0, |sum, count| sum + count);
        let items = in_range(width * rows, (-30, 30), true, seed);
        let mut sums = vec![Sum::new(); width];
        let mut rest = &items[..];
        for count in counts {
            let (piece, others) = rest.split_at(count * width);
            Sum::add_rows(&mut sums, piece);
            rest = others;
        }
        for (column, sum) in sums.iter().enumerate() {
            let column: Vec<f64> = items.chunks_exact(width).map(|row| row[column]).collect();
            prop_assert_eq!(sum.value().to_bits(), expected(&column).to_bits());
            prop_assert_eq!(*sum, Sum::of(&column));
        }
        let mut values = vec![f64::NAN; width];
        exact_sum::sum_rows(&items, width, &mut values);
        prop_assert!(values.iter().zip(&sums).all(|(value, sum)| value.to_bits() == sum.value().to_bits()));
    }

    #[cfg(feature = "par")]
    #[test]
    fn threads(len in 0..600_000_usize, range in ranges(), seed: u64) {
        let (x, y) = (in_range(len, range, true, seed), in_range(len, range, true, !seed));
        prop_assert_eq!(exact_sum::par::sum(&x).to_bits(), exact_sum::sum(&x).to_bits());
        prop_assert_eq!(exact_sum::par::dot(&x, &y).to_bits(), exact_sum::dot(&x, &y).to_bits());
        prop_assert_eq!(exact_sum::par::norm(&x).to_bits(), exact_sum::norm(&x).to_bits());
    }

    #[test]
    fn sums_of_floats(items in floats(0..6000)) {
        let items: Vec<f32> = items.into_iter().filter(|x| x.is_finite()).collect();
        let exact = sum(items.iter().copied().map(f64::from));
        let squares = {
            let items: Vec<f64> = items.iter().copied().map(f64::from).collect();
            dot(&items, &items)
        };
        let mut own = Sum::<f32>::new();
        own.add(&items);
        if !items.is_empty() {
            prop_assert_eq!((own.value() + 0.0).to_bits(), to_single(&exact).to_bits());
        }
        let mut magnitudes = Sum::<f32>::new();
        magnitudes.add_magnitudes(&items);
        let exact = sum(items.iter().copied().map(f32::abs).map(f64::from));
        prop_assert_eq!(magnitudes.value().to_bits(), to_single(&exact).to_bits());
        let mut own = ProductSum::<f32>::new();
        own.add_squares(&items);
        prop_assert_eq!(own.value().to_bits(), to_single(&squares).to_bits());
    }

    #[test]
    fn dots_of_all_kinds(pairs in prop::collection::vec((finite(), finite()), 0..200)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let exact = dot(&x, &y);
        for level in Level::available() {
            let mut own = ProductSum::new();
            own.add_at(level, &x, &y);
            let value = own.value();
            let expected = to_double(&exact);
            prop_assert!(value == expected, "{}: {:e}, not {:e}", level, value, expected);
        }
    }

    #[test]
    fn long_dots(len in 0..5000_usize, ranges in (ranges(), ranges()), signs: bool, seed: u64) {
        let x = in_range(len, ranges.0, signs, seed);
        let y = in_range(len, ranges.1, signs, !seed);
        let expected = to_double(&dot(&x, &y));
        for level in Level::available() {
            let mut own = ProductSum::new();
            own.add_at(level, &x, &y);
            prop_assert_eq!(own.value().to_bits(), expected.to_bits(), "{}", level);
        }
    }

    #[test]
    fn norms(items in prop::collection::vec(finite(), 0..100), narrow: bool) {
        let narrowed = |x: &f64| f64::from_bits(x.to_bits() & !(0x7FF << 52) | 1023 << 52);
        let items: Vec<f64> = if narrow { items.iter().map(narrowed).collect() } else { items };
        let mut own = ProductSum::new();
        own.add_squares(&items);
        prop_assert_eq!(own.root().to_bits(), root(&dot(&items, &items)).to_bits());
    }

    #[test]
    fn complex_items(items in prop::collection::vec((finite(), finite(), finite(), finite()), 0..100)) {
        let x: Vec<[f64; 2]> = items.iter().map(|&(re, im, ..)| [re, im]).collect();
        let y: Vec<[f64; 2]> = items.iter().map(|&(.., re, im)| [re, im]).collect();
        let mut own = ComplexSum::new();
        own.add(&x);
        let parts: [Vec<f64>; 2] = [0, 1].map(|part| x.iter().map(|x| x[part]).collect());
        prop_assert_eq!(own.value().map(f64::to_bits), parts.map(|part| expected(&part).to_bits()));
        for (sign, is_conjugate) in [(1.0, false), (-1.0, true)] {
            let signed: Vec<[f64; 2]> = x.iter().map(|[re, im]| [*re, sign * im]).collect();
            let negated: Vec<[f64; 2]> = signed.iter().map(|[re, im]| [*re, -im]).collect();
            let swapped: Vec<[f64; 2]> = y.iter().map(|[re, im]| [*im, *re]).collect();
            let real = to_double(&dot(negated.as_flattened(), y.as_flattened()));
            let imaginary = to_double(&dot(signed.as_flattened(), swapped.as_flattened()));
            let mut own = ComplexProductSum::new();
            if is_conjugate { own.add_conjugate(&x, &y) } else { own.add(&x, &y) }
            let value = own.value();
            prop_assert!(value == [real, imaginary], "{:?}, not {:?}", value, [real, imaginary]);
        }
    }
}

/// Checks sums that are doubles, midpoints between two doubles, or next to such midpoints, at every exponent and at both ends.
#[test]
fn ties_go_to_even_at_every_exponent() {
    for biased in 0..2047_u64 {
        for fraction in [0, 1, 2, (1 << 52) - 2, (1 << 52) - 1] {
            let bits = biased << 52 | fraction;
            let x = f64::from_bits(bits);
            let above = f64::from_bits(bits + 1);
            let half = (above - x) / 2.0;
            let value = |items: &[f64]| by_all_levels(items);
            assert_eq!(value(&[x]), x);
            if half == 0.0 || !half.is_finite() {
                continue;
            }
            let even = if bits % 2 == 0 { x } else { above };
            let tiny = f64::from_bits(1);
            assert_eq!(value(&[x, half]), even);
            assert_eq!(value(&[-x, -half]), -even);
            if half > tiny {
                assert_eq!(value(&[x, half, -tiny]), x);
                assert_eq!(value(&[x, half, tiny]), above);
            }
        }
    }
    let half = 2_f64.powi(970);
    assert_eq!(by_all_levels(&[f64::MAX, half]), f64::INFINITY);
    assert_eq!(
        by_all_levels(&[f64::MAX, half, -f64::from_bits(1)]),
        f64::MAX
    );
    assert_eq!(by_all_levels(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
}

/// Checks that the lower accumulators have room even if all rests are as large as possible and of one sign.
#[test]
fn rests_of_one_sign() {
    for exponent in [-1000, -300, 0, 500, 1000] {
        // Places near the last place of an accumulator for such items: see `SplitScale::for_exponent`.
        for place in 36..46 {
            let one = 2_f64.powi(exponent);
            let rest = one * (2_f64.powi(-place - 1) - f64::EPSILON);
            for sign in [1.0, -1.0] {
                let items = vec![sign * (one + rest); 4096];
                assert_eq!(
                    by_all_levels(&items),
                    4096.0 * (one + rest) * sign,
                    "{exponent} {place}"
                );
                let items = vec![sign * (one - rest); 4096];
                assert_eq!(
                    by_all_levels(&items),
                    4096.0 * (one - rest) * sign,
                    "{exponent} {place}"
                );
            }
        }
    }
}

#[test]
fn special_items() {
    for len in [1, 5, 100, 5000] {
        let with = |specials: &[f64]| {
            let mut items = vec![1.0; len];
            items.extend(specials);
            items.extend(vec![-1e300; len]);
            by_all_levels(&items)
        };
        let (infinity, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!(with(&[infinity]), infinity);
        assert_eq!(with(&[-infinity, -infinity]), -infinity);
        for specials in [&[infinity, -infinity][..], &[nan], &[-nan, infinity]] {
            assert_eq!(with(specials).to_bits(), nan.to_bits());
        }
    }
    let mut dot = ProductSum::new();
    dot.add(&[0.0, 1.0], &[f64::INFINITY, 1.0]);
    assert!(dot.value().is_nan());
    let mut dot = ProductSum::new();
    dot.add(&[-2.0, 1.0], &[f64::INFINITY, 1.0]);
    assert_eq!(dot.value(), f64::NEG_INFINITY);
    assert!(dot.root().is_nan());
}

#[test]
fn zeros() {
    let bits = |items: &[f64]| by_all_levels(items).to_bits();
    assert_eq!(bits(&[]), 0);
    for len in [1, 30, 5000] {
        let mut items = vec![-0.0; len];
        assert_eq!(bits(&items), (-0.0_f64).to_bits());
        items[len / 2] = 0.0;
        assert_eq!(bits(&items), 0);
        assert_eq!(bits(&[&items[..], &[1.0, -1.0]].concat()), 0);
    }
    let tiny = f64::from_bits(1);
    for (x, y, expected) in [
        (-0.0, 1.0, -0.0_f64),
        (0.0, 1.0, 0.0),
        (tiny, tiny, 0.0),
        (-tiny, tiny, -0.0),
    ] {
        let mut dot = ProductSum::new();
        dot.add(&[x], &[y]);
        assert_eq!(dot.value().to_bits(), expected.to_bits(), "{x} * {y}");
    }
}

/// Checks that a sum does not change when it is converted to words and back, or to integers and back.
fn check_sent<A: Accumulator>(sum: &A) {
    let [mut of_words, mut of_integers] = [A::default(), A::default()];
    let mut words = A::default().words();
    A::merge_words(&mut words, &sum.words());
    of_words.add_words(&words).expect("there is room");
    of_integers
        .add_integers(&sum.integers())
        .expect("there is room");
    assert_eq!([&of_words, &of_integers], [sum; 2]);
}

/// Every kind of sum is unchanged after it was sent. Items include negative numbers, zeros of both signs, infinities and NaNs.
#[test]
fn sums_of_every_kind_are_sent_whole() {
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    let lists: [&[f64]; 9] = [
        &[],
        &[-0.0],
        &[0.0, -0.0],
        &[-1.0, -0.25],
        &[1e30, -1e30, -1e-40],
        &[infinity, 1.0],
        &[-infinity, 1.0],
        &[infinity, -infinity],
        &[nan, -infinity],
    ];
    for x in lists {
        let singles: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let pairs: Vec<[f64; 2]> = x.iter().map(|&x| [x, -x]).collect();
        check_sent(&Sum::of(x));
        check_sent(&Sum::of(&singles));
        check_sent(&ProductSum::of(x, &vec![1.0; x.len()]));
        check_sent(&ProductSum::of(&singles, &vec![1.0; x.len()]));
        let mut sum = ComplexSum::new();
        sum.add(&pairs);
        check_sent(&sum);
        let mut sum = ComplexProductSum::new();
        sum.add(&pairs, &pairs);
        check_sent(&sum);
    }
}

/// Items at every place of a limb, added one by one until carries must be propagated.
#[test]
fn carries_of_many_additions() {
    for exponent in 0..32 {
        let item = -2_f64.powi(exponent).next_down();
        let mut sum = Sum::new();
        for _ in 0..4096 {
            sum.add(&[item]);
        }
        assert_eq!(sum.value(), 4096.0 * item);
    }
}
