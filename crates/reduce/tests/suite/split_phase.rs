//! Tests runs that are started, progress during other work, and are then waited for or abandoned.

#![expect(clippy::float_cmp, reason = "sums of small integers are exact")]

use std::time::Duration;

use reduce::{AnyPending, Plan, RunError, Sum, World, exact, wait_all};

use super::{Check, by_definition, numbers, offered};

pub(crate) const CHECKS: [(&str, Check); 8] = [
    ("start, work, wait", start_and_wait),
    ("a scan of what it was started with", scan_of_its_items),
    ("results that are changed", changed_results),
    ("runs of several types, waited for together", wait_for_all),
    (
        "several in flight, waited for in any order",
        several_in_flight,
    ),
    ("a time-out that passes", time_out),
    ("one run at a time", one_at_a_time),
    ("a run that is abandoned", abandoned),
];

fn start_and_wait(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let items = numbers(5 * size, 1);
    let own = &items[5 * rank..5 * rank + 5];
    let expected = by_definition(&items, &Sum).unwrap().to_bits();
    for algorithm in offered(world).filter(|algorithm| algorithm.is_scheduled()) {
        let plan = Plan::builder(world)
            .local_items(5)
            .root(size - 1)
            .algorithm(algorithm)
            .build::<f64>()
            .unwrap();
        for _ in 0..3 {
            // The slice may be dropped as soon as the run has started.
            let pending = {
                let moved = own.to_vec();
                plan.start_allreduce(&moved).unwrap()
            };
            let mut looks = 0;
            while !pending.test().unwrap() {
                looks += 1;
                assert!(looks < 10_000_000, "{algorithm} does not end");
                std::thread::yield_now();
            }
            assert_eq!(pending.wait().unwrap().to_bits(), expected);
            let pending = plan.start_reduce(own).unwrap();
            let total = pending.wait().unwrap();
            assert_eq!(
                total.map(f64::to_bits),
                (rank == size - 1).then_some(expected)
            );
            let pending = plan.start_scan(own).unwrap();
            let mut prefixes = [0.0; 5];
            pending.wait_into(&mut prefixes).unwrap();
            let last = by_definition(&items[..5 * rank + 5], &Sum).unwrap();
            assert_eq!(prefixes[4].to_bits(), last.to_bits());
        }
    }
}

/// A scan reduces the items that it was started with, even if the slice changes before the wait.
fn scan_of_its_items(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for width in [1, 3, 40] {
        let items = numbers(5 * size * width, 7);
        let own = &items[5 * rank * width..5 * (rank + 1) * width];
        let plan = Plan::builder(world).local_items(5).width(width);
        let plan = plan.build::<f64>().unwrap();
        let mut expected = [(); 2].map(|()| vec![0.0; own.len()]);
        plan.scan(own, &mut expected[0]).unwrap();
        plan.exscan(own, &mut expected[1]).unwrap();
        let expected =
            expected.map(|row| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
        for round in 0..3 {
            let mut moved = own.to_vec();
            let runs = [
                plan.start_scan(&moved).map(|run| {
                    // The slice changes after the start. Its new items have other prefixes.
                    moved.rotate_left(width * round);
                    run.wait()
                }),
                plan.start_exscan(own).map(|run| run.wait()),
            ];
            let found = runs.map(|run| run.unwrap().unwrap());
            let found =
                found.map(|row| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
            assert_eq!(found, expected, "width {width}");
        }
    }
}

/// A result that `map` has changed can be written to a slice, too.
fn changed_results(world: &World) {
    let size = world.size() as f64;
    let rows = Plan::builder(world).local_items(1).width(2);
    let rows = rows.build::<f64>().unwrap();
    let halved = |row: Vec<f64>| row.iter().map(|&value| [value / 2.0, 0.5]).collect();
    let start = || rows.start_allreduce_row(&[1.0, 3.0]).unwrap().map(halved);
    let expected = [[size / 2.0, 0.5], [3.0 * size / 2.0, 0.5]];
    assert_eq!(start().wait(), Ok::<Vec<[f64; 2]>, _>(expected.to_vec()));
    let mut into = [[0.0; 2]; 2];
    start().wait_into(&mut into).unwrap();
    assert_eq!(into, expected);
    let wrong = RunError::WrongResultLength {
        rank: world.rank(),
        expected: 2,
        given: 1,
    };
    assert_eq!(start().wait_into(&mut into[..1]), Err(wrong));
    let of_root = rows.start_reduce_row(&[1.0, 3.0]).unwrap();
    let of_root = of_root.map(move |row| row.map(halved));
    let is_root = of_root.wait_into(&mut into).unwrap();
    assert_eq!((is_root, into), (world.rank() == 0, expected));
}

/// One call waits for runs of several types, so that their own waits no longer block. The error of a failed run has the run's position.
fn wait_for_all(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let single = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    let rows = Plan::builder(world).local_items(1).width(2);
    let rows = rows.build::<i64>().unwrap();
    let exact = Plan::builder(world).build_exact::<exact::Sum<f64>>();
    let exact = exact.unwrap();
    for round in 0..3 {
        let total = single.start_allreduce(&[1.0]).unwrap();
        let scan = rows.start_scan(&[1, 2]).unwrap();
        let sum = exact.start_reduce(&exact::Sum::of(&[0.5])).unwrap();
        let runs: [&AnyPending; 3] = [&total, &scan, &sum];
        let mut runs = runs.to_vec();
        runs.rotate_left((rank + round) % 3);
        wait_all(&runs).unwrap();
        for run in runs {
            assert_eq!(run.test(), Ok(true));
        }
        let count = i64::try_from(size).unwrap();
        assert_eq!(total.wait(), Ok(size as f64));
        let own = i64::try_from(rank + 1).unwrap();
        assert_eq!(scan.wait(), Ok(vec![own, 2 * own]));
        let halves = (rank == 0).then_some(count as f64 / 2.0);
        assert_eq!(sum.wait().unwrap().map(|sum| sum.value()), halves);
    }
    assert_eq!(wait_all(&[]), Ok(()));
    // One rank cannot take part in the second run, which fails on all ranks. The other two runs succeed.
    let good = single.start_allreduce(&[1.0]).unwrap();
    let wrong: &[i64] = if rank == size - 1 { &[1] } else { &[1, 2] };
    let bad = rows.start_allreduce_row(wrong).unwrap();
    let last = exact.start_allreduce(&exact::Sum::of(&[0.5])).unwrap();
    let error = wait_all(&[&good, &bad, &last]).unwrap_err();
    assert_eq!(error.position, 1, "{error}");
    let reason = if rank == size - 1 {
        RunError::WrongLength {
            rank,
            planned: 2,
            given: 1,
        }
    } else {
        RunError::RankFailed { rank: size - 1 }
    };
    assert_eq!(error.error, reason);
    assert_eq!(error.to_string(), format!("run 1: {reason}"));
    assert_eq!(good.wait(), Ok(size as f64));
    assert_eq!(bad.wait(), Err(reason));
    assert_eq!(last.wait().unwrap().value(), size as f64 / 2.0);
}

/// Ranks may wait for their runs in different orders, because a rank that waits for one run drives all its runs.
fn several_in_flight(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let plans: Vec<_> = (0..4)
        .map(|_| Plan::builder(world).local_items(2).build::<f64>().unwrap())
        .collect();
    for round in 0..5 {
        let mut pending: Vec<_> = plans
            .iter()
            .zip(0..)
            .map(|(plan, seed)| {
                let items = numbers(2 * size, seed + round);
                let own = &items[2 * rank..2 * rank + 2];
                let expected = by_definition(&items, &Sum).unwrap();
                (plan.start_allreduce(own).unwrap(), expected)
            })
            .collect();
        pending.rotate_left(rank % 4);
        if rank % 2 == 1 {
            pending.reverse();
        }
        for (run, expected) in pending {
            let total = run.wait().unwrap();
            assert_eq!(total.to_bits(), expected.to_bits());
        }
        // Makes a blocking call while another plan's run is in flight.
        let first = plans[0].start_allreduce(&[1.0, 1.0]).unwrap();
        let second = plans[1].allreduce(&[2.0, 2.0]).unwrap();
        let first = first.wait().unwrap();
        assert_eq!((first, second), (2.0 * size as f64, 4.0 * size as f64));
    }
}

fn time_out(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    if size == 1 {
        return;
    }
    let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    let last = size - 1;
    let tag = world.fresh_tag().unwrap();
    let run = if rank == last {
        // This rank starts only after rank 0's wait has timed out.
        comm::collective::receive(world.transport(), 0, tag, 0).unwrap();
        plan.start_allreduce(&[1.0]).unwrap()
    } else {
        let run = plan.start_allreduce(&[1.0]).unwrap();
        if rank == 0 {
            let after = Duration::from_millis(20);
            let error = run.wait_timeout(after).unwrap_err();
            let RunError::TimedOut { awaited, .. } = &error else {
                panic!("{error}");
            };
            assert!(!awaited.is_empty() && !awaited.contains(&rank), "{error}");
            comm::collective::send(world.transport(), last, tag, Vec::new(), 0).unwrap();
        }
        run
    };
    // The run continues, and the plan stays usable.
    assert_eq!(run.wait().unwrap(), size as f64);
    assert_eq!(plan.allreduce(&[2.0]).unwrap(), 2.0 * size as f64);
}

fn one_at_a_time(world: &World) {
    let rank = world.rank();
    let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    let run = plan.start_allreduce(&[1.0]).unwrap();
    assert_eq!(
        plan.allreduce(&[1.0]).unwrap_err(),
        RunError::UnderWay { rank }
    );
    assert_eq!(run.wait().unwrap(), world.size() as f64);
    assert_eq!(plan.allreduce(&[1.0]).unwrap(), world.size() as f64);
}

/// All ranks abandon a run, before or after messages have arrived. The plan is then spent, and later plans never receive the run's messages.
fn abandoned(world: &World) {
    let rank = world.rank();
    for round in 0..4_usize {
        let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        let run = plan.start_allreduce(&[1e300]).unwrap();
        if (rank + round).is_multiple_of(2) {
            let _ = run.test();
        }
        run.cancel();
        assert_eq!(
            plan.allreduce(&[1.0]).unwrap_err(),
            RunError::Spent { rank }
        );
        let fresh = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        assert_eq!(fresh.allreduce(&[1.0]).unwrap(), world.size() as f64);
    }
}
