//! Compares all slots by key with a separate slot for each key.

use exact_sum::{
    CoMoments, Extrema, Hashed, IntegerMoments, IntegerSum, Items, Keyed, KeyedSlot, Mean, Moments,
    Powers, ProductSum, RemoveKeyedError, Slot, Statistic, Sum, WeightedMean,
};
use proptest::prelude::*;

use super::keyed::{bits, items, keys};

/// Makes the same number of other items from `items`.
fn others(items: &[f64], seed: u64) -> Vec<f64> {
    let turn = (seed % 1000) as usize;
    let factor = [1.0, -3.0, 2_f64.powi(-40), 0.0][(seed >> 12) as usize % 4];
    let items = items.iter().cycle().skip(turn).take(items.len());
    items.map(|item| item * factor).collect()
}

/// The text of the panic if a call fails that must succeed.
const MAY: &str = "keys and items are right";

/// Keys, and an item for each.
type Rows<'r, S> = (&'r [u32], <S as Slot>::Items<'r>);

/// Checks that adding, merging, removing and reading rows give the same slots, and that slots with `more` rows differ.
fn check<S: KeyedSlot>(
    sums: usize,
    (keys, items): Rows<'_, S>,
    (more_keys, more): Rows<'_, S>,
) -> Result<(), TestCaseError> {
    let [mut all, mut one_by_one] = [0; 2].map(|_| Keyed::<S>::new(sums).expect(MAY));
    let mut hashed = Hashed::<u32, S>::new();
    let none = all.clone();
    all.add(keys, items).expect(MAY);
    hashed.add(keys, items).expect(MAY);
    for at in (0..keys.len()).rev() {
        one_by_one
            .add(&keys[at..=at], items.part(at..at + 1))
            .expect(MAY);
        prop_assert_eq!(hashed.get(&keys[at]), Some(all.get(keys[at] as usize)));
    }
    prop_assert_eq!(&one_by_one, &all);
    let bytes = all.to_bytes();
    prop_assert_eq!(&Keyed::of_bytes(&bytes).expect(MAY), &all);
    prop_assert_eq!(one_by_one.to_bytes(), &bytes[..]);
    let mut grown = Keyed::<S>::new(0).expect(MAY);
    grown.merge(&all).expect(MAY);
    prop_assert_eq!(&grown, &all);
    one_by_one.add(more_keys, more).expect(MAY);
    prop_assert_ne!(&one_by_one, &all);
    prop_assert_ne!(one_by_one.to_bytes(), bytes);
    let Ok(()) = one_by_one.remove(more_keys, more) else {
        prop_assert_eq!(one_by_one.unmerge(&all), Err(RemoveKeyedError::Never));
        return Ok(());
    };
    prop_assert_eq!(&one_by_one, &all);
    one_by_one.merge(&all).expect(MAY);
    one_by_one.remove(keys, items).expect(MAY);
    prop_assert_eq!(&one_by_one, &all);
    one_by_one.unmerge(&all).expect(MAY);
    prop_assert_eq!(one_by_one, none);
    let mut others = Hashed::<u32, S>::new();
    let other_keys = vec![u32::MAX; more_keys.len()];
    others.add(&other_keys, more).expect(MAY);
    others.merge(&hashed).expect(MAY);
    others.unmerge(&hashed).expect(MAY);
    others.merge(&hashed).expect(MAY);
    others.remove(&other_keys, more).expect(MAY);
    others.forget_empty().expect(MAY);
    if all.counts().is_some() {
        prop_assert_eq!(others, hashed);
    }
    Ok(())
}

/// Compares the statistics of each key with those of a separate slot, which `of` makes from the numbers of the key's rows.
fn check_statistics<S: KeyedSlot<Item = f64>>(
    sums: usize,
    (keys, items): Rows<'_, S>,
    of: impl Fn(&[usize]) -> S,
) -> Result<(), TestCaseError> {
    let mut by_key = Keyed::<S>::new(sums).expect(MAY);
    by_key.add(keys, items).expect(MAY);
    for key in 0..sums {
        let rows = (0..keys.len()).filter(|row| keys[*row] as usize == key);
        let rows: Vec<usize> = rows.collect();
        let (own, expected) = (by_key.get(key), of(&rows));
        if let Some(counts) = by_key.counts() {
            prop_assert_eq!(counts[key], rows.len() as u64);
        }
        for statistic in Statistic::ALL {
            let options = statistic.defaults();
            // Sums by key that are zero are +0.0.
            let bits = |value: Option<f64>| value.map(|value| (value + 0.0).to_bits());
            let expected = bits(expected.statistic(statistic, options));
            let value = bits(by_key.statistic(key, statistic, options));
            let is_known = by_key.counts().is_some() || value.is_some();
            prop_assert!(value == expected || !is_known, "{}", statistic);
            if by_key.counts().is_some() {
                prop_assert_eq!(bits(own.statistic(statistic, options)), expected);
            }
        }
    }
    Ok(())
}

proptest! {
    /// Bytes with a wrong byte are refused, or hold other slots.
    #[test]
    fn bytes_that_are_wrong(items in items(), sums in 1..10_usize, at: prop::sample::Index, byte: u8, seed: u64) {
        let keys = keys(items.len(), sums, seed);
        let mut moments = Keyed::<Moments<f64>>::new(sums).unwrap();
        moments.add(&keys, &items).unwrap();
        let bytes = moments.to_bytes();
        let mut wrong = bytes.clone();
        let at = at.index(bytes.len());
        wrong[at] = byte;
        if let Ok(read) = Keyed::<Moments<f64>>::of_bytes(&wrong) {
            prop_assert_eq!(read.to_bytes(), wrong);
        }
        prop_assert!(Keyed::<Moments<f64>>::of_bytes(&bytes[..at]).is_err());
        prop_assert!(Keyed::<Sum<f64>>::of_bytes(&bytes).is_err());
        prop_assert!(Keyed::<Moments<f32>>::of_bytes(&bytes).is_err());
    }

    /// Items added one by one, from the last one backwards, give the same slots as all items at once. With more items, slots differ. Items and
    /// slots can be removed again. Slots can be written as bytes and read.
    #[test]
    fn one_by_one(items in items(), more in items(), sums in 1..40_usize, seed: u64) {
        let more = [&more[..], &[1e10]].concat();
        let [keys, more_keys] = [(&items, seed), (&more, !seed)].map(|(items, seed)| keys(items.len(), sums, seed));
        let [weights, more_weights] = [(&items, seed), (&more, 0)].map(|(items, seed)| others(items, seed));
        let [singles, more_singles] = [&items, &more].map(|items| items.iter().map(|item| *item as f32).collect::<Vec<f32>>());
        let integers: Vec<i64> = items.iter().map(|item| item.to_bits().cast_signed()).collect();
        let (of, more_of) = ((&keys[..], &items[..]), (&more_keys[..], &more[..]));
        let (of_pairs, more_pairs) = ((&keys[..], [&items[..], &weights]), (&more_keys[..], [&more[..], &more_weights]));
        let (of_singles, more_singles) = ((&keys[..], &singles[..]), (&more_keys[..], &more_singles[..]));
        check::<Sum<f64>>(sums, of, more_of)?;
        check::<Sum<f32>>(sums, of_singles, more_singles)?;
        check::<Mean<f64>>(sums, of, more_of)?;
        check::<Moments<f64>>(sums, of, more_of)?;
        check::<Powers<f64>>(sums, of, more_of)?;
        check::<Powers<f32>>(sums, of_singles, more_singles)?;
        check::<ProductSum<f64>>(sums, of_pairs, more_pairs)?;
        check::<CoMoments<f64>>(sums, of_pairs, more_pairs)?;
        check::<WeightedMean<f64>>(sums, of_pairs, more_pairs)?;
        let (of_integers, seven) = ((&keys[..], integers[..].into()), (&[0_u32][..], (&[7]).into()));
        check::<IntegerSum>(sums, of_integers, seven)?;
        check::<IntegerMoments>(sums, of_integers, seven)?;
        let finite: Vec<f64> = items.iter().map(|item| if item.is_finite() { *item } else { 0.0 }).collect();
        check::<Extrema<f64>>(sums, (&keys, &finite), (&[0], &[f64::INFINITY]))?;
        let [first, second] = [[3, 2], [2, 3]].map(|[keys, width]| Keyed::<Sum<f64>>::of_rows(keys, width).unwrap());
        prop_assert!(first != second);
    }

    /// Each key's slot has the same statistics as a slot of the key's items.
    #[test]
    fn slots(items in items(), sums in 1..40_usize, seed: u64) {
        let keys = keys(items.len(), sums, seed);
        let weights = others(&items, seed);
        let (of, of_pairs) = ((&keys[..], &items[..]), (&keys[..], [&items[..], &weights[..]]));
        let x = |rows: &[usize]| rows.iter().map(|row| items[*row]).collect::<Vec<f64>>();
        let y = |rows: &[usize]| rows.iter().map(|row| weights[*row]).collect::<Vec<f64>>();
        check_statistics::<Sum<f64>>(sums, of, |rows| Sum::of(&x(rows)))?;
        check_statistics::<Mean<f64>>(sums, of, |rows| {
            let mut mean = Mean::default();
            mean.add(&x(rows));
            mean
        })?;
        check_statistics::<Moments<f64>>(sums, of, |rows| Moments::of(&x(rows)))?;
        check_statistics::<Powers<f64>>(sums, of, |rows| Powers::of(&x(rows)))?;
        check_statistics::<ProductSum<f64>>(sums, of_pairs, |rows| ProductSum::of(&x(rows), &y(rows)))?;
        check_statistics::<CoMoments<f64>>(sums, of_pairs, |rows| CoMoments::of(&x(rows), &y(rows)))?;
        check_statistics::<WeightedMean<f64>>(sums, of_pairs, |rows| {
            // The sums start at +0.0, so a quotient by a sum of zeros has the sign of +0.0.
            let mut mean = WeightedMean::new();
            mean.add(&[0.0], &[0.0]);
            mean.add(&x(rows), &y(rows));
            mean
        })?;
    }

    #[test]
    fn extrema(items in items(), sums in 1..40_usize, seed: u64) {
        let keys = keys(items.len(), sums, seed);
        let (half, all) = (items.len() / 2, items.len());
        let mut extrema = Keyed::<Extrema<f64>>::new(0).unwrap();
        for range in [half..all, 0..half] {
            let mut part = Keyed::<Extrema<_>>::new(sums).unwrap();
            part.add(&keys[range.clone()], &items[range]).unwrap();
            extrema.merge(&part).unwrap();
        }
        for key in 0..sums {
            let of_key = keys.iter().zip(&items).filter(|(of_item, _)| **of_item as usize == key);
            let mut of_key: Vec<f64> = of_key.map(|(_, item)| *item).collect();
            of_key.sort_unstable_by(f64::total_cmp);
            let is_nan = of_key.iter().any(|item| item.is_nan());
            let expected = |item: Option<&f64>| item.map(|item| if is_nan { f64::NAN } else { *item }.to_bits());
            prop_assert_eq!(extrema.get(key).minimum().map(f64::to_bits), expected(of_key.first()));
            prop_assert_eq!(extrema.get(key).maximum().map(f64::to_bits), expected(of_key.last()));
        }
    }

    #[test]
    fn columns(items in items(), columns in 1..5_usize, sums in 1..20_usize, seed: u64) {
        let rows = items.len() / columns;
        let items = &items[..rows * columns];
        let keys = keys(rows, sums, seed);
        let mut by_row = Keyed::<Sum<f64>>::of_rows(sums, columns).unwrap();
        by_row.add(&keys, items).unwrap();
        by_row.add(&keys, items).unwrap();
        by_row.remove(&keys, items).unwrap();
        let values = by_row.values();
        for column in 0..columns {
            let of_column: Vec<f64> = items.iter().copied().skip(column).step_by(columns).collect();
            let mut expected = Keyed::<Sum<_>>::new(sums).unwrap();
            expected.add(&keys, &of_column).unwrap();
            let values: Vec<f64> = values.iter().copied().skip(column).step_by(columns).collect();
            prop_assert_eq!(bits(&values), bits(&expected.values()));
        }
    }

    #[test]
    fn integers(items in prop::collection::vec(any::<i64>(), 0..500), sums in 1..20_usize, seed: u64) {
        let keys = keys(items.len(), sums, seed);
        let mut by_key = Keyed::<IntegerSum>::new(sums).unwrap();
        by_key.add(&keys, items[..].into()).unwrap();
        for key in 0..sums {
            let of_key = keys.iter().zip(&items).filter(|(of_item, _)| **of_item as usize == key);
            let [count, sum] = of_key.fold([0, 0], |[count, sum], (_, item)| [count + 1, sum + i128::from(*item)]);
            let of_key = by_key.get(key);
            prop_assert_eq!(of_key.value(), Some(sum));
            prop_assert_eq!(i128::from(of_key.items()), count);
            if count == 1 {
                prop_assert_eq!(of_key.mean(), Some(sum as f64));
            }
        }
    }
}

/// Zeros of both signs next to the smallest float, and an infinity.
#[test]
fn extrema_of_floats() {
    let least = f32::from_bits(1);
    let mut extrema = Keyed::<Extrema<f32>>::new(1).unwrap();
    extrema.add(&[0_u8; 3], &[0.0, -0.0, -least]).unwrap();
    assert_eq!(extrema.get(0).minimum(), Some(-least));
    assert_eq!(extrema.get(0).maximum().map(f32::to_bits), Some(0));
    extrema.add(&[0_u8], &[f32::NEG_INFINITY]).unwrap();
    assert_eq!(extrema.get(0).minimum(), Some(f32::NEG_INFINITY));
}

#[test]
fn more_than_was_added() {
    let mut moments = Keyed::<Moments<f64>>::new(2).unwrap();
    moments
        .add(&[0, 1, 1_u8], &[1.0, f64::INFINITY, 2.0])
        .unwrap();
    let error = moments.remove(&[0, 0_u8], &[1.0, 1.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key 0: cannot remove 2 items: the sum holds 1"
    );
    let error = moments.remove(&[1, 1_u8], &[f64::INFINITY; 2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key 1: cannot remove 2 infinities: the sum holds 1"
    );
    moments.remove(&[1_u8], &[f64::INFINITY]).unwrap();
    assert_eq!([moments.get(0).mean(), moments.get(1).mean()], [1.0, 2.0]);
    let mut products = Keyed::<ProductSum<f64>>::new(1).unwrap();
    products.add(&[0_u8], [&[f64::INFINITY], &[0.0]]).unwrap();
    let error = products
        .remove(&[0_u8], [&[f64::INFINITY], &[1.0]])
        .unwrap_err();
    assert!(matches!(error, RemoveKeyedError::Fewer { key: 0, .. }));
    assert!(products.value(0).is_nan());
    let mut integers = Keyed::<IntegerSum>::new(1).unwrap();
    let error = integers.remove(&[0_u8], (&[1_i8]).into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key 0: cannot remove 1 item: the sum holds 0"
    );
    // Few items of many keys.
    let mut moments = Keyed::<Moments<f64>>::new(1000).unwrap();
    moments.add(&[7, 900, 7_u16], &[1.0, 2.0, 3.0]).unwrap();
    let error = moments.remove(&[900, 7, 900_u16], &[2.0; 3]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key 900: cannot remove 2 items: the sum holds 1"
    );
    moments.remove(&[900, 7_u16], &[2.0, 1.0]).unwrap();
    assert_eq!(
        [moments.get(7).mean(), moments.counts().unwrap()[900] as f64],
        [3.0, 0.0]
    );
}
