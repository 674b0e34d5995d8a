//! Checks the format of `exact_sum::partial`: equal sums have equal bytes, however they were computed,
//! and the sums of parts add up to the sum of all items.

use exact_sum::{IntegerSum, Keyed, KeyedSlot, Moments, Powers, ProductSum, Sum, partial};
use proptest::prelude::*;

use super::keyed::{bits, items, keys};
use super::ranges;

fn partials(write: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    write(&mut all);
    all
}

fn of_sums(sums: &Keyed<Sum<f64>>) -> Vec<Vec<u8>> {
    partials(|all| sums.partials(0..sums.keys(), |_, bytes| all.push(bytes.to_vec())))
}

fn of_products(sums: &Keyed<ProductSum<f64>>) -> Vec<Vec<u8>> {
    partials(|all| sums.partials(0..sums.keys(), |_, bytes| all.push(bytes.to_vec())))
}

fn alone(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes);
    bytes
}

fn slices(partials: &[Vec<u8>]) -> impl Iterator<Item = &[u8]> {
    partials.iter().map(Vec::as_slice)
}

proptest! {
    #[test]
    fn sums(items in items(), groups in prop_oneof![Just(1), 2..50_usize], seed: u64) {
        let keys = keys(items.len(), groups, seed);
        let mut direct = Keyed::<Sum<f64>>::new(groups).unwrap();
        direct.add(&keys, &items).unwrap();
        let expected = of_sums(&direct);

        // Add the bytes of each item; then add the bytes of the sums of two parts.
        let of_items = partials(|all| partial::of_items(&items, |bytes| all.push(bytes.to_vec())));
        let mut sums = Keyed::<Sum<_>>::new(groups).unwrap();
        sums.add_partials(&keys, slices(&of_items)).unwrap();
        prop_assert_eq!(of_sums(&sums), &expected[..]);
        let middle = items.len() / 2;
        let mut sums = Keyed::<Sum<_>>::new(groups).unwrap();
        let all: Vec<usize> = (0..groups).collect();
        for (keys, items) in [(&keys[middle..], &items[middle..]), (&keys[..middle], &items[..middle])] {
            let mut part = Keyed::<Sum<_>>::new(groups).unwrap();
            part.add(keys, items).unwrap();
            sums.add_partials(&all, slices(&of_sums(&part))).unwrap();
        }
        prop_assert_eq!(&of_sums(&sums), &expected);
        prop_assert_eq!(&sums, &direct);

        // Compare with a separate sum for each key.
        for (group, expected) in expected.iter().enumerate() {
            let of_group = keys.iter().zip(&items).filter(|(key, _)| **key as usize == group);
            let of_group: Vec<f64> = of_group.map(|(_, item)| *item).collect();
            let sum = Sum::of(&of_group);
            prop_assert_eq!(&alone(|bytes| sum.write_partial(bytes)), expected);
            let mut read = Sum::new();
            read.add_partial(sum.items(), expected).unwrap();
            let started = sum.without_negative_zeros();
            prop_assert_eq!(read.value().to_bits(), started.value().to_bits());
            prop_assert_eq!(read.mean().to_bits(), direct.mean(group, sum.items()).to_bits());
        }
    }

    #[test]
    fn products_and_moments(
        items in items(),
        factor in prop_oneof![Just(1.0), Just(3.0), Just(1e-200), Just(f64::MIN_POSITIVE)],
        groups in prop_oneof![Just(1), 2..50_usize],
        seed: u64,
    ) {
        let keys = keys(items.len(), groups, seed);
        let factors: Vec<f64> = items.iter().rev().map(|item| item * factor).collect();
        let mut direct = Keyed::<ProductSum<f64>>::new(groups).unwrap();
        direct.add(&keys, [&items, &factors]).unwrap();
        let expected = of_products(&direct);
        let of_items = partials(|all| {
            partial::of_products(&items, &factors, |bytes| all.push(bytes.to_vec()));
        });
        let mut sums = Keyed::<ProductSum<_>>::new(groups).unwrap();
        sums.add_partials(&keys, slices(&of_items)).unwrap();
        prop_assert_eq!(of_products(&sums), &expected[..]);
        prop_assert_eq!(&sums, &direct);

        let mut moments = Keyed::<Moments<f64>>::new(groups).unwrap();
        moments.add(&keys, &items).unwrap();
        let (mut of_sum, mut of_squares) = (Vec::new(), Vec::new());
        moments.partials(0..groups, |_, sum, squares| {
            of_sum.push(sum.to_vec());
            of_squares.push(squares.to_vec());
        });
        let all: Vec<usize> = (0..groups).collect();
        let mut twice = Keyed::<Moments<f64>>::new(groups).unwrap();
        for _ in 0..2 {
            twice.add_partials(&all, moments.counts().unwrap(), slices(&of_sum), slices(&of_squares)).unwrap();
        }
        let mut again = moments.clone();
        again.merge(&moments).unwrap();
        prop_assert_eq!(&twice, &again);

        for group in 0..groups {
            let of_group = |items: &[f64]| -> Vec<f64> {
                let of_keys = keys.iter().zip(items).filter(|(key, _)| **key as usize == group);
                of_keys.map(|(_, item)| *item).collect()
            };
            let (x, y) = (of_group(&items), of_group(&factors));
            let products = ProductSum::of(&x, &y);
            prop_assert_eq!(&alone(|bytes| products.write_partial(bytes)), &expected[group]);
            let of_key = Moments::of(&x);
            prop_assert_eq!(&alone(|bytes| of_key.sum().write_partial(bytes)), &of_sum[group]);
            prop_assert_eq!(&alone(|bytes| of_key.squares().write_partial(bytes)), &of_squares[group]);
            let mut read = Moments::new();
            read.add_partial(of_key.items(), &of_sum[group], &of_squares[group]).unwrap();
            prop_assert_eq!(read.variance(1.0).to_bits(), of_key.variance(1.0).to_bits());
        }
    }

    /// After the first groups are dropped, the remaining groups are as if the dropped groups had never existed.
    #[test]
    fn groups_come_and_go(
        first in items(),
        range in ranges(),
        (groups, dropped) in (1..50_usize).prop_flat_map(|groups| (Just(groups), 0..=groups)),
        seed: u64,
    ) {
        let then = super::in_range(300, range, true, seed);
        let left = groups - dropped;
        let first_keys = keys(first.len(), groups, seed);
        let then_keys = keys(then.len(), left + 1, !seed);
        let (mut kept, mut kept_keys) = (Vec::new(), Vec::new());
        for (key, item) in first_keys.iter().zip(&first) {
            if let Some(key) = (*key as usize).checked_sub(dropped) {
                kept.push(*item);
                kept_keys.push(u32::try_from(key).unwrap());
            }
        }
        fn check<S: KeyedSlot>(
            [groups, dropped, left]: [usize; 3],
            first: (&[u32], S::Items<'_>),
            kept: (&[u32], S::Items<'_>),
            then: (&[u32], S::Items<'_>),
        ) -> Result<Keyed<S>, TestCaseError> {
            let [mut sums, mut expected] = [0; 2].map(|_| Keyed::<S>::new(0).unwrap());
            sums.grow(groups).unwrap();
            sums.add(first.0, first.1).unwrap();
            sums.forget_first(dropped);
            expected.grow(left + 1).unwrap();
            expected.add(kept.0, kept.1).unwrap();
            sums.grow(left + 1).unwrap();
            sums.add(then.0, then.1).unwrap();
            expected.add(then.0, then.1).unwrap();
            prop_assert_eq!(sums.keys(), left + 1);
            prop_assert_eq!(&sums, &expected);
            Ok(sums)
        }
        let lengths = [groups, dropped, left];
        let sums = check::<Sum<f64>>(lengths, (&first_keys, &first), (&kept_keys, &kept), (&then_keys, &then))?;
        prop_assert!(bits(&sums.values()).len() == left + 1);
        check::<Moments<f64>>(lengths, (&first_keys, &first), (&kept_keys, &kept), (&then_keys, &then))?;
        check::<Powers<f64>>(lengths, (&first_keys, &first), (&kept_keys, &kept), (&then_keys, &then))?;
        let [first, kept, then] = [(first_keys, first), (kept_keys, kept), (then_keys, then)].map(|(keys, x)| {
            let y: Vec<f64> = x.iter().map(|item| item * 0.3).collect();
            (keys, x, y)
        });
        check::<ProductSum<f64>>(
            lengths,
            (&first.0, [&first.1, &first.2]),
            (&kept.0, [&kept.1, &kept.2]),
            (&then.0, [&then.1, &then.2]),
        )?;
    }

    #[test]
    fn integers(items in prop::collection::vec(any::<i64>(), 0..300), groups in 1..9_usize, seed: u64) {
        let keys = keys(items.len(), groups, seed);
        let mut by_key = Keyed::<IntegerSum>::new(0).unwrap();
        by_key.grow(groups + 1).unwrap();
        let sums: Vec<IntegerSum> = items.iter().map(|&item| IntegerSum::with(item.into(), 1).unwrap()).collect();
        by_key.add_slots(&keys, &sums).unwrap();
        let mut one_by_one = Keyed::<IntegerSum>::new(groups + 1).unwrap();
        one_by_one.add(&keys, items[..].into()).unwrap();
        prop_assert_eq!(&by_key, &one_by_one);
        by_key.forget_first(1);
        prop_assert_eq!(by_key.values(), &one_by_one.values()[1..]);
        prop_assert_eq!(by_key.get(0), one_by_one.get(1));

        let mut all = IntegerSum::new();
        all.add(&items);
        all.add(&[u64::MAX, 5]);
        prop_assert!(all.remove(&vec![1_i64; items.len() + 3]).is_err());
        all.remove(&[5, u64::MAX]).unwrap();
        let expected = items.iter().fold(0, |sum, item| sum + i128::from(*item));
        prop_assert_eq!(all, IntegerSum::with(expected, items.len() as u64).unwrap());
    }
}

#[test]
fn each_length_is_as_said() {
    let length = |items: &[f64]| alone(|bytes| Sum::of(items).write_partial(bytes)).len();
    assert_eq!(length(&[]), 8);
    assert_eq!(length(&[f64::MAX, -f64::from_bits(1)]), 16);
    assert_eq!(length(&[1.0, 1e-30, 1e-60]) % 8, 1);
    // The sum is beyond the range of doubles.
    assert_eq!(length(&[f64::MAX; 3]), 1 + 8 + 16);
    assert_eq!(length(&[f64::NAN]), 1 + 24 + 8);
    // The product of these two doubles is less than the smallest double.
    let product = alone(|bytes| ProductSum::of(&[1e-300], &[1e-300]).write_partial(bytes));
    assert_eq!(product.len() % 8, 1);
}

#[test]
fn other_bytes_are_refused() {
    let mut sum = Sum::of(&[1.5]);
    let before = sum;
    let mut sums = Keyed::<Sum<f64>>::new(1).unwrap();
    let infinity = f64::INFINITY.to_le_bytes();
    let mut long = alone(|bytes| Sum::of(&[1.0, 1e-30, 1e-60]).write_partial(bytes));
    long.pop();
    for bytes in [&[][..], &[0; 7], &[2; 9], &infinity, &long] {
        assert!(sum.add_partial(1, bytes).is_err(), "{bytes:?}");
        let one = 1.0_f64.to_le_bytes();
        assert!(sums.add_partials(&[0, 0_u8], [&one[..], bytes]).is_err());
    }
    assert_eq!(sum, before);
    assert_eq!(sums, Keyed::<Sum<_>>::new(1).unwrap());
    let mut moments = Moments::<f64>::new();
    let nan = alone(|bytes| Sum::of(&[f64::NAN]).write_partial(bytes));
    let error = moments.add_partial(1, &nan, &1.0_f64.to_le_bytes());
    assert!(error.unwrap_err().to_string().contains("squares"));
}
