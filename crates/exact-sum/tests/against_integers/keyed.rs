//! Compares sums by key with a separate sum for each key.

use exact_sum::{Hashed, KeyError, Keyed, RemoveKeyedError, Sum, by_key};
use proptest::prelude::*;
use simd_kernels::Level;

use super::{finite, floats, in_range, ranges};

/// The bits of each key's sum, which starts at +0.0.
fn expected(keys: &[u32], items: &[f64], sums: usize) -> Vec<u64> {
    let mut expected = vec![Sum::of(&[0.0]); sums];
    for (key, item) in keys.iter().zip(items) {
        expected[*key as usize].add(&[*item]);
    }
    expected.iter().map(|sum| sum.value().to_bits()).collect()
}

pub(super) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Random keys for items. Some keys are far more frequent than others.
pub(super) fn keys(len: usize, sums: usize, seed: u64) -> Vec<u32> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 20
    };
    let key = |draw: u64, spread: u64| (draw as usize % sums) as u32 >> (spread % 3);
    (0..len).map(|_| key(next(), next())).collect()
}

pub(super) fn items() -> impl Strategy<Value = Vec<f64>> {
    let block = (0..3000_usize, ranges(), any::<bool>(), any::<u64>());
    let block = block.prop_map(|(len, range, signs, seed)| in_range(len, range, signs, seed));
    let any_item = prop_oneof![
        8 => finite(),
        1 => Just(0.0),
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::NAN)],
    ];
    let odd = prop::collection::vec((any::<prop::sample::Index>(), any_item.clone()), 0..20);
    prop_oneof![
        prop::collection::vec(any_item, 0..300),
        (prop::collection::vec(block, 1..4), odd).prop_map(|(blocks, odd)| {
            let mut items = blocks.concat();
            for (index, item) in odd {
                if !items.is_empty() {
                    let index = index.index(items.len());
                    items[index] = item;
                }
            }
            items
        }),
    ]
}

proptest! {
    #[test]
    fn of_all_levels(items in items(), sums in prop_oneof![Just(1), 2..50_usize, Just(4000)], seed: u64) {
        let keys = keys(items.len(), sums, seed);
        let expected = expected(&keys, &items, sums);
        for level in Level::available() {
            let mut by_key = Keyed::<Sum<_>>::new(sums).unwrap();
            by_key.add_at(level, &keys, &items).unwrap();
            prop_assert_eq!(&bits(&by_key.values()), &expected, "{}", level);
        }
    }

    /// Sums of pieces are merged in any order; then items are added and removed again.
    #[test]
    fn merged(
        blocks in prop::collection::vec(items(), 1..5),
        removed in items(),
        sums in prop_oneof![Just(1), 2..50_usize],
        seed: u64,
    ) {
        let mut merged = Keyed::<Sum<f64>>::new(1).unwrap();
        let mut hashed = Hashed::<_, Sum<_>>::new();
        let (mut all_keys, mut all_items) = (Vec::new(), Vec::new());
        for (number, items) in blocks.into_iter().enumerate() {
            let keys = keys(items.len(), sums, seed ^ number as u64);
            let mut part = Keyed::<Sum<_>>::new(sums).unwrap();
            part.add(&keys, &items).unwrap();
            let mut hashed_part = Hashed::<_, Sum<_>>::new();
            hashed_part.add(&keys, &items).unwrap();
            if (seed >> number) & 1 == 0 {
                merged.merge(&part).unwrap();
                hashed.merge(&hashed_part).unwrap();
            } else {
                part.merge(&merged).unwrap();
                merged = part;
                hashed_part.merge(&hashed).unwrap();
                hashed = hashed_part;
            }
            all_keys.extend(keys);
            all_items.extend(items);
        }
        let expected = expected(&all_keys, &all_items, sums);
        prop_assert_eq!(&bits(&merged.values()), &expected);
        for (key, value) in hashed.values() {
            prop_assert_eq!(value.to_bits(), expected[*key as usize]);
        }
        let mut distinct = all_keys;
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(hashed.values().len(), distinct.len());
        let keys = keys(removed.len(), sums, !seed);
        merged.add(&keys, &removed).unwrap();
        merged.remove(&keys, &removed).unwrap();
        prop_assert_eq!(&bits(&merged.values()), &expected);
    }

    #[cfg(feature = "par")]
    #[test]
    fn threads(len in 0..600_000_usize, sums in 1..3000_usize, range in ranges(), seed: u64) {
        let items = in_range(len, range, true, seed);
        let keys = keys(len, sums, seed);
        let parallel = exact_sum::par::by_key(&keys, &items, sums).unwrap();
        prop_assert_eq!(bits(&parallel), bits(&by_key(&keys, &items, sums).unwrap()));
    }

    #[test]
    fn of_floats(items in floats(0..2000), sums in 1..50_usize, seed: u64) {
        let keys = keys(items.len(), sums, seed);
        let mut expected = vec![Sum::of(&[0.0_f32]); sums];
        for (key, item) in keys.iter().zip(&items) {
            expected[*key as usize].add(&[*item]);
        }
        let values = by_key(&keys, &items, sums).unwrap();
        for (value, expected) in values.iter().zip(&expected) {
            prop_assert_eq!(value.to_bits(), expected.value().to_bits());
        }
        // Items are added one by one. Adding and removing all of them at each level then changes nothing.
        let mut singly = Keyed::<Sum<_>>::new(sums).unwrap();
        keys.iter().zip(&items).for_each(|(key, item)| singly.add_one(*key as usize, *item));
        for level in Level::available() {
            singly.add_at(level, &keys, &items).unwrap();
            singly.remove(&keys, &items).unwrap();
        }
        let values = values.iter().zip(singly.values());
        prop_assert!(values.fold(true, |alike, (value, own)| alike && value.to_bits() == own.to_bits()));
    }
}

/// The sum of the items does not fit an integer of 128 bits.
#[test]
fn many_large_items() {
    let items = vec![f64::from_bits(1.0_f64.to_bits() - 1); 70_000];
    let mut sums = Keyed::<Sum<_>>::new(2).unwrap();
    for factor in [1.0, 2_f64.powi(15), -2_f64.powi(15), 2_f64.powi(-40)] {
        let items: Vec<f64> = items.iter().map(|item| item * factor).collect();
        sums.add(&vec![1_u8; items.len()], &items).unwrap();
    }
    let factor = 1.0 + 2_f64.powi(-40);
    assert_eq!(
        sums.values(),
        [0.0, exact_sum::dot(&items, &vec![factor; items.len()])]
    );
}

/// Items at the ends of the range, with partial sums beyond it.
#[test]
fn least_and_greatest_items() {
    let least = f64::from_bits(1);
    let mut sums = Keyed::<Sum<_>>::new(3).unwrap();
    for (item, times) in [(f64::MAX, 3000), (least, 5000), (1.0, 1), (-f64::MAX, 2999)] {
        let items = vec![item; times];
        let keys: Vec<u64> = vec![if item == least { 0 } else { 2 }; times];
        sums.add(&keys, &items).unwrap();
        if item == f64::MAX {
            assert_eq!(sums.value(2), f64::INFINITY);
        }
    }
    assert_eq!(sums.values(), [5000.0 * least, 0.0, f64::MAX]);
    sums.remove(&[2_u8], &[f64::MAX]).unwrap();
    assert_eq!(sums.values(), [5000.0 * least, 0.0, 1.0]);
}

/// If a wrong key follows many right ones, no sum changes.
#[test]
fn what_was_added_is_taken_back() {
    let items: Vec<f64> = (0..5000)
        .map(|item| f64::from(item).exp2().recip())
        .collect();
    let mut keys: Vec<i16> = (0..5000).map(|item| item % 7).collect();
    let mut sums = Keyed::<Sum<_>>::new(7).unwrap();
    sums.add(&[0, 1, 6], &[0.1, f64::NAN, 0.7]).unwrap();
    let before = bits(&sums.values());
    for wrong in [7, -1, i16::MAX, i16::MIN] {
        keys[4321] = wrong;
        let error = sums.add(&keys, &items).unwrap_err();
        let expected = KeyError::OutOfRange {
            item: 4321,
            key: wrong.into(),
            sums: 7,
        };
        assert_eq!(error, expected);
        assert_eq!(bits(&sums.values()), before);
    }
}

#[test]
fn keys_that_cannot_be() {
    let mut sums = Keyed::<Sum<f64>>::new(3).unwrap();
    sums.add(&[2], &[1.5]).unwrap();
    let error = sums.add(&[0, 1, 3_u64], &[1.0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "item 2 has key 3; keys must be 0 to 2");
    let error = sums.add(&[0, -1_i64], &[1.0; 2]).unwrap_err();
    assert_eq!(error.to_string(), "item 1 has key -1; keys must be 0 to 2");
    let error = sums.add(&[0_u8], &[1.0; 2]).unwrap_err();
    assert_eq!(error, KeyError::Lengths { keys: 1, items: 2 });
    let error = by_key(&[0_u16], &[1.0], 0).unwrap_err();
    assert_eq!(error.to_string(), "item 0 has key 0, but there are no sums");
    let error = sums.remove(&[0, 2_u8], &[1.0, f64::NAN]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key 2: cannot remove 1 NaN: the sum holds 0"
    );
    assert!(matches!(error, RemoveKeyedError::Fewer { key: 2, .. }));
    assert_eq!(sums.values(), [0.0, 0.0, 1.5]);
}
