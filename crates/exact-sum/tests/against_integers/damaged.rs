//! Checks that bytes with flipped bits are refused, or hold a sum that can be used like any other.

use std::fmt::Debug;

use exact_sum::{
    Accumulator, BytesError, CoMoments, ComplexMoments, ComplexProductSum, ComplexSum, Keyed,
    KeyedSlot, LimitError, Moments, Options, Powers, ProductSum, Slot, Statistic, Sum,
};
use proptest::prelude::*;

use super::finite;

fn items() -> impl Strategy<Value = Vec<f64>> {
    let item = prop_oneof![
        8 => finite(),
        2 => prop_oneof![Just(f64::MAX), Just(-f64::MAX)],
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::NAN)],
    ];
    prop::collection::vec(item, 0..40)
}

/// Flips bits of bytes. Bits of the first bytes, which hold counts and lengths, are flipped more often.
fn flipped(mut bytes: Vec<u8>, flips: &[(prop::sample::Index, u8, bool)]) -> Vec<u8> {
    for (at, bit, is_first) in flips {
        let at = at.index(if *is_first {
            bytes.len().min(64)
        } else {
            bytes.len()
        });
        bytes[at] ^= 1 << bit;
    }
    bytes
}

/// Merges a sum that was read from bytes with a copy of itself until there is no room, and calls `use_it` each time.
fn use_all<S: Clone + PartialEq + Debug>(
    mut read: S,
    to_bytes: impl Fn(&S) -> Vec<u8>,
    of_bytes: impl Fn(&[u8]) -> Result<S, BytesError>,
    merge: impl Fn(&mut S, &S) -> Result<(), LimitError>,
    mut use_it: impl FnMut(&mut S),
) {
    for _ in 0..64 {
        assert_eq!(of_bytes(&to_bytes(&read)).as_ref(), Ok(&read));
        use_it(&mut read.clone());
        let before = read.clone();
        if merge(&mut read, &before).is_err() {
            assert_eq!(read, before);
            return;
        }
        if read == before {
            return;
        }
    }
    unreachable!("a sum has no room for this many items");
}

fn check<A: Accumulator>(sum: &A, flip: impl Fn(Vec<u8>) -> Vec<u8>, use_it: impl FnMut(&mut A)) {
    let bytes = flip(sum.to_bytes());
    if let Ok(read) = A::of_bytes(&bytes) {
        assert_eq!(read.to_bytes(), bytes);
        let mut words = read.words();
        A::merge_words(&mut words, &read.words());
        use_all(read, A::to_bytes, A::of_bytes, A::merge, use_it);
    }
}

/// Uses a damaged slot if it can be read: adds items and removes them, and calls a function that computes statistics.
macro_rules! check_slot {
    ($slot:ident, [$($items:expr),+], $flip:expr, $statistics:expr) => {{
        let bytes = $flip($slot::of($($items),+).to_bytes());
        if let Ok(read) = $slot::of_bytes(&bytes) {
            assert_eq!(read.to_bytes(), bytes);
            use_all(
                read,
                |slot| slot.to_bytes(),
                $slot::of_bytes,
                $slot::merge,
                |slot| {
                    $statistics(&*slot);
                    slot.add($($items),+);
                    _ = slot.remove($($items),+);
                },
            );
        }
    }};
}

fn all_statistics(slot: &impl Slot) {
    for statistic in Statistic::ALL {
        for (ddof, bias) in [(1.0, false), (0.0, true)] {
            _ = slot.statistic(statistic, Options { ddof, bias });
        }
    }
}

fn check_keyed<S: KeyedSlot>(keys: &[u8], items: S::Items<'_>, flip: impl Fn(Vec<u8>) -> Vec<u8>) {
    let mut sums = Keyed::<S>::new(6).expect("there is room");
    sums.add(keys, items).expect("the keys are right");
    let bytes = flip(sums.to_bytes());
    if let Ok(read) = Keyed::<S>::of_bytes(&bytes) {
        assert_eq!(read.to_bytes(), bytes);
        let (to_bytes, of_bytes) = (Keyed::to_bytes, Keyed::of_bytes);
        use_all(read, to_bytes, of_bytes, Keyed::merge, |sums| {
            for statistic in Statistic::ALL {
                _ = sums.statistics(statistic, statistic.defaults());
            }
            if sums.add(keys, items).is_ok() {
                sums.remove(keys, items).expect("they were added");
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn bits(items in items(), flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8, any::<bool>()), 1..4)) {
        let flip = |bytes| flipped(bytes, &flips);
        let singles: Vec<f32> = items.iter().map(|item| *item as f32).collect();
        check(&Sum::of(&items), flip, |sum| {
            _ = (sum.value(), sum.mean());
            sum.add(&items);
            _ = sum.remove(&items);
        });
        check(&Sum::of(&singles), flip, |sum| _ = (sum.value(), sum.mean()));
        check(&ProductSum::of(&items, &items), flip, |sum| _ = (sum.value(), sum.root(), sum.mean()));
        check(&ProductSum::of(&singles, &singles), flip, |sum| _ = (sum.value(), sum.root()));
        let (pairs, _) = items.as_chunks::<2>();
        let mut sum = ComplexSum::new();
        sum.add(pairs);
        check(&sum, flip, |sum| _ = (sum.value(), sum.mean()));
        let mut products = ComplexProductSum::new();
        products.add(pairs, pairs);
        check(&products, flip, |sum| _ = (sum.value(), sum.mean()));
        check_slot!(Moments, [&items], flip, all_statistics);
        check_slot!(Moments, [&singles], flip, all_statistics);
        check_slot!(ComplexMoments, [pairs], flip, |moments: &ComplexMoments<f64>| {
            _ = (moments.mean(), moments.variance(1.0), moments.standard_deviation(0.0));
        });
        let others: Vec<f64> = items.iter().rev().copied().collect();
        check_slot!(CoMoments, [&items, &others], flip, all_statistics);
        check_slot!(CoMoments, [&singles, &singles], flip, all_statistics);
        check_slot!(Powers, [&items], flip, all_statistics);
        check_slot!(Powers, [&singles], flip, all_statistics);
        let keys: Vec<u8> = (0..6).cycle().take(items.len()).collect();
        check_keyed::<Sum<f64>>(&keys, &items, flip);
        check_keyed::<Sum<f32>>(&keys, &singles, flip);
        check_keyed::<Moments<f64>>(&keys, &items, flip);
        check_keyed::<Moments<f32>>(&keys, &singles, flip);
        for item in &items {
            let mut bytes = Vec::new();
            let mut sum = Sum::of(&items);
            sum.write_partial(&mut bytes);
            let bytes = flip(bytes);
            let mut sums = Keyed::<Sum<f64>>::new(1).unwrap();
            if sums.add_partials(&[0_u8], [&bytes[..]]).is_ok() {
                use_all(sums, Keyed::to_bytes, Keyed::<Sum<_>>::of_bytes, Keyed::merge, |sums| _ = sums.values());
            }
            sum = Sum::of(&[*item]);
            if sum.add_partial(items.len() as u64, &bytes).is_ok() {
                use_all(sum, Sum::to_bytes, Sum::of_bytes, Sum::merge, |sum| _ = sum.mean());
            }
        }
    }
}

/// The bytes of a sum of doubles or floats: a header, counts and a number.
fn sum(size: u8, items: u64, unit: i32, words: &[u64]) -> Vec<u8> {
    let mut bytes = b"tfx\x01\x01".to_vec();
    bytes.extend([size, 0, 0]);
    for count in [items, 0, 0, 0, 0] {
        bytes.extend(count.to_le_bytes());
    }
    bytes.extend(unit.to_le_bytes());
    bytes.extend(
        u32::try_from(8 * words.len())
            .expect("there is room")
            .to_le_bytes(),
    );
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

/// Sums of squares that are too small, even slightly, are refused.
#[test]
fn squares_are_those_of_the_items() {
    let bytes = |items: &[f64], others: &[f64]| {
        let header = &Moments::of(items).to_bytes()[..8];
        let sum = Sum::of(items).to_bytes();
        let squares = ProductSum::of(others, others).to_bytes();
        [header, &sum[8..], &squares[8..]].concat()
    };
    for (items, others) in [
        (&[3.0, 3.0, 3.0][..], &[3.0, 3.0, 2.0][..]),
        (&[1e300, 1e300], &[1e300, 1e300_f64.next_down()]),
        (&[1.0, 1.0 + f64::EPSILON], &[1.0, 1.0]),
        (&[5e-324], &[0.0]),
        (&[1e200, -1.0], &[1.0, 1.0]),
    ] {
        let read = Moments::<f64>::of_bytes(&bytes(items, items));
        let read = read.map(|read| read.to_bytes());
        assert_eq!(read, Ok(Moments::of(items).to_bytes()));
        let wrong = BytesError::Corrupted {
            what: "no items have this sum and this sum of squares",
        };
        let read = Moments::<f64>::of_bytes(&bytes(items, others)).map(drop);
        assert_eq!(read.as_ref(), Err(&wrong));
        let (mut sum, mut squares) = (Vec::new(), [Vec::new(), Vec::new()]);
        Sum::of(items).write_partial(&mut sum);
        for (bytes, factors) in squares.iter_mut().zip([items, others]) {
            ProductSum::of(factors, factors).write_partial(bytes);
        }
        for (squares, expected) in squares.iter().zip([Ok(()), Err(wrong)]) {
            let mut moments = Keyed::<Moments<f64>>::new(2).unwrap();
            let count = [items.len() as u64];
            let added = moments.add_partials(&[1_u8], &count, [&sum[..]], [&squares[..]]);
            assert_eq!(added, expected);
            assert_eq!(moments.counts().unwrap()[1] > 0, expected.is_ok());
        }
        let mut moments = Keyed::<Moments<_>>::new(1).unwrap();
        moments.add(&vec![0_u8; items.len()], items).unwrap();
        assert_eq!(
            Keyed::<Moments<_>>::of_bytes(&moments.to_bytes()).as_ref(),
            Ok(&moments)
        );
    }
}

/// The bytes of a sum's number, which follow the header and the counts.
fn number(sum: &[u8]) -> &[u8] {
    &sum[8 + 5 * 8..]
}

/// Sums of products that are too large, even slightly, are refused.
#[test]
fn products_are_those_of_the_items() {
    let wrong = BytesError::Corrupted {
        what: "no pairs have these sums of squares and products",
    };
    let of = |x: &[f64], y: &[f64], factors: [&[f64]; 2]| {
        let header = &CoMoments::of(x, y).to_bytes()[..8];
        let [sum, other] = [x, y].map(|items| Sum::of(items).to_bytes());
        let products = [[x, x], [y, y], factors].map(|[x, y]| ProductSum::of(x, y).to_bytes());
        let [xx, yy, xy] = products.each_ref().map(|sum| number(sum));
        CoMoments::<f64>::of_bytes(&[header, &sum[8..], &other[8..], xx, yy, xy].concat())
    };
    const NAN: f64 = f64::NAN;
    for (x, y, others) in [
        (
            &[1.0, 2.0][..],
            &[2.0, 4.0][..],
            &[2.0, 4.0_f64.next_up()][..],
        ),
        (&[3.0, 3.0], &[1.0, 5.0], &[1.0, 4.0]),
        (&[1.0, -1.0, NAN], &[1.0, 1.0, 1.0], &[2.0, 0.5, 1.0]),
        (&[5e-324], &[1.0], &[2.0]),
    ] {
        assert_eq!(of(x, y, [x, y]), Ok(CoMoments::of(x, y)));
        let finite: Vec<f64> = x
            .iter()
            .map(|x| if x.is_nan() { 1.0 } else { *x })
            .collect();
        assert_eq!(
            of(x, y, [&finite, others]).as_ref(),
            Err(&wrong),
            "{x:?} {y:?}"
        );
    }
}

/// Sums of powers that no items have are refused: sums that are too small, even slightly, or inconsistent.
#[test]
fn powers_are_those_of_the_items() {
    // The bytes of an integer, in units of 2^`unit`.
    let power = |integer: i64, unit: i32| {
        let mut bytes = unit.to_le_bytes().to_vec();
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend((integer << -unit).to_le_bytes());
        bytes
    };
    let wrong = BytesError::Corrupted {
        what: "no items have these sums of powers",
    };
    for (items, cubes, fourths, others) in [
        (&[1.0, 2.0][..], 9, 17, &[(9, 16), (10, 17)][..]),
        (&[3.0, 3.0], 54, 162, &[(54, 163), (54, 161), (53, 162)]),
        (&[1.0, 1.0, -3.0, f64::NAN], -25, 83, &[(25, 83), (-25, 40)]),
    ] {
        let read = |(cubes, fourths): (i64, i64)| {
            let header = &Powers::of(items).to_bytes()[..8];
            let [sum, squares] = [
                &Sum::of(items).to_bytes()[8..],
                &ProductSum::of(items, items).to_bytes(),
            ];
            let powers = [power(cubes, -22), power(fourths, -8)].concat();
            Powers::<f64>::of_bytes(&[header, sum, number(squares), &powers].concat())
        };
        assert_eq!(read((cubes, fourths)), Ok(Powers::of(items)));
        for (cubes, fourths) in others {
            assert_eq!(
                read((*cubes, *fourths)).as_ref(),
                Err(&wrong),
                "{items:?} {cubes} {fourths}"
            );
        }
    }
}

#[test]
fn sums_of_squares_are_not_negative() {
    let negative = BytesError::Corrupted {
        what: "a sum of squares is negative",
    };
    for (count, squares) in [(0, -0.0_f64), (2, -0.0), (2, -1.0)] {
        let mut moments = Keyed::<Moments<f64>>::new(1).unwrap();
        let (sum, squares) = (0.0_f64.to_le_bytes(), squares.to_le_bytes());
        let added = moments.add_partials(&[0_u8], &[count], [&sum[..]], [&squares[..]]);
        assert_eq!(added.as_ref(), Err(&negative));
    }
}

#[test]
fn numbers_are_those_that_so_many_items_can_have() {
    let one =
        |items, unit, words: &[u64]| Sum::<f64>::of_bytes(&sum(8, items, unit, words)).is_ok();
    // 2^(974 + 50) is more than the largest item, and less than twice that item.
    assert!(one(1, 974, &[(1 << 50) - 1]) && !one(1, 974, &[1 << 50]) && one(2, 974, &[1 << 50]));
    assert!(!one(0, -50, &[1]) && one(1, -50, &[1]) && one(0, 0, &[]));
    assert!(!one(1, 974, &[1 << 62, 1 << 62]) && !one(u64::MAX, -50, &[1]));
    assert!(one(i64::MAX as u64, 1038, &[(1 << 49) - 1]));
    assert!(!one(i64::MAX as u64, 1038, &[1 << 49]));
    let single =
        |items, unit, words: &[u64]| Sum::<f32>::of_bytes(&sum(4, items, unit, words)).is_ok();
    assert!(single(1, -149 + 256, &[(1 << 21) - 1]) && !single(1, -149 + 256, &[1 << 21]));
}

/// A key whose items are not finite keeps their counts, but no long number.
#[test]
fn counts_of_nans_need_little_memory() {
    let mut moments = Keyed::<Moments<f64>>::new(1000).unwrap();
    let keys: Vec<u32> = (0..1000).collect();
    moments.add(&keys, &[1.5; 1000]).unwrap();
    let before = moments.memory();
    moments.add(&keys, &[f64::NAN; 1000]).unwrap();
    let copy = moments.clone();
    moments.merge(&copy).unwrap();
    assert!(
        moments.memory() < before + 300_000,
        "{before}, then {}",
        moments.memory()
    );
    moments.unmerge(&copy).unwrap();
    assert_eq!(moments, copy);
}

/// If one of many keys has a long number, or a number far from those of other keys, no table for all keys is created for this number.
#[test]
fn few_bytes_need_little_memory() {
    const KEYS: usize = 100_000;
    let long: Vec<f64> = (-1000..1000)
        .step_by(40)
        .map(|place| 2_f64.powi(place))
        .collect();
    let mut sums = Keyed::<Sum<f64>>::new(KEYS).unwrap();
    sums.add(&vec![7_u32; long.len()], &long).unwrap();
    sums.add(&[1, 2, 3_u32], &[1.0, 2.0, 1e300]).unwrap();
    let bytes = sums.to_bytes();
    assert!(sums.memory() > 40_000_000 && bytes.len() < 1_000_000);
    let read = Keyed::<Sum<f64>>::of_bytes(&bytes).unwrap();
    assert!(read.memory() < 4 * bytes.len(), "{}", read.memory());
    assert_eq!(read, sums);
    assert_eq!(read.value(7), sums.value(7));
}
