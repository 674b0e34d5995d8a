//! Checks sums that have as many items as possible, after merges with themselves.

use std::panic::{AssertUnwindSafe, catch_unwind};

use exact_sum::{
    Accumulator, CompactCoMoments, CompactMoments, CompactPowers, CompactProducts, CompactState,
    CompactSum, CompactWeightedMean, ComplexMoments, ComplexProductSum, ComplexSum, Extrema,
    Hashed, IntegerMoments, IntegerSum, KeyError, Keyed, KeyedSlot, LimitError, Moments, Options,
    ProductSum, Statistic, Sum, WeightedMean, by_key,
};

/// Merges a sum with itself until it has no room. Returns the sum and the number of merges.
fn doubled<S: Clone + PartialEq + std::fmt::Debug>(
    mut sum: S,
    merge: impl Fn(&mut S, &S) -> Result<(), LimitError>,
) -> (S, u32) {
    for times in 0.. {
        let before = sum.clone();
        if let Err(error) = merge(&mut sum, &before) {
            assert_eq!(error, LimitError::Items);
            assert_eq!(sum, before);
            return (sum, times);
        }
    }
    unreachable!("a sum has no room for this many items")
}

/// Doubles the sum of one item as often as possible, and checks that merging, words and integers then report too many items.
fn check<A: Accumulator>(one: A, items: u64) -> A {
    let (most, times) = doubled(one, A::merge);
    assert_eq!(most.items(), items);
    assert_eq!(items, 1 << times);
    let mut words = most.words();
    A::merge_words(&mut words, &most.words());
    assert!(A::check_words(&words).is_err());
    let mut sum = A::default();
    assert_eq!(sum.add_words(&words), Err(LimitError::Items));
    // A count that is too large never becomes small again.
    for _ in 0..3 {
        let copy = words;
        A::merge_words(&mut words, &copy);
    }
    assert_eq!(sum.add_words(&words), Err(LimitError::Items));
    assert_eq!(sum, A::default());
    sum.add_words(&most.words()).expect("there is room");
    assert_eq!(sum.add_integers(&most.integers()), Err(LimitError::Items));
    assert_eq!(sum, most);
    assert_eq!(A::of_bytes(&most.to_bytes()), Ok(most.clone()));
    most
}

#[test]
fn accumulators_do_not_wrap() {
    let most = 1 << 62;
    for item in [f64::NAN, f64::MAX, f64::INFINITY, -0.0] {
        let sum = check(Sum::of(&[item]), most);
        let mean = [sum.mean(), item].map(f64::to_bits);
        assert_eq!(mean[0], mean[1]);
        check(ProductSum::of(&[item], &[item]), most);
    }
    let mut complex = ComplexSum::<f32>::new();
    complex.add(&[[1.0, f32::NAN]]);
    assert!(check(complex, most).value()[1].is_nan());
    let mut products = ComplexProductSum::<f64>::new();
    products.add(&[[1.0, 2.0]], &[[3.0, f64::MAX]]);
    check(products, most / 2);
    let (moments, _) = doubled(Moments::of(&[f64::MAX]), Moments::merge);
    assert_eq!((moments.items(), moments.variance(0.0)), (most, 0.0));
    let (moments, _) = doubled(ComplexMoments::of(&[[1.0, 2.0]]), ComplexMoments::merge);
    assert_eq!(moments.items(), most / 2);
    let mut mean = WeightedMean::new();
    mean.add(&[3.0], &[f64::MAX]);
    assert_eq!(doubled(mean, WeightedMean::merge).0.value(), 3.0);
}

#[test]
fn compact_states_do_not_wrap() {
    for item in [f64::MAX, -f64::MAX, 1.0, -3e-320] {
        let whole = 2_f64.powi(62) * item;
        let mut sum = CompactSum::new();
        sum.add(item);
        let (sum, times) = doubled(sum, CompactSum::merge);
        assert_eq!((sum.value(), times), (Some(whole), 62));
        let mut products = CompactProducts::new();
        products.add(item, 1.0);
        let (products, times) = doubled(products, CompactProducts::merge);
        assert_eq!((products.value(), times), (Some(whole), 62));
        let statistic = |state: &dyn Fn(Statistic, Options) -> Option<f64>,
                         statistic: Statistic| {
            state(statistic, statistic.defaults())
        };
        let mut powers = CompactPowers::new();
        powers.add(item);
        let (powers, times) = doubled(powers, CompactPowers::merge);
        let of_powers = |name| statistic(&|name, options| powers.statistic(name, options), name);
        assert_eq!((of_powers(Statistic::Mean), times), (Some(item), 62));
        assert_eq!(of_powers(Statistic::Variance), Some(0.0));
        assert_eq!(of_powers(Statistic::Kurtosis), None);
        let mut both = CompactCoMoments::new();
        both.add(item, -item);
        let (both, times) = doubled(both, CompactCoMoments::merge);
        let of_both = |name| statistic(&|name, options| both.statistic(name, options), name);
        assert_eq!((of_both(Statistic::Covariance), times), (Some(0.0), 62));
        let mut mean = CompactWeightedMean::new();
        mean.add(item, 3.0);
        let (mean, times) = doubled(mean, CompactWeightedMean::merge);
        let of_mean = |name| statistic(&|name, options| mean.statistic(name, options), name);
        assert_eq!((of_mean(Statistic::WeightedMean), times), (Some(item), 62));
        let mut moments = CompactMoments::new();
        moments.add(item);
        assert_eq!(doubled(moments, CompactMoments::merge).1, 62);
    }
}

#[test]
fn sums_by_key_do_not_wrap() {
    let keys = [1_u8];
    let mut sums = Keyed::<Sum<_>>::new(2).unwrap();
    sums.add(&keys, &[f64::MAX]).unwrap();
    let (most, times) = doubled(sums, Keyed::merge);
    assert_eq!((most.values(), times), (vec![0.0, f64::INFINITY], 62));
    assert_eq!(most.mean(1, 1 << times), f64::MAX);
    let again = Keyed::<Sum<f64>>::of_bytes(&most.to_bytes()).unwrap();
    assert_eq!(again, most);
    // Slots that were read from bytes are assumed to have the smallest number of items that can have this sum.
    assert_eq!(doubled(again, Keyed::merge).1, 1);
    // There is room for 2^62 - 1 more items.
    let mut full = most.clone();
    let mut part = Keyed::<Sum<_>>::new(2).unwrap();
    part.add(&keys, &[f64::MAX]).unwrap();
    for _ in 0..62 {
        full.merge(&part).unwrap();
        let before = part.clone();
        part.merge(&before).unwrap();
    }
    let error = full.add(&keys, &[1.0]).unwrap_err();
    assert_eq!(error, KeyError::Limit(LimitError::Items));
    assert!(full.remove(&keys, &[f64::MAX]).is_err());
    assert_eq!(full.mean(1, (1 << 63) - 1), f64::MAX);

    let mut singles = Keyed::<Sum<_>>::new(2).unwrap();
    singles.add(&keys, &[-f32::MAX]).unwrap();
    let (singles, times) = doubled(singles, Keyed::merge);
    assert_eq!(singles.mean(1, 1 << times), -f32::MAX);
    let mut nans = Keyed::<Sum<_>>::new(2).unwrap();
    nans.add(&keys, &[f64::NAN]).unwrap();
    assert!(doubled(nans, Keyed::merge).0.value(1).is_nan());
    let mut moments = Keyed::<Moments<_>>::new(2).unwrap();
    moments.add(&keys, &[f64::MAX]).unwrap();
    let (moments, times) = doubled(moments, Keyed::merge);
    assert_eq!(
        (moments.counts().unwrap()[1], moments.get(1).variance(0.0)),
        (1 << times, 0.0)
    );
    let mut products = Keyed::<ProductSum<_>>::new(2).unwrap();
    products.add(&keys, [&[f64::MAX], &[f64::MAX]]).unwrap();
    assert_eq!(doubled(products, Keyed::merge).1, 62);
    let mut columns = Keyed::<Sum<_>>::of_rows(2, 2).unwrap();
    columns.add(&keys, &[1.0, f64::MAX]).unwrap();
    assert_eq!(doubled(columns, Keyed::merge).1, 61);
    let mut means = Keyed::<WeightedMean<_>>::new(2).unwrap();
    means.add(&keys, [&[1.0], &[f64::MAX]]).unwrap();
    assert_eq!(doubled(means, Keyed::merge).0.value(1), 1.0);
    let mut hashed = Hashed::<_, Sum<_>>::new();
    hashed.add(&["a"], &[f64::MAX]).unwrap();
    assert_eq!(doubled(hashed, Hashed::merge).1, 62);
}

#[test]
fn sums_of_integers_do_not_wrap() {
    for item in [i128::MIN, i128::MAX, -1] {
        let (sum, times) = doubled(IntegerSum::with(item, 1).unwrap(), IntegerSum::merge);
        assert_eq!((sum.items(), times), (1 << 62, 62));
        assert_eq!(sum.mean(), Some(item as f64));
    }
    let (moments, _) = doubled(IntegerMoments::of(&[u64::MAX]), IntegerMoments::merge);
    assert_eq!((moments.items(), moments.variance(0.0)), (1 << 62, 0.0));
    assert_eq!(moments.sum(), i128::from(u64::MAX) << 62);
    assert_eq!(IntegerSum::with(0, 1 << 63), Err(LimitError::Items));
    let mut sums = Keyed::<IntegerSum>::new(3).unwrap();
    let most = i128::MAX;
    sums.add(&[1, 2_u8], (&[most, -most]).into()).unwrap();
    // A sum of more than 128 bits can become one of 128 bits again.
    sums.merge(&sums.clone()).unwrap();
    assert_eq!(sums.get(1).value(), None);
    sums.remove(&[1, 2_u8], (&[most, -most]).into()).unwrap();
    assert_eq!(
        [sums.get(1).value(), sums.get(2).value()],
        [Some(most), Some(-most)]
    );
    let before = sums.clone();
    let [large, one] =
        [i64::MAX.cast_unsigned(), 1].map(|items| IntegerSum::with(1, items).unwrap());
    let error = sums.add_slots(&[0, 0_u8], &[large, one]).unwrap_err();
    assert_eq!(error, KeyError::Limit(LimitError::Items));
    assert_eq!(sums, before);
    assert_eq!(doubled(sums, Keyed::merge).1, 62);
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let keys = 1_usize << 46;
    let sums_of = |bytes: u128| Some(KeyError::Limit(LimitError::Memory { bytes }));
    let (at, item) = ([1_u8], [1.0]);
    for keys in [keys, usize::MAX / 16, usize::MAX] {
        let of_keys = sums_of(16 * keys as u128);
        fn added<S: KeyedSlot>(keys: usize, items: S::Items<'_>) -> Option<KeyError> {
            let added = Keyed::<S>::new(keys).map_err(KeyError::Limit);
            added.and_then(|mut slots| slots.add(&[1_u8], items)).err()
        }
        assert_eq!(added::<Sum<f64>>(keys, &item), of_keys);
        let pairs = [&item[..], &item[..]];
        assert_eq!(added::<ProductSum<f64>>(keys, pairs), of_keys);
        assert_eq!(added::<WeightedMean<f64>>(keys, pairs), of_keys);
        assert_eq!(by_key(&at, &item, keys).err(), sums_of(8 * keys as u128));
        assert!(by_key::<u8, f64>(&[], &[], keys).is_err());
        #[cfg(feature = "par")]
        assert!(exact_sum::par::by_key(&at, &item, keys).is_err());
        assert!(Keyed::<Moments<f64>>::new(keys).is_err());
        assert!(
            Keyed::<IntegerSum>::new(keys).is_err() && Keyed::<Extrema<f64>>::new(keys).is_err()
        );
        assert!(Keyed::<Sum<f64>>::of_rows(keys, 1 << 20).is_err());
        let mut sums = Keyed::<Sum<_>>::new(2).unwrap();
        sums.add(&at, &item).unwrap();
        let mut moments = Keyed::<Moments<_>>::new(2).unwrap();
        moments.add(&at, &item).unwrap();
        let (small, few) = (sums.clone(), moments.clone());
        assert!(
            sums.grow(keys).is_err()
                && Keyed::new(keys).is_ok_and(|other| sums.merge(&other).is_err())
                    == (keys == 1 << 46)
        );
        assert!(moments.grow(keys).is_err());
        assert_eq!((sums, moments), (small, few));
    }
    let error = Keyed::<Sum<f64>>::of_rows(1 << 63, 2).unwrap_err();
    assert_eq!(error, LimitError::Memory { bytes: 1 << 68 });
}

/// A key whose clone panics on request.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Fragile(u32, bool);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(!self.1, "it is fragile");
        Self(self.0, self.1)
    }
}

#[test]
fn sums_are_usable_after_a_clone_has_panicked() {
    for few in [2, 400] {
        let mut keys: Vec<Fragile> = (0..few).map(|key| Fragile(key, false)).collect();
        keys[few as usize - 1].1 = true;
        let items = vec![1.5; keys.len()];
        let mut sums = Hashed::<_, Sum<_>>::new();
        let added = catch_unwind(AssertUnwindSafe(|| sums.add(&keys, &items)));
        assert!(added.is_err());
        assert_eq!(sums.values().len(), sums.keys().len());
        assert_eq!(sums.value(&keys[few as usize - 1]), None);
        let other = sums.clone();
        assert_eq!(sums, other);
        sums.merge(&other).unwrap();
        keys[few as usize - 1].1 = false;
        sums.add(&keys, &items).unwrap();
        assert_eq!(sums.keys().len(), keys.len());
        assert_eq!(sums.value(&keys[few as usize - 1]), Some(1.5));
    }
}
