//! Tests that sums by key over ranks equal the sums by key of one process, for every distribution of the items, algorithm and operation.

use std::ops::Range;
use std::time::Duration;

use reduce::exact::{
    self, Hashed, KeyError, Keyed, KeyedPlan, KeyedSlot, LimitError, Moments, Sum,
};
use reduce::{
    Algorithm, AnyPending, AnyPlan, BuildError, Operands, Operation, Plan, RunError, World,
    wait_all,
};

use super::{Check, offered};

pub(crate) const CHECKS: [(&str, Check); 8] = [
    ("sums by key by every algorithm", every_algorithm),
    ("slots by key", slots),
    ("sums by key of floats", floats),
    ("sums by key under way", under_way),
    ("sums by key of several plans at once", several_in_flight),
    ("sums by any keys", any_keys),
    ("sums by key that fail", failures),
    ("sums by key of too many items", limits),
];

/// Checks the error if all ranks together have more items than one sum can count.
fn limits(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    if ranks == 1 {
        return;
    }
    let mut sums = Keyed::<Sum<_>>::new(3).unwrap();
    sums.add(&[1_u8], &[f64::MAX]).unwrap();
    let mut moments = Keyed::<Moments<_>>::new(3).unwrap();
    moments.add(&[1_u8], &[f64::NAN]).unwrap();
    let mut hashed = Hashed::<_, Sum<_>>::new();
    hashed.add(&[-7_i64], &[f64::MAX]).unwrap();
    for _ in 0..62 {
        let (of_sums, of_moments, of_hashed) = (sums.clone(), moments.clone(), hashed.clone());
        sums.merge(&of_sums).unwrap();
        moments.merge(&of_moments).unwrap();
        hashed.merge(&of_hashed).unwrap();
    }
    let error = RunError::Limit {
        rank,
        error: LimitError::Items,
    };
    for algorithm in offered(world).filter(|algorithm| algorithm.takes_rows()) {
        let builder = || Plan::builder(world).algorithm(algorithm);
        let plan = builder().build_keyed::<Sum<f64>>(3).unwrap();
        assert_eq!(plan.allreduce(&sums).err(), Some(error.clone()));
        assert_eq!(plan.reduce(&sums).err(), Some(error.clone()));
        // The plan is not spent: it can add the items of one rank alone.
        let one = if rank == 0 {
            sums.clone()
        } else {
            Keyed::<Sum<_>>::new(3).unwrap()
        };
        assert_eq!(plan.allreduce(&one).unwrap(), sums);
        let plan = builder().build_keyed::<Moments<f64>>(3).unwrap();
        assert_eq!(plan.allreduce(&moments).err(), Some(error.clone()));
        if algorithm.is_scheduled() {
            let run = plan.start_allreduce(&moments).unwrap();
            assert_eq!(run.wait().err(), Some(error.clone()));
        }
        let few = if rank == 0 {
            moments.clone()
        } else {
            Keyed::<Moments<_>>::new(3).unwrap()
        };
        assert_eq!(plan.allreduce(&few).unwrap(), moments);
    }
    let plan = Plan::builder(world)
        .build_hashed::<i64, Sum<f64>>()
        .unwrap();
    assert_eq!(plan.allreduce(&hashed), Err(error.clone()));
    assert_eq!(plan.reduce_scatter(&hashed).err(), Some(error));
    let one = if rank == 0 {
        hashed.clone()
    } else {
        Hashed::<_, Sum<_>>::new()
    };
    assert_eq!(plan.allreduce(&one).unwrap(), [(-7, f64::INFINITY)]);
}

impl Lot {
    /// A second column of items, for slots that need two columns.
    fn others(&self) -> Vec<f64> {
        self.items.iter().rev().map(|item| item * 0.75).collect()
    }

    fn integers(&self) -> Vec<i64> {
        let bits = |item: &f64| item.to_bits().cast_signed();
        self.items.iter().map(bits).collect()
    }
}

/// The items of one rank, with their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lot {
    pub(crate) keys: Vec<u32>,
    pub(crate) items: Vec<f64>,
}

/// The range of the items' magnitudes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Twenty different exponents, the same on all ranks.
    Near,
    /// Twenty different exponents on each rank, which are greater by 100 than those of the previous rank.
    Apart,
    /// All exponents, including subnormal numbers.
    Far,
    /// Like `Near`, with some infinities and NaNs.
    Special,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Near, Self::Apart, Self::Far, Self::Special];
}

/// The lots of all ranks. Some lots have no items; the first lot usually has the most.
pub(crate) fn lots(ranks: usize, keys: usize, kind: Kind, seed: u64) -> Vec<Lot> {
    let mut state = seed ^ 0x9E37_79B9_7F4A_7C15;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 12
    };
    let lot = |rank: usize| {
        let mut lot = Lot::default();
        let count = match next() % 5 {
            0 => 0,
            _ if rank == 0 => 4 * keys as u64 + next() % 900,
            _ => next() % 700,
        };
        for _ in 0..count {
            let (key, fraction) = (next() % keys as u64, next());
            let exponent = match kind {
                Kind::Near | Kind::Special => next() % 20 + 1010,
                Kind::Apart => (next() % 20 + 100 * rank as u64 + 800) % 2047,
                Kind::Far => next() % 2047,
            };
            let bits = next() << 63 | exponent << 52 | fraction & ((1 << 52) - 1);
            let item = match (kind, next() % 40) {
                (_, 0) => 0.0,
                (_, 1) => -0.0,
                (Kind::Special, 2) => f64::INFINITY,
                (Kind::Special, 3) => f64::NEG_INFINITY,
                (Kind::Special, 4) => f64::NAN,
                _ => f64::from_bits(bits),
            };
            lot.keys.push(u32::try_from(key).unwrap());
            lot.items.push(item);
        }
        lot
    };
    (0..ranks).map(lot).collect()
}

/// The items of each key.
pub(crate) fn by_key(lots: &[Lot], keys: usize) -> Vec<Vec<f64>> {
    let mut groups = vec![Vec::new(); keys];
    for lot in lots {
        for (&key, &item) in lot.keys.iter().zip(&lot.items) {
            groups[key as usize].push(item);
        }
    }
    groups
}

/// The bits of each key's sum, computed with integers. A sum by key begins at +0.0, so it is never -0.0.
pub(crate) fn expected(lots: &[Lot], keys: usize) -> Vec<u64> {
    let groups = by_key(lots, keys);
    let sums = groups.iter().map(|items| integer_sums::sum(items) + 0.0);
    sums.map(canonical).collect()
}

fn canonical(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        value.to_bits()
    }
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().copied().map(canonical).collect()
}

pub(crate) fn sums_of(lot: &Lot, keys: usize) -> Keyed<Sum<f64>> {
    let mut sums = Keyed::<Sum<_>>::new(keys).unwrap();
    sums.add(&lot.keys, &lot.items).unwrap();
    sums
}

/// Checks every operation of a plan, both as a blocking call and as a run that is started and waited for.
pub(crate) fn check_all(
    plan: &KeyedPlan<Keyed<Sum<f64>>>,
    root: usize,
    lots: &[Lot],
    expected: &[u64],
) {
    let (rank, keys) = (plan.world().rank(), plan.keys());
    let (own, local) = (&lots[rank], sums_of(&lots[rank], keys));
    let at_root = |sums: Option<Keyed<Sum<f64>>>| {
        let values = sums.map(|sums| bits(&sums.values()));
        assert_eq!(values, (rank == root).then(|| expected.to_vec()));
    };
    let of_own = |sums: Keyed<Sum<f64>>| {
        assert_eq!(bits(&sums.values()), expected[plan.scattered_keys()]);
    };
    let mut values = vec![f64::NAN; keys];
    plan.by_key(&own.keys, &own.items, &mut values).unwrap();
    assert_eq!(bits(&values), expected);
    let sums = plan.allreduce(&local).unwrap();
    assert_eq!(bits(&sums.values()), expected);
    at_root(plan.reduce(&local).unwrap());
    if plan.algorithm(Operation::ReduceScatter).is_none() {
        assert!(matches!(
            plan.reduce_scatter(&local),
            Err(RunError::NotOffered { .. })
        ));
        return;
    }
    of_own(plan.reduce_scatter(&local).unwrap());
    let run = plan.start_allreduce(&local).unwrap();
    assert_eq!(bits(&run.wait().unwrap().values()), expected);
    at_root(plan.start_reduce(&local).unwrap().wait().unwrap());
    of_own(plan.start_reduce_scatter(&local).unwrap().wait().unwrap());
}

fn every_algorithm(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    for keys in [1, 2, 40, 150] {
        let cases = Kind::ALL.map(|kind| {
            let lots = lots(ranks, keys, kind, keys as u64);
            let expected = expected(&lots, keys);
            (kind, lots, expected)
        });
        for algorithm in offered(world).filter(|algorithm| algorithm.takes_rows() || keys == 1) {
            let root = ranks / 2;
            let builder = Plan::builder(world).algorithm(algorithm).root(root);
            let plan = builder.build_keyed::<Sum<f64>>(keys).unwrap();
            assert_eq!(plan.keys(), keys);
            // One plan adds the items of all cases, although each case has other keys.
            for (kind, lots, expected) in &cases {
                if keys < 150 || matches!(kind, Kind::Apart) {
                    check_all(&plan, root, lots, expected);
                    continue;
                }
                let own = &lots[rank];
                let mut values = vec![0.0; keys];
                plan.by_key(&own.keys, &own.items, &mut values).unwrap();
                assert_eq!(bits(&values), *expected, "{algorithm}, {kind:?}");
            }
            let mut values = vec![f64::NAN; keys];
            plan.by_key::<u32>(&[], &[], &mut values).unwrap();
            assert_eq!(bits(&values), vec![0; keys]);
        }
    }
}

/// Checks that the ranks' slots, merged, equal the slot of all items. All algorithms merge moments; two merge each other type of slot.
fn slots(world: &World) {
    let all: Vec<Algorithm> = offered(world)
        .filter(|algorithm| algorithm.takes_rows())
        .collect();
    let two = [all[0], all[all.len() - 1]];
    slot::<Moments<f64>>(world, &all, |lot, add| add(&lot.items));
    slot::<exact::Mean<f64>>(world, &two, |lot, add| add(&lot.items));
    slot::<exact::Powers<f64>>(world, &two, |lot, add| add(&lot.items));
    slot::<exact::Extrema<f64>>(world, &two, |lot, add| add(&lot.items));
    let both = |lot: &Lot, add: &mut dyn FnMut([&[f64]; 2])| add([&lot.items, &lot.others()]);
    slot::<exact::ProductSum<f64>>(world, &two, both);
    slot::<exact::CoMoments<f64>>(world, &two, both);
    slot::<exact::WeightedMean<f64>>(world, &two, both);
    slot::<exact::IntegerSum>(world, &two, |lot, add| add(lot.integers()[..].into()));
    slot::<exact::IntegerMoments>(world, &two, |lot, add| add(lot.integers()[..].into()));
}

/// A function to which the items for a slot are passed.
type WithItems<'f, S> = &'f mut dyn FnMut(<S as exact::Slot>::Items<'_>);

/// Checks a type of slot. `with` passes the items of a lot to a function.
fn slot<S: KeyedSlot>(world: &World, algorithms: &[Algorithm], with: fn(&Lot, WithItems<'_, S>)) {
    let (rank, ranks, keys) = (world.rank(), world.size(), 8);
    let lots_of = |seed, kind| lots(ranks, keys, kind, seed);
    for &algorithm in algorithms {
        let builder = Plan::builder(world).algorithm(algorithm);
        let plan = builder.build_keyed::<S>(keys).unwrap();
        for (seed, kind) in (5..).zip(Kind::ALL) {
            let lots = lots_of(seed, kind);
            let [mut expected, mut local] = [0; 2].map(|_| Keyed::<S>::new(keys).unwrap());
            for lot in &lots {
                with(lot, &mut |items| expected.add(&lot.keys, items).unwrap());
            }
            let own = &lots[rank];
            with(own, &mut |items| {
                local.add(&own.keys, items).unwrap();
                let all = plan.allreduce_items(&own.keys, items).unwrap();
                assert_eq!(all, expected, "{algorithm}, {kind:?}");
            });
            let mut values = plan.allreduce(&local).unwrap().values();
            plan.allreduce_values(&local, &mut values).unwrap();
            let bits = |values: Vec<S::Item>| -> Vec<u64> {
                let values = values.into_iter().map(|value| canonical(value.into()));
                values.collect()
            };
            assert_eq!(
                bits(values),
                bits(expected.values()),
                "{algorithm}, {kind:?}"
            );
            if plan.algorithm(Operation::ReduceScatter).is_some() {
                let scattered = plan.reduce_scatter(&local).unwrap();
                for (key, of_all) in plan.scattered_keys().enumerate() {
                    assert_eq!(
                        scattered.get(key),
                        expected.get(of_all),
                        "{algorithm}, {kind:?}"
                    );
                }
            }
        }
    }
    let plan = Plan::builder(world).build_hashed::<u64, S>().unwrap();
    for (seed, kind) in (5..).zip(Kind::ALL) {
        let lots = lots_of(seed, kind);
        let [mut expected, mut local] = [0; 2].map(|_| Hashed::<u64, S>::new());
        for (of_rank, lot) in lots.iter().enumerate() {
            let keys: Vec<u64> = lot.keys.iter().map(|key| u64::from(*key) << 40).collect();
            with(lot, &mut |items| {
                expected.add(&keys, items).unwrap();
                if of_rank == rank {
                    local.add(&keys, items).unwrap();
                }
            });
        }
        let own = plan.reduce_scatter(&local).unwrap();
        for key in expected
            .keys()
            .iter()
            .filter(|key| plan.owner(**key) == rank)
        {
            assert_eq!(own.get(key), expected.get(key), "{kind:?}");
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "any floats will do")]
fn floats(world: &World) {
    let (rank, ranks, keys) = (world.rank(), world.size(), 12);
    let plan = Plan::builder(world).build_keyed::<Sum<f32>>(keys);
    let plan = plan.unwrap();
    for (seed, kind) in (9..).zip([Kind::Near, Kind::Special, Kind::Far, Kind::Apart]) {
        let lots = lots(ranks, keys, kind, seed);
        // The upper halves of doubles of all exponents are read as floats, which then have all exponents, too.
        let single = |item: f64| match kind {
            Kind::Near | Kind::Special => item as f32,
            Kind::Far | Kind::Apart => f32::from_bits((item.to_bits() >> 32) as u32),
        };
        let floats: Vec<f32> = lots[rank].items.iter().copied().map(single).collect();
        let mut values = vec![f32::NAN; keys];
        plan.by_key(&lots[rank].keys, &floats, &mut values).unwrap();
        for (items, value) in by_key(&lots, keys).iter().zip(values) {
            let items: Vec<f64> = items.iter().map(|&item| single(item).into()).collect();
            let expected = if items.iter().all(|item| item.is_finite()) {
                integer_sums::units::to_single(&integer_sums::units::sum(items))
            } else {
                integer_sums::sum(&items) as f32
            };
            assert!(value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan());
        }
    }
}

fn under_way(world: &World) {
    let (rank, ranks, keys) = (world.rank(), world.size(), 50);
    let builder = || Plan::builder(world);
    let plan = builder().build_keyed::<Sum<f64>>(keys).unwrap();
    for (seed, kind) in (20..).zip(Kind::ALL) {
        let lots = lots(ranks, keys, kind, seed);
        let expected = expected(&lots, keys);
        let local = sums_of(&lots[rank], keys);
        let run = plan.start_allreduce(&local).unwrap();
        assert_eq!(
            plan.allreduce(&local).err(),
            Some(RunError::UnderWay { rank })
        );
        assert_eq!(
            plan.start_reduce(&local).err(),
            Some(RunError::UnderWay { rank })
        );
        let mut looks = 0;
        while !run.test().unwrap() {
            looks += 1;
            assert!(looks < 10_000_000, "{kind:?} does not end");
            std::thread::yield_now();
        }
        assert_eq!(bits(&run.wait().unwrap().values()), expected);
        let run = plan.start_allreduce(&local).unwrap();
        // Bindings for other languages may refuse a call while a run is under way. This changes nothing.
        plan.refuse(Operation::Allreduce);
        plan.refuse(Operation::Scan);
        while let Err(error) = run.wait_timeout(Duration::from_micros(20)) {
            assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
        }
        assert_eq!(bits(&run.wait().unwrap().values()), expected);
    }
    // After a run is dropped, the plan eventually cannot run again on any rank.
    let local = Keyed::<Sum<_>>::new(keys).unwrap();
    drop(plan.start_allreduce(&local).unwrap());
    assert!(plan.allreduce(&local).is_err());
    let plan = builder().build_keyed::<Sum<f64>>(keys).unwrap();
    assert!(plan.allreduce(&local).is_ok());
}

/// Ranks wait for their runs in different orders.
fn several_in_flight(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    let sizes = [3, 40, 100];
    let plans = sizes.map(|keys| {
        let plan = Plan::builder(world).build_keyed::<Sum<f64>>(keys);
        plan.unwrap()
    });
    let single = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    for seed in 0..4 {
        for kind in Kind::ALL {
            let lots = sizes.map(|keys| lots(ranks, keys, kind, seed));
            let check = |number: usize, sums: Keyed<Sum<f64>>| {
                let expected = expected(&lots[number], sizes[number]);
                assert_eq!(bits(&sums.values()), expected, "{kind:?}, seed {seed}");
            };
            let runs: Range<usize> = 0..3;
            let mut runs: Vec<_> = runs
                .map(|number| {
                    let local = sums_of(&lots[number][rank], sizes[number]);
                    (number, plans[number].start_allreduce(&local).unwrap())
                })
                .collect();
            let count = single.start_allreduce(&[1.0]).unwrap();
            runs.rotate_left((rank + usize::try_from(seed).unwrap()) % 3);
            if seed == 3 {
                let mut all: Vec<&AnyPending> = vec![&count];
                all.extend(runs.iter().map(|(_, run)| -> &AnyPending { run }));
                all.rotate_left(rank % 4);
                wait_all(&all).unwrap();
            }
            for (number, run) in runs {
                check(number, run.wait().unwrap());
            }
            assert_eq!(count.wait(), Ok(ranks as f64));
        }
    }
}

fn any_keys(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    let root = ranks - 1;
    let builder = Plan::builder(world).root(root);
    let plan = builder.build_hashed::<i64, Sum<f64>>().unwrap();
    for (seed, kind) in (30..).zip(Kind::ALL) {
        let lots = lots(ranks, 60, kind, seed);
        // Spreads the keys over the 64-bit integers, so that they have another order.
        let spread = |key: u32| {
            i64::from(key)
                .wrapping_mul(0x1E37_79B9_7F4A_7C15)
                .rotate_left(key)
        };
        let mut expected: Vec<(i64, u64)> = Vec::new();
        for (key, items) in (0..).zip(by_key(&lots, 60)) {
            if !items.is_empty() {
                let value = integer_sums::sum(&items) + 0.0;
                expected.push((spread(key), canonical(value)));
            }
        }
        expected.sort_unstable();
        let same = |found: &[(i64, f64)]| {
            let found = found.iter().map(|&(key, value)| (key, canonical(value)));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{kind:?}");
        };
        let own = &lots[rank];
        let keys: Vec<i64> = own.keys.iter().map(|&key| spread(key)).collect();
        same(&plan.by_key(&keys, &own.items).unwrap());
        let mut local = Hashed::<_, Sum<_>>::new();
        local.add(&keys, &own.items).unwrap();
        same(&plan.allreduce(&local).unwrap());
        let at_root = plan.reduce(&local).unwrap();
        assert_eq!(at_root.is_some(), rank == root);
        at_root.iter().for_each(|all| same(all));
        let run = plan.start_allreduce(&local).unwrap();
        // On every rank, the run counts as under way until its result is taken, even if it has ended.
        while rank.is_multiple_of(2) && !run.test().unwrap() {
            std::thread::yield_now();
        }
        let spoilt = plan.allreduce(&local).err();
        assert_eq!(spoilt, Some(RunError::UnderWay { rank }));
        let spoilt = plan.start_reduce(&local).err();
        assert_eq!(spoilt, Some(RunError::UnderWay { rank }));
        plan.refuse(Operation::Allreduce);
        same(&run.wait().unwrap());
        let at_root = plan.start_reduce(&local).unwrap().wait().unwrap();
        assert_eq!(at_root.is_some(), rank == root);
        at_root.iter().for_each(|all| same(all));
        let at_root = plan.reduce_by_key(&keys, &own.items).unwrap();
        assert_eq!(at_root.is_some(), rank == root);
        at_root.iter().for_each(|all| same(all));
        let is_mine = |&&(key, _): &&(i64, u64)| plan.owner(key) == rank;
        let expected: Vec<_> = expected.iter().filter(is_mine).copied().collect();
        for mine in [
            plan.reduce_scatter(&local),
            plan.reduce_scatter_by_key(&keys, &own.items),
            plan.start_reduce_scatter(&local).unwrap().wait(),
        ] {
            let mine = mine.unwrap();
            let mine = mine.values().into_iter();
            let mine = mine.map(|(&key, value)| (key, canonical(value)));
            assert_eq!(mine.collect::<Vec<_>>(), expected);
        }
    }
    let nothing = plan.by_key(&[], &[]).unwrap();
    assert_eq!(nothing, []);
    let items: &[f64] = if rank == 0 { &[1.0, 2.0] } else { &[1.0] };
    let error = KeyError::Lengths { keys: 1, items: 2 };
    let expected = if rank == 0 {
        RunError::Keys { rank, error }
    } else {
        RunError::RankFailed { rank: 0 }
    };
    assert_eq!(plan.by_key(&[-1], items), Err(expected.clone()));
    assert_eq!(plan.by_key(&[-1], &[1.0]), Err(RunError::Spent { rank }));
    let build = || {
        Plan::builder(world)
            .build_hashed::<i64, Sum<f64>>()
            .unwrap()
    };
    let outcome = build().reduce_by_key(&[-1], items);
    assert_eq!(outcome.err(), Some(expected.clone()));
    let outcome = build().reduce_scatter_by_key(&[-1], items);
    assert_eq!(outcome.err(), Some(expected));
    // After a run is dropped, the plan eventually cannot run again on any rank.
    let (plan, local) = (build(), Hashed::<_, Sum<_>>::new());
    drop(plan.start_allreduce(&local).unwrap());
    assert!(plan.allreduce(&local).is_err());
    whatever_the_type(world);
}

/// Uses a plan whose types are erased, as bindings for other languages do.
fn whatever_the_type(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    let plan = Plan::builder(world)
        .build_hashed::<i64, Sum<f64>>()
        .unwrap();
    let keys: Vec<i64> = (-3..9).collect();
    let items: Vec<f64> = (-3..9_i32).map(f64::from).collect();
    let expected: Vec<f64> = items.iter().map(|item| item * ranks as f64).collect();
    let of_own: Vec<u64> = keys
        .iter()
        .zip(&expected)
        .filter(|&(&key, _)| plan.owner(key) == rank)
        .map(|(_, &value)| canonical(value))
        .collect();
    let mut local = Hashed::<_, Sum<_>>::new();
    local.add(&keys, &items).unwrap();
    let plan = plan.into_any();
    assert_eq!(plan.algorithm(Operation::Allreduce), None);
    let printed = plan.to_string();
    let ending = "each by the rank that owns the key\n";
    assert!(printed.ends_with(ending), "{printed}");
    let mut values = [0.0; 12];
    let run = plan.run(
        Operation::Allreduce,
        Operands::State(&local),
        bytemuck::cast_slice_mut(&mut values),
    );
    assert_eq!(run, Ok(true));
    assert_eq!(bits(&values), bits(&expected));
    let run = plan.start(Operation::Allreduce, Operands::State(&local));
    let short = run
        .unwrap()
        .wait(bytemuck::cast_slice_mut(&mut values[..11]));
    let too_few = RunError::WrongResultLength {
        rank,
        expected: 12,
        given: 11,
    };
    assert_eq!(short, Err(too_few));
    // A reduce-scatter's result, which has this rank's own keys, can replace a state. An allreduce's result, which has all keys, cannot.
    assert!(plan.takes_state(&local) && !plan.takes_state(&0.0));
    let run = plan.run_state(Operation::ReduceScatter, &mut local);
    assert_eq!(run, Ok(true));
    let values = local.values().into_iter();
    assert_eq!(
        bits(&values.map(|(_, value)| value).collect::<Vec<f64>>()),
        of_own
    );
    let other = RunError::NotFolded {
        rank,
        reason: "the plan does not accept such operands".to_owned(),
    };
    let run = plan.run_state(Operation::Allreduce, &mut local);
    assert_eq!(run, Err(other.clone()));
    let scan = plan.run_state(Operation::Scan, &mut local);
    assert_eq!(scan, Err(other));
    let again = plan.run_state(Operation::ReduceScatter, &mut local);
    assert_eq!(again, Ok(true));
    // Rank 0 passes a state of another type, or refuses its call.
    let of_rank_0: [fn(&AnyPlan) -> Option<RunError>; 2] = [
        |plan| {
            let other = Operands::State(&0_u8);
            plan.run(Operation::Allreduce, other, &mut []).err()
        },
        |plan| {
            plan.refuse(Operation::Allreduce);
            let again = plan.run_state(Operation::Allreduce, &mut Hashed::<i64, Sum<f64>>::new());
            again.err()
        },
    ];
    for (number, of_rank_0) in of_rank_0.into_iter().enumerate() {
        let plan = Plan::builder(world)
            .build_hashed::<i64, Sum<f64>>()
            .unwrap();
        let plan = plan.into_any();
        let error = match rank {
            0 => of_rank_0(&plan),
            _ => plan.run_state(Operation::Allreduce, &mut local).err(),
        };
        match (rank, number, error) {
            (0, 0, Some(RunError::NotFolded { rank: 0, .. }))
            | (0, 1, Some(RunError::Spent { rank: 0 })) => {}
            (_, _, error) => assert_eq!(error, Some(RunError::RankFailed { rank: 0 })),
        }
    }
}

fn failures(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    let last = ranks - 1;
    for algorithm in offered(world).filter(|algorithm| algorithm.takes_rows()) {
        let build = || {
            let builder = Plan::builder(world).algorithm(algorithm);
            builder.build_keyed::<Sum<f64>>(5).unwrap()
        };
        let of_last = |error: RunError| {
            if rank == last {
                error
            } else {
                RunError::RankFailed { rank: last }
            }
        };
        let good: (&[u16], &[f64]) = (&[0, 4], &[1.0, 2.0]);
        let bad: [(&[u16], &[f64], KeyError); 2] = [
            (
                &[3, 5],
                &[1.0, 2.0],
                KeyError::OutOfRange {
                    item: 1,
                    key: 5,
                    sums: 5,
                },
            ),
            (&[3], &[1.0, 2.0], KeyError::Lengths { keys: 1, items: 2 }),
        ];
        for (keys, items, error) in bad {
            let plan = build();
            let (keys, items) = if rank == last { (keys, items) } else { good };
            let outcome = plan.by_key(keys, items, &mut [0.0; 5]);
            assert_eq!(outcome, Err(of_last(RunError::Keys { rank, error })));
            let again = plan.by_key(good.0, good.1, &mut [0.0; 5]);
            assert_eq!(again, Err(RunError::Spent { rank }));
        }
        let wrong = RunError::WrongKeys {
            rank,
            planned: 5,
            given: 6,
        };
        let own = Keyed::<Sum<_>>::new(if rank == last { 6 } else { 5 }).unwrap();
        let outcome = build().allreduce(&own);
        assert_eq!(outcome.err(), Some(of_last(wrong.clone())));
        if algorithm.is_scheduled() {
            let plan = build();
            let outcome = plan.start_reduce_scatter(&own).unwrap().wait();
            assert_eq!(outcome.err(), Some(of_last(wrong)));
        }
    }
    let plan = Plan::builder(world).build_keyed::<Sum<f64>>(3).unwrap();
    let outcome = plan.by_key(&[0_i8], &[1.0], &mut [0.0; 2]);
    let wrong = RunError::WrongResultLength {
        rank,
        expected: 3,
        given: 2,
    };
    assert_eq!(outcome, Err(wrong));
    let none = Plan::builder(world).build_keyed::<Sum<f64>>(0);
    assert_eq!(none.err(), Some(BuildError::NoKeys));
    if ranks > 1 {
        let keys = if rank == last { 6 } else { 5 };
        let outcome = Plan::builder(world).build_keyed::<Sum<f64>>(keys);
        let text = outcome.err().unwrap().to_string();
        let expected = "ranks disagree on the number of keys: rank 0 has 5; rank";
        assert_eq!(text, format!("{expected} {last} has 6"));
        let text = if rank == last {
            let plan = Plan::builder(world).build_keyed::<Sum<f32>>(5);
            plan.err().unwrap().to_string()
        } else {
            let plan = Plan::builder(world).build_keyed::<Sum<f64>>(5);
            plan.err().unwrap().to_string()
        };
        assert!(text.contains("sums by key of f32"), "{text}");
    }
}
