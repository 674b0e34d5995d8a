//! Tests that a floating-point environment that would change bits is an error on every rank.
//!
//! The tests run on x86-64 and aarch64 only, because they set the control register of their threads by an assembly instruction.

#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod control;

use std::hint::black_box;

use control::{Bits, DEFAULT, DEPARTURES, FLUSH_TO_ZERO, FLUSHING, ROUND_UP, set};
use reduce::environment::{EnvironmentError, check};
use reduce::operator::custom;
use reduce::threads::run;
use reduce::{Algorithm, BuildError, FoldError, Plan, RunError, exact};

/// Runs `body` with these bits of the control register set, on this thread.
fn with<R>(bits: Bits, body: impl FnOnce() -> R) -> R {
    set(DEFAULT | bits);
    let result = body();
    set(DEFAULT);
    result
}

#[test]
fn each_departure_from_the_default_is_named() {
    assert_eq!(check(), Ok(()));
    for (bits, error) in DEPARTURES {
        assert_eq!(with(bits, check), Err(error));
        let sum = with(bits, || reduce::sum(&[1.0, 2.0]));
        assert_eq!(sum, Err(FoldError::Environment(error)));
        let x = [1.0, 2.0];
        let others = with(bits, || {
            [
                reduce::dot(&x, &x).map(drop),
                reduce::squared_norm(&x).map(drop),
                reduce::sum_and_absolute_sum(&x).map(drop),
                reduce::sum_rows(&x, 1, &mut [0.0]),
                reduce::fields(&[&x], &reduce::Sum).map(drop),
            ]
        });
        for other in others {
            assert_eq!(other, Err(FoldError::Environment(error)));
        }
    }
    assert_eq!(check(), Ok(()));
}

/// Exact sums do not depend on the environment. Items that a processor would treat as zero are added, and nothing is rounded up.
#[test]
fn exact_sums_are_right_in_every_environment() {
    let tiny = f64::from_bits(3);
    let x: Vec<f64> = (0..5000)
        .map(|i| match i % 5 {
            0 => tiny,
            1 => 1.0 / f64::from(i),
            2 => -1e300 / f64::from(i),
            3 => f64::MIN_POSITIVE / 3.0,
            _ => f64::from(i),
        })
        .collect();
    let singles: Vec<f32> = (0..5000).map(|i| f32::from_bits(i * 7919)).collect();
    let pairs: Vec<[f64; 2]> = x.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    let values = || {
        let y: Vec<f64> = x.iter().rev().copied().collect();
        let single = exact::sum(&singles);
        let mut magnitudes = exact::Sum::new();
        magnitudes.add_magnitudes(&singles);
        let mut complex = exact::ComplexSum::new();
        complex.add(&pairs);
        let mut products = exact::ComplexProductSum::new();
        products.add_conjugate(&pairs, &pairs);
        let mut column_sums = [0.0; 2];
        exact::sum_rows(&x, 2, &mut column_sums).unwrap();
        let of_doubles = [
            exact::sum(&x),
            exact::sum(&[tiny, tiny]),
            exact::dot(&x, &y).unwrap(),
            exact::dot(&[f64::INFINITY, 1.0], &[tiny, -0.0]).unwrap(),
            exact::dot(&[-0.0], &[tiny]).unwrap(),
            exact::norm(&x),
            exact::norm(&[tiny, tiny]),
        ];
        let of_singles = [
            single,
            magnitudes.value(),
            exact::dot(&singles, &singles).unwrap(),
        ];
        let of_singles = of_singles.map(|value| u64::from(value.to_bits()));
        let mut all: Vec<u64> = of_doubles.map(f64::to_bits).to_vec();
        all.extend(complex.value().map(f64::to_bits));
        all.extend(products.value().map(f64::to_bits));
        all.extend(column_sums.map(f64::to_bits));
        all.extend(of_singles);
        all
    };
    let expected = values();
    assert_eq!(expected[1], 6);
    assert_eq!(expected[3], f64::INFINITY.to_bits());
    for (bits, error) in DEPARTURES {
        assert_eq!(with(bits, values), expected, "{error}");
    }
}

/// Sums by key, sums of windows, and statistics that follow from sums do not depend on the environment, either.
#[test]
fn what_follows_from_exact_sums_is_right_in_every_environment() {
    let tiny = f64::from_bits(3);
    // The exponents differ so much that no unit fits most items of a block.
    let x: Vec<f64> = (0..5000)
        .map(|i| match i % 5 {
            0 => tiny,
            1 => 1e150 / f64::from(i),
            2 => -1e300 / f64::from(i),
            3 => 1e-150 * f64::from(i),
            _ => f64::from(i),
        })
        .collect();
    let keys: Vec<u16> = (0..5000).map(|i| i % 5).collect();
    let singles: Vec<f32> = (0..5000).map(|i| f32::from_bits(i * 7919)).collect();
    let weights: Vec<f64> = x.iter().rev().copied().collect();
    let ratio = |item: i32| f64::from(item * item % 977) / 7.0;
    let near: [Vec<f64>; 2] = [0, 7].map(|from| (from..from + 300).map(ratio).collect());
    let values = || {
        let mut all = exact::by_key(&keys, &x, 5).unwrap();
        let mut keyed = exact::Keyed::<exact::Moments<_>>::new(5).unwrap();
        keyed.add(&keys, &x).unwrap();
        all.extend((0..5).map(|key| keyed.get(key).variance(0.0)));
        let mut few = exact::Keyed::<exact::Sum<_>>::new(2).unwrap();
        few.add_one(0, 1.0);
        few.add_one(1, tiny);
        few.add(&[1, 1_u8], &[tiny, -0.0]).unwrap();
        all.extend(few.values());
        let mut products = exact::Keyed::<exact::ProductSum<_>>::new(5).unwrap();
        products.add(&keys, [&x, &weights]).unwrap();
        all.extend(products.values());
        let mut extrema = exact::Keyed::<exact::Extrema<_>>::new(5).unwrap();
        extrema.add(&keys, &x).unwrap();
        let bounds = (0..5).map(|key| [extrema.get(key).minimum(), extrema.get(key).maximum()]);
        all.extend(bounds.flatten().flatten());
        for placement in [exact::Placement::Trailing, exact::Placement::Centred] {
            let windows = exact::Rolling::of_items(4, placement);
            let width = f64::from_bits(3);
            let ranges = exact::Rolling::of_range(&[0.0, tiny, 1.0], width, placement).unwrap();
            for statistic in exact::Statistic::ALL {
                let (inputs, options) = (statistic.inputs(), statistic.defaults());
                let near = [near[0].as_slice(), &near[1]];
                for columns in [near, [&x[..200], &weights[..200]]] {
                    let values = windows.values(statistic, options, &columns[..inputs]);
                    all.extend(values.unwrap());
                }
                let short = [[1.0, 2.0, 4.0].as_slice(); 2];
                all.extend(ranges.values(statistic, options, &short[..inputs]).unwrap());
            }
        }
        let moments = exact::Moments::of(&x);
        all.extend([moments.mean(), moments.standard_deviation(1.0)]);
        for (items, weights) in [(&x[..], &weights[..]), (&[0.0], &[tiny]), (&[1.0], &[0.0])] {
            let mut mean = exact::WeightedMean::new();
            mean.add(items, weights);
            all.push(mean.value());
        }
        let mut all: Vec<u64> = all.into_iter().map(f64::to_bits).collect();
        let singles = exact::by_key(&keys, &singles, 5).unwrap();
        all.extend(singles.iter().map(|sum| u64::from(sum.to_bits())));
        let mut extrema = exact::Keyed::<exact::Extrema<_>>::new(1).unwrap();
        extrema.add(&[0_u8; 2], &[f32::from_bits(1), 0.0]).unwrap();
        let greatest = extrema.get(0).maximum().map(f32::to_bits);
        all.push(greatest.unwrap().into());
        all
    };
    let expected = values();
    assert_eq!(expected[0], 3 * 1000);
    assert_eq!(expected[11], 6);
    for (bits, error) in DEPARTURES {
        assert_eq!(with(bits, values), expected, "{error}");
    }
}

#[test]
fn one_rank_s_environment_stops_the_plan_on_every_rank() {
    let errors = run(5, |world| {
        let build = || Plan::builder(world).local_items(1).build::<f64>().map(drop);
        let bits = if world.rank() == 3 { FLUSH_TO_ZERO } else { 0 };
        with(bits, build)
    });
    let expected = BuildError::Environment {
        rank: 3,
        error: FLUSHING,
    };
    assert_eq!(errors.unwrap(), vec![Err(expected); 5]);
}

#[test]
fn an_environment_that_changes_after_the_plan_stops_its_run() {
    let results = run(5, |world| {
        let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        let hashed = Plan::builder(world)
            .build_hashed::<i64, exact::Sum<f64>>()
            .unwrap();
        let bits = if world.rank() == 3 { ROUND_UP } else { 0 };
        with(bits, || {
            let by_key = hashed.by_key(&[7], &[1.0]);
            [plan.allreduce(&[1.0]).map(drop), by_key.map(drop)]
        })
    });
    let results = results.unwrap().into_iter().enumerate();
    let results = results.flat_map(|(rank, both)| both.map(|result| (rank, result)));
    for (rank, result) in results {
        let expected = if rank == 3 {
            let error = EnvironmentError::Rounding;
            RunError::Environment { rank, error }
        } else {
            RunError::RankFailed { rank: 3 }
        };
        assert_eq!(result, Err(expected));
    }
}

/// A value that is in flight when the flush-to-zero mode is set. Arithmetic in that mode would flush it to 0.
const SMALL: f64 = 3e-310;

/// One rank sets the mode between start and wait.
#[test]
fn a_mode_set_during_a_run_flushes_no_value() {
    let ranks = 3;
    for rank_with_mode in 0..ranks {
        let outcomes = run(ranks, |world| {
            let is_it = world.rank() == rank_with_mode;
            let builder = || Plan::builder(world).local_items(1);
            let sum = builder().build::<f64>().unwrap();
            let pending = sum.start_allreduce(&[SMALL]).unwrap();
            let bits = if is_it { FLUSH_TO_ZERO } else { 0 };
            let total = with(bits, || pending.wait());
            let scan = builder().build::<f64>().unwrap();
            let pending = scan.start_scan(&[SMALL]).unwrap();
            let mut prefix = [0.0];
            let scanned = with(bits, || pending.wait_into(&mut prefix));
            (total, scanned.map(|()| prefix[0]))
        });
        for (rank, (total, prefix)) in (1..).zip(outcomes.unwrap()) {
            assert_whole(&total, 3.0 * SMALL);
            assert_whole(&prefix, f64::from(rank) * SMALL);
        }
    }
}

/// A call of another plan, which fails, drives the run while the mode is set. The run's own wait comes after the mode is reset.
#[test]
fn a_mode_set_while_another_run_is_driven_flushes_no_value() {
    let outcomes = run(3, |world| {
        let builder = || Plan::builder(world).local_items(1);
        let (first, second) = (builder().build().unwrap(), builder().build().unwrap());
        let pending = first.start_allreduce(&[SMALL]).unwrap();
        let bits = if world.rank() == 1 { FLUSH_TO_ZERO } else { 0 };
        let other = with(bits, || second.allreduce(&[1.0]));
        (pending.wait(), other)
    });
    for (first, second) in outcomes.unwrap() {
        assert_whole(&first, 3.0 * SMALL);
        assert!(second.is_err(), "{second:?}");
    }
}

/// The operator sets the mode in a fold, in a combination of received values, or on the last rank to combine. No value that is computed
/// afterwards leaves the rank.
#[test]
fn an_operator_that_sets_the_mode_flushes_no_value() {
    for ranks in [1, 2, 3, 5] {
        for items in [1, 2, 3] {
            for rank_with_mode in 0..ranks {
                for algorithm in Algorithm::all().filter(|&other| other != Algorithm::MpiNative) {
                    let outcomes = run(ranks, |world| {
                        let is_it = world.rank() == rank_with_mode;
                        let add = custom("add", move |left: f64, right: f64| {
                            if is_it {
                                set(DEFAULT | FLUSH_TO_ZERO);
                            }
                            black_box(left) + black_box(right)
                        });
                        let plan = Plan::builder(world)
                            .local_items(items)
                            .operator(add)
                            .algorithm(algorithm)
                            .build::<f64>()
                            .unwrap();
                        let local = vec![SMALL; usize::try_from(items).unwrap()];
                        with(0, || plan.allreduce(&local))
                    });
                    let count =
                        f64::from(u32::try_from(ranks).unwrap() * u32::try_from(items).unwrap());
                    for outcome in outcomes.unwrap() {
                        assert_whole(&outcome, count * SMALL);
                    }
                }
            }
        }
    }
    let add = custom("add", |left: f64, right: f64| {
        set(DEFAULT | FLUSH_TO_ZERO);
        black_box(left) + black_box(right)
    });
    let deviation = FoldError::Environment(FLUSHING);
    let folded = with(0, || reduce::fold(&[SMALL; 3], &add));
    assert_eq!(folded, Err(deviation.clone()));
    let folded = with(0, || reduce::fields(&[&[SMALL; 3]], &add));
    assert_eq!(folded, Err(deviation.clone()));
    let folded = with(0, || reduce::fold_rows(&[SMALL; 3], 1, &add, &mut [0.0]));
    assert_eq!(folded, Err(deviation));
}

/// Accepts the right value or an error. Which of them a rank gets depends on which rank combines which values.
#[track_caller]
fn assert_whole(outcome: &Result<f64, RunError>, expected: f64) {
    match outcome {
        Ok(value) => assert_eq!(value.to_bits(), expected.to_bits()),
        Err(RunError::Environment { .. } | RunError::RankFailed { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Each rank reports its own environment, not another rank's failure, whichever rank failed first.
#[test]
fn a_mode_on_all_ranks_is_the_same_error_on_all() {
    for algorithm in Algorithm::all().filter(|&other| other != Algorithm::MpiNative) {
        for ranks in [2, 3, 5] {
            let errors = run(ranks, |world| {
                let builder = || Plan::builder(world).local_items(1).algorithm(algorithm);
                let all = |call: &dyn Fn(Plan<f64, reduce::Sum>) -> Result<(), RunError>| {
                    let plan = builder().build().unwrap();
                    let error = with(FLUSH_TO_ZERO, || call(plan));
                    error.unwrap_err()
                };
                let built = with(FLUSH_TO_ZERO, || builder().build::<f64>());
                let mut errors = vec![
                    all(&|plan| plan.allreduce(&[SMALL]).map(drop)),
                    all(&|plan| plan.reduce(&[SMALL]).map(drop)),
                ];
                if algorithm.is_scheduled() {
                    errors.push(all(&|plan| plan.scan(&[SMALL], &mut [0.0])));
                    errors.push(all(&|plan| plan.broadcast(&mut [SMALL])));
                    errors.push(all(&|plan| {
                        plan.start_allreduce(&[SMALL]).unwrap().wait().map(drop)
                    }));
                    let plan = builder().build::<f64>().unwrap();
                    let pending = plan.start_allreduce(&[SMALL]).unwrap();
                    errors.push(with(FLUSH_TO_ZERO, || pending.wait()).unwrap_err());
                    let plan = builder().build_exact::<exact::Sum<f64>>().unwrap();
                    errors.push(with(FLUSH_TO_ZERO, || plan.sum(&[SMALL])).unwrap_err());
                }
                (built.unwrap_err(), errors)
            });
            for (rank, (built, errors)) in errors.unwrap().into_iter().enumerate() {
                let error = FLUSHING;
                assert_eq!(built, BuildError::Environment { rank: 0, error });
                for (call, own) in errors.into_iter().enumerate() {
                    let expected = RunError::Environment { rank, error };
                    assert_eq!(own, expected, "{algorithm}, p = {ranks}, call {call}");
                }
            }
        }
    }
}
