//! Runs the suite on threads and, if a launcher has started this program, on MPI ranks. Also contains property tests of plans.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod counting;
mod suite;

use distribution::Distribution;
use proptest::collection::vec;
use proptest::prelude::*;
use reduce::exact;
use reduce::operator::custom;
use reduce::threads::{run, run_seeded};
use reduce::{Algorithm, Plan, RunError, Sum, World};
use suite::{by_definition, mix, numbers};
use tree_index::{Tree, parent};

#[test]
fn suite_on_threads() {
    for ranks in [1, 2, 3, 5, 9] {
        for (name, check) in suite::checks() {
            let begin = std::time::Instant::now();
            run(ranks, check).unwrap_or_else(|error| panic!("{name}, p = {ranks}: {error}"));
            println!("threads, p = {ranks}: {name} ({:?})", begin.elapsed());
        }
    }
}

#[test]
fn suite_on_seeded_threads() {
    for (name, check) in suite::checks() {
        for (ranks, seed) in [(2, 1), (3, 2), (4, 3)] {
            run_seeded(ranks, seed, check)
                .unwrap_or_else(|error| panic!("{name}, p = {ranks}, seed = {seed}: {error}"));
        }
    }
}

/// Every process of `mpirun -n 3 PROGRAM under_mpi --exact --ignored --nocapture` runs only this test.
#[cfg(feature = "mpi")]
#[test]
#[ignore = "every rank runs it: `cargo xtask test --stage mpi` starts them"]
fn under_mpi() {
    assert!(reduce::mpi::is_launched(), "no launcher has started ranks");
    reduce::mpi::run(suite_on_mpi).expect("MPI starts once");
}

#[cfg(feature = "mpi")]
#[expect(clippy::print_stdout, reason = "the test prints its report")]
fn suite_on_mpi(world: &World) {
    world.set_silence_limit(std::time::Duration::from_secs(60));
    let counting: (_, suite::Check) = ("runs allocate nothing", counting::runs_allocate_nothing);
    // Ranks that share a core would take minutes for this check.
    let has_cores = world.size() <= world.transport().hints().concurrency;
    let counting = has_cores.then_some(counting);
    let checks = suite::checks().chain(suite::faults::MISMATCHES);
    let checks: Vec<_> = checks.chain(counting).collect();
    for (name, check) in &checks {
        check(world);
        if world.rank() == 0 {
            println!("test {name} ... ok");
        }
    }
    if world.rank() == 0 {
        let (checks_count, ranks) = (checks.len(), world.size());
        println!("reduce on MPI, {ranks} ranks: {checks_count} passed, 0 failed");
    }
}

#[test]
fn no_schedule_allocates() {
    let before = counting::allocations();
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert_eq!(counting::allocations(), before + 1, "they are counted");
    for ranks in [1, 2, 3] {
        run(ranks, counting::runs_allocate_nothing).unwrap();
    }
}

#[test]
fn every_collective_call_is_tried_in_an_operator() {
    suite::nested::complete();
}

#[test]
fn corners_hold_every_pair_of_values() {
    suite::pairs::complete();
}

/// Runs each case on its own world, because some cases end in a deadlock, which is an error on threads and ends their world.
#[test]
fn ranks_that_do_not_do_alike() {
    for ranks in [2, 3, 5, 8] {
        let algorithms = || suite::faults::algorithms(ranks);
        for case in suite::faults::OddOneOut::all(ranks, algorithms()) {
            run(ranks, |world| case.check(world))
                .unwrap_or_else(|error| panic!("{case:?}, p = {ranks}: {error}"));
        }
        for case in suite::faults::OddOperand::all(algorithms().chain([Algorithm::Algorithm1])) {
            let errors = run(ranks, |world| case.check(world));
            let has_told =
                |error: &Option<RunError>| matches!(error, Some(RunError::Mismatched { .. }));
            assert!(errors.unwrap().iter().any(has_told), "{}", case.algorithm);
        }
        for algorithm in algorithms() {
            for width in [1, 700] {
                let check = |world: &World| {
                    suite::faults::skipped_operation(world, algorithm, width);
                };
                run(ranks, check).unwrap_or_else(|error| {
                    panic!("{algorithm}, width {width}, p = {ranks}: {error}")
                });
            }
        }
    }
}

/// The thesis' rank counts: p = 1, 17, …, 241.
#[test]
fn the_thesis_rank_counts_give_one_sum() {
    let items = numbers(5000, 1);
    let expected = by_definition(&items, &Sum).unwrap().to_bits();
    for ranks in (1..=241).step_by(16) {
        let totals = run(ranks, |world| {
            let distribution = Distribution::upper(5000, ranks).unwrap();
            let plan = Plan::builder(world)
                .distribution(&distribution)
                .build::<f64>()
                .unwrap();
            let own = distribution.range(world.rank());
            let (start, end) = (usize::try_from(own.start), usize::try_from(own.end));
            plan.allreduce(&items[start.unwrap()..end.unwrap()])
                .unwrap()
                .to_bits()
        });
        assert!(
            totals.unwrap().iter().all(|&total| total == expected),
            "p = {ranks}"
        );
    }
}

/// The number of items of each rank. Many of these numbers are 0.
fn counts() -> impl Strategy<Value = Vec<u64>> {
    let count = prop_oneof![3 => Just(0), 3 => 1_u64..4, 2 => 0_u64..300];
    vec(count, 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_distribution_and_delivery_order(
        counts in counts(),
        seed: u64,
        buffered: bool,
        root: prop::sample::Index,
    ) {
        let distribution = Distribution::from_counts(&counts).unwrap();
        let algorithm = if buffered { Algorithm::Algorithm1 } else { Algorithm::Algorithm1Unbuffered };
        let items_count = usize::try_from(distribution.items()).unwrap();
        let items = numbers(items_count, seed);
        let words: Vec<u64> = items.iter().map(|item| item.to_bits()).collect();
        let root = root.index(counts.len());
        run_seeded(counts.len(), seed, |world| {
            suite::check(world, &items, Sum, &distribution, algorithm, root);
            let mix = custom("mix", mix).with_empty(0);
            suite::check(world, &words, mix, &distribution, algorithm, root);
        }).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn sums_by_key_of_any_items(
        ranks in 1..=9_usize,
        keys in prop_oneof![Just(1), 2..60_usize, 60..1000_usize],
        kind in prop::sample::select(&suite::keyed::Kind::ALL[..]),
        algorithm: prop::sample::Index,
        root: prop::sample::Index,
        seed: u64,
    ) {
        let algorithms: Vec<Algorithm> = Algorithm::all().filter(|a| a.is_scheduled()).collect();
        let (algorithm, root) = (*algorithm.get(&algorithms), root.index(ranks));
        let lots = suite::keyed::lots(ranks, keys, kind, seed);
        let expected = suite::keyed::expected(&lots, keys);
        run_seeded(ranks, seed, |world| {
            let builder = Plan::builder(world).algorithm(algorithm).root(root);
            let plan = builder.build_keyed::<exact::Sum<f64>>(keys).unwrap();
            suite::keyed::check_all(&plan, root, &lots, &expected);
        }).unwrap();
    }
}

/// The number of messages of a rank under the published rules of the buffer, derived only from the rank's outbound subtrees.
fn buffered_messages(distribution: &Distribution, rank: usize) -> u64 {
    let tree = Tree::new(distribution.items());
    let (mut messages, mut buffered, mut target) = (0, 0, None);
    for root in tree.outbound_roots(distribution.range(rank)) {
        let span = tree.span(root);
        if span.end - span.start > 64 && buffered > 0 {
            (messages, buffered) = (messages + 1, 0);
        }
        if root.x == 0 {
            continue;
        }
        let to = Some(distribution.rank_of(parent(root.x)));
        if target != to && buffered > 0 {
            (messages, buffered) = (messages + 1, 0);
        }
        (buffered, target) = (buffered + 1, to);
        if buffered == 4 {
            (messages, buffered) = (messages + 1, 0);
        }
    }
    messages + u64::from(buffered > 0)
}

/// Without the buffer, the number of messages is that of Algorithm 2; with the buffer, it follows from the buffer's rules.
#[test]
fn messages_are_counted() {
    for (items_count, ranks) in [(9, 3), (1000, 17), (4097, 33), (20_000, 5)] {
        let distribution = Distribution::lower(items_count, ranks).unwrap();
        let sent = |algorithm| {
            let messages = run(ranks, |world| {
                let plan = Plan::builder(world)
                    .distribution(&distribution)
                    .algorithm(algorithm)
                    .build::<f64>()
                    .unwrap();
                let before = world.traffic().messages;
                let count = usize::try_from(distribution.count(world.rank())).unwrap();
                plan.reduce(&vec![1.0; count]).unwrap();
                world.traffic().messages - before
            });
            messages.unwrap()
        };
        let unbuffered = sent(Algorithm::Algorithm1Unbuffered);
        let total = unbuffered
            .iter()
            .fold(0, |total, messages| total + messages);
        assert_eq!(total, distribution.message_count());
        let expected: Vec<u64> = (0..ranks)
            .map(|rank| buffered_messages(&distribution, rank))
            .collect();
        assert_eq!(
            sent(Algorithm::Algorithm1),
            expected,
            "N = {items_count}, p = {ranks}"
        );
    }
}

/// If a rank leaves, or panics, in the middle of a reduction, the others get an error that names that rank, and no rank hangs.
#[test]
fn a_rank_that_leaves_in_mid_reduction() {
    let algorithms = Algorithm::all().filter(|algorithm| algorithm.is_scheduled());
    for algorithm in algorithms {
        for leaver in 0..5 {
            let results = run(5, |world| {
                let plan = Plan::builder(world)
                    .local_items(2)
                    .algorithm(algorithm)
                    .build::<f64>()
                    .unwrap();
                let first = plan.allreduce(&[1.0, 2.0]);
                if world.rank() == leaver {
                    return None;
                }
                // A rank that is still in the first run may get the error there.
                let second = first.and_then(|_| plan.allreduce(&[1.0, 2.0]));
                Some(second.unwrap_err().to_string())
            });
            for text in results.unwrap().into_iter().flatten() {
                assert!(
                    text.contains(&format!("rank {leaver} left")),
                    "{algorithm}: {text}"
                );
            }
            let failed = run(5, |world| {
                let plan = Plan::builder(world)
                    .local_items(2)
                    .algorithm(algorithm)
                    .build::<f64>()
                    .unwrap();
                let pending = plan.start_allreduce(&[1.0, 2.0]).unwrap();
                assert_ne!(world.rank(), leaver, "on purpose");
                pending.wait()
            });
            let text = failed.unwrap_err().to_string();
            assert!(text.contains(&format!("rank {leaver} panicked")), "{text}");
        }
    }
}
