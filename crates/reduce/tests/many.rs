//! Tests that the cost of many messages, blocks, items or runs is in proportion to their number, not to its square.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![allow(
    clippy::print_stdout,
    reason = "if a test fails, cargo shows the times"
)]

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use distribution::Ownership;
use nix::time::ClockId;
use reduce::exact::{self, Keyed, Sum};
use reduce::{Algorithm, BuildError, Plan, World, threads};

/// With a limit of 1, each column is a message. The time is in proportion to the number of
/// messages, not to its square.
#[test]
fn many_short_messages_take_linear_time() {
    for (ranks, columns, algorithm) in [
        (2, 50_000, Algorithm::RecursiveDoubling),
        (3, 7_500, Algorithm::Direct),
    ] {
        let run = |width: usize| {
            threads::run(ranks, |world| {
                let builder = Plan::builder(world).local_items(1).width(width);
                let builder = builder.message_limit(1).algorithm(algorithm);
                let plan = builder.build::<f64>().unwrap();
                let mut row = vec![0.0; width];
                plan.allreduce_into(&vec![1.0; width], &mut row).unwrap();
                let sum = [2.0_f64, 3.0][ranks - 2];
                assert!(row.iter().all(|value| value.to_bits() == sum.to_bits()));
            })
            .unwrap()
        };
        // The large call takes 8 times as long. It would take 40 times as long if each message searched or moved a list of all messages.
        grows_at_most(20, || run(columns), || run(8 * columns));
    }
}

/// Only one test runs at a time, since the clock counts the processor time of the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// Checks that in one of four trials, the processor time of the large call is at most `limit` times that of the small call, or at
/// most `limit` milliseconds.
fn grows_at_most<R>(limit: u32, small: impl Fn() -> R, large: impl Fn() -> R) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let used = || Duration::from(ClockId::CLOCK_PROCESS_CPUTIME_ID.now().unwrap());
    let time = |call: &dyn Fn() -> R| {
        let before = used();
        call();
        used() - before
    };
    let is_slow_each_time = (0..4).all(|_| {
        let (short, long) = (time(&small), time(&large));
        println!("{short:?} and {long:?}");
        long > limit * short.max(Duration::from_millis(1))
    });
    assert!(!is_slow_each_time, "more than {limit} times as long");
}

/// Choosing a schedule does not list the blocks of an ownership that follows a rule.
#[test]
fn a_plan_of_many_small_blocks_is_built_at_once() {
    let build = |items: u64| {
        threads::run(16, |world| {
            let ownership = Ownership::block_cyclic(items, 16, 1).unwrap();
            let builder = Plan::builder(world).ownership(&ownership);
            builder.build::<f64>().unwrap();
        })
        .unwrap()
    };
    // Each build takes less than a millisecond. If blocks were listed, a thousand times as many would take 10 s.
    grows_at_most(100, || build(30_000), || build(30_000_000));
}

/// Building a plan in lanes does not list the blocks of such an ownership, either.
#[test]
fn a_plan_in_lanes_of_many_small_blocks_is_built_at_once() {
    let build = |items: u64, block_items: u64| {
        let outcomes = threads::run(2, |world| {
            let ownership = Ownership::block_cyclic(items, 2, block_items).unwrap();
            let builder = Plan::builder(world).ownership(&ownership);
            builder.build_lanes::<f64>(16).map(drop)
        });
        outcomes.unwrap()
    };
    grows_at_most(100, || build(1 << 14, 16), || build(1 << 26, 16));
    let outcomes = build(1 << 26, 8);
    let beside = BuildError::BesideLanes {
        rank: 1,
        start: 8,
        end: 16,
        lanes: 16,
    };
    assert_eq!(outcomes, [Err(beside.clone()), Err(beside)]);
    // One block, which ends within a row.
    assert_eq!(build(5, 5), [Ok(()), Ok(())]);
}

/// A rank computes each prefix of its items from the prefix before.
#[test]
fn a_scan_of_single_items_takes_linear_time() {
    const RANKS: usize = 4;
    let scan = |items: usize| {
        let found = threads::run(RANKS, |world| {
            let all = Ownership::block_cyclic(items as u64, RANKS, 1).unwrap();
            let plan = Plan::builder(world).ownership(&all).build::<f64>().unwrap();
            let own: Vec<f64> = all
                .extents(world.rank())
                .map(|range| 1.0 / (range.start + 1) as f64)
                .collect();
            let mut prefixes = vec![0.0; own.len()];
            plan.scan(&own, &mut prefixes).unwrap();
            prefixes
        });
        let found = found.unwrap();
        let items: Vec<f64> = (0..items).map(|item| 1.0 / (item + 1) as f64).collect();
        let mut expected = vec![0.0; items.len()];
        reduce::scan(&items, &reduce::Sum, &mut expected).unwrap();
        for (item, expected) in expected.iter().enumerate() {
            let prefix = found[item % RANKS][item / RANKS];
            assert_eq!(prefix.to_bits(), expected.to_bits(), "item {item}");
        }
    };
    // The large call takes 10 times as long. It would take 64 times as long, and gigabytes, if each item's prefix began anew.
    grows_at_most(30, || scan(2500), || scan(20_000));
}

/// Starts a run of a new plan. The returned function waits for the run, and returns whether the result is right.
type Start = fn(&World) -> Box<dyn FnOnce() -> bool>;

/// One start for each kind of run. Sums by key with a NaN also need an exchange.
const STARTS: [(&str, Start); 4] = [
    ("in tree order", |world| {
        let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        let run = plan.start_allreduce(&[1.0]).unwrap();
        let sum = world.size() as f64;
        Box::new(move || run.wait().unwrap().to_bits() == sum.to_bits())
    }),
    ("exact", |world| {
        let plan = Plan::builder(world).build_exact::<exact::Sum<f64>>();
        let run = plan.unwrap().start_allreduce(&exact::Sum::of(&[1.0]));
        let (run, sum) = (run.unwrap(), world.size() as f64);
        Box::new(move || run.wait().unwrap().value().to_bits() == sum.to_bits())
    }),
    ("by key", |world| start_keyed(world, 1.0)),
    ("by key, with a NaN", |world| start_keyed(world, f64::NAN)),
];

fn start_keyed(world: &World, item: f64) -> Box<dyn FnOnce() -> bool> {
    let plan = Plan::builder(world).build_keyed::<Sum<f64>>(2);
    let mut local = Keyed::<Sum<_>>::new(2).unwrap();
    local.add(&[1_u32], &[item]).unwrap();
    let run = plan.unwrap().start_allreduce(&local).unwrap();
    let sum = item * world.size() as f64;
    Box::new(move || {
        let values = run.wait().unwrap().values();
        values[1].to_bits() == sum.to_bits() || (values[1].is_nan() && sum.is_nan())
    })
}

/// Starts `count` runs at once. The ranks wait for the runs in different orders.
fn in_flight(ranks: usize, start: Start, count: usize) {
    threads::run(ranks, |world| {
        let mut runs: Vec<_> = (0..count).map(|_| Some(start(world))).collect();
        for turn in 0..count {
            let place = match world.rank() {
                0 => turn,
                1 => count - 1 - turn,
                rank => (turn * 7919 + rank) % count,
            };
            if let Some(wait) = runs[place].take() {
                assert!(wait());
            }
        }
        for wait in runs.into_iter().flatten() {
            assert!(wait());
        }
    })
    .unwrap();
}

#[test]
fn ten_thousand_runs_in_flight_end() {
    for (name, start) in STARTS {
        // More runs than a stack could hold if waits were nested.
        let (ranks, count) = match name {
            "in tree order" | "by key, with a NaN" => (2, 10_000),
            _ => (3, 1000),
        };
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = Instant::now();
        in_flight(ranks, start, count);
        println!("{count} {name}, p = {ranks}: {:?}", begin.elapsed());
    }
}

#[test]
fn runs_in_flight_take_linear_time() {
    for (_, start) in STARTS {
        // The large call takes 8 times as long. It would take 64 times as long if all runs were checked after each message.
        grows_at_most(
            24,
            || in_flight(2, start, 250),
            || in_flight(2, start, 2000),
        );
    }
}
