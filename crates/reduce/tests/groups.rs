//! Tests worlds of threads that are duplicated and split. Messages of one world never match receives of another, deadlocks across worlds
//! are detected, and each world can continue after a loss.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::float_cmp, reason = "sums of small integers are exact")]

use std::sync::atomic::{AtomicUsize, Ordering};

use comm::{Error, Tag, collective};
use reduce::threads::{duplicate, run, run_each, run_each_seeded, run_seeded, split};
use reduce::{Algorithm, Plan, RunError, World};

const SEEDS: u64 = 20;

/// Runs a check on concurrent threads, and on threads that run one at a time in many orders.
fn on_threads(ranks: usize, check: impl Fn(&World) + Sync) {
    run(ranks, &check).unwrap_or_else(|error| panic!("p = {ranks}: {error}"));
    for seed in 0..SEEDS {
        let outcome = run_seeded(ranks, seed, &check);
        outcome.unwrap_or_else(|error| panic!("p = {ranks}, seed = {seed}: {error}"));
    }
}

fn sum(world: &World, own: f64) -> f64 {
    let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    plan.allreduce(&[own]).unwrap()
}

/// Runs of several worlds are in flight at once, and ranks make their calls in different orders.
#[test]
fn duplicates_are_apart() {
    for ranks in [1, 2, 3, 5] {
        on_threads(ranks, |world| {
            let (rank, size) = (world.rank(), world.size() as f64);
            let second = duplicate(world).unwrap();
            let third = duplicate(&second).unwrap();
            let worlds = [world, &second, &third];
            for other in worlds {
                assert_eq!((other.rank(), other.size()), (rank, world.size()));
            }
            for algorithm in Algorithm::all().filter(|algorithm| algorithm.is_scheduled()) {
                let plan = |world: &World| {
                    let builder = Plan::builder(world).algorithm(algorithm).width(30);
                    builder.local_items(1).build::<f64>().unwrap()
                };
                // Each plan has the same tags in its world as the other two plans in their worlds.
                let plans = worlds.map(plan);
                let mut order = [0, 1, 2];
                order.rotate_left(rank % 3);
                let mut runs: Vec<_> = order
                    .into_iter()
                    .map(|index| {
                        let row = [(index * 10) as f64; 30];
                        (index, plans[index].start_allreduce_row(&row).unwrap())
                    })
                    .collect();
                // A wait drives only the runs of its own world.
                runs.sort_by_key(|&(index, _)| index);
                for (index, run) in runs {
                    let expected = (index * 10) as f64 * size;
                    assert_eq!(run.wait().unwrap(), [expected; 30], "{algorithm}");
                }
            }
            // A world may be dropped before the plans on its duplicate.
            drop(second);
            assert_eq!(sum(&third, 1.0), size);
            assert_eq!(sum(world, 1.0), size);
        });
    }
}

#[test]
fn parts_have_the_ranks_of_their_colour_in_the_order_of_their_keys() {
    for ranks in [1, 2, 4, 7] {
        on_threads(ranks, |world| {
            let (rank, size) = (world.rank(), world.size());
            let colour = (rank % 3 != 2).then_some(u64::MAX - (rank % 3) as u64);
            let key = -i64::try_from(rank).unwrap();
            let part = split(world, colour, key).unwrap();
            assert_eq!(part.is_some(), colour.is_some());
            if let Some(part) = part {
                let members: Vec<usize> = (0..size)
                    .rev()
                    .filter(|other| other % 3 == rank % 3)
                    .collect();
                assert_eq!(part.size(), members.len());
                assert_eq!(members[part.rank()], rank);
                let total: usize = members.iter().fold(0, |total, member| total + member);
                assert_eq!(sum(&part, rank as f64), total as f64);
                // The highest rank has item 0, because the order is that of the keys.
                let plan = Plan::builder(&part).local_items(1).build::<f64>().unwrap();
                let mut before = [-1.0];
                plan.exscan(&[1.0], &mut before).unwrap();
                assert_eq!(before, [part.rank() as f64]);
                // The part is split again, and the program sends messages of its own there.
                let pair = split(&part, Some(part.rank() as u64 / 2), 0)
                    .unwrap()
                    .unwrap();
                assert!(pair.size() <= 2);
                assert_eq!(sum(&pair, 1.0), pair.size() as f64);
                let tag = pair.fresh_tag().unwrap();
                let own = u8::try_from(part.rank()).unwrap();
                let all = collective::allgather(pair.transport(), tag, vec![own]).unwrap();
                assert_eq!(all[pair.rank()], own);
            }
            assert_eq!(sum(world, 1.0), size as f64);
        });
    }
}

/// Rank 0 waits in one world for rank 1, which waits in the other world for rank 0. Neither world alone has a cycle.
#[test]
fn a_deadlock_across_worlds_is_found() {
    on_threads(2, |world| {
        let second = duplicate(world).unwrap();
        let waiting = [world, &second][world.rank()].transport();
        let peer = 1 - world.rank();
        let error = collective::receive(waiting, peer, Tag::CONTROL, 8).unwrap_err();
        let Error::Deadlock(text) = &error else {
            panic!("{error}");
        };
        assert!(
            text.contains("rank 0 waits for rank 1") && text.contains("rank 1 waits for rank 0")
        );
    });
    // The same deadlock with plans, which the ranks run in different orders.
    on_threads(3, |world| {
        let second = duplicate(world).unwrap();
        let plans = [world, &second]
            .map(|world| Plan::builder(world).local_items(1).build::<f64>().unwrap());
        let error = plans[usize::from(world.rank() == 2)]
            .allreduce(&[1.0])
            .unwrap_err();
        assert!(
            matches!(error, RunError::Transport(Error::Deadlock(_))),
            "{error}"
        );
    });
}

/// Ranks in `agree` wait without a message. Ranks in `agree` on two worlds must not wait for each other forever.
#[test]
fn meetings_that_wait_for_each_other_end() {
    on_threads(2, |world| {
        let second = duplicate(world).unwrap();
        assert_eq!(world.agree(true), Ok(true));
        assert_eq!(second.agree(world.rank() == 0), Ok(false));
        let error = [world, &second][world.rank()].agree(true).unwrap_err();
        assert!(
            matches!(&error, Error::Deadlock(text) if text.contains("meeting")),
            "{error}"
        );
        // Both worlds can still be used.
        assert_eq!(second.agree(true), Ok(true));
        assert_eq!(sum(world, 1.0), 2.0);
    });
    // One rank waits in `agree` for a rank that waits for its message.
    on_threads(2, |world| {
        let second = duplicate(world).unwrap();
        if world.rank() == 0 {
            assert_eq!(second.agree(true), Ok(false));
        } else {
            let error = collective::receive(world.transport(), 0, Tag::CONTROL, 8).unwrap_err();
            assert!(matches!(error, Error::Deadlock(_)), "{error}");
            assert_eq!(second.agree(false), Ok(false));
        }
    });
}

#[test]
fn parts_agree_each_for_itself() {
    on_threads(5, |world| {
        let parity = world.rank() % 2;
        let part = split(world, Some(parity as u64), 0).unwrap().unwrap();
        for round in 0..4 {
            let flag = round % 2 == 0 || part.rank() != 1 || parity == 1;
            let expected = round % 2 == 0 || parity == 1;
            assert_eq!(part.agree(flag), Ok(expected), "{round}");
        }
        assert_eq!(world.agree(true), Ok(true));
    });
}

/// One of five ranks is lost. All worlds of the other ranks end, and each is shrunk, even the world of the part without the lost rank.
#[test]
fn every_world_goes_on_after_a_loss() {
    let lost_part = AtomicUsize::new(0);
    let check = |world: &World| {
        let (rank, size) = (world.rank(), world.size());
        let second = duplicate(world).unwrap();
        let key = -i64::try_from(rank).unwrap();
        let part = split(world, Some(rank as u64 % 2), key).unwrap().unwrap();
        assert_eq!(world.agree(true), Ok(true));
        assert_ne!(rank, 3, "on purpose");
        // Runs the plan until this rank learns of the loss, which takes long in the part without the lost rank.
        let plan = Plan::builder(&part).local_items(1).build::<f64>();
        let error = plan
            .map_err(|error| error.lost_ranks().map(<[_]>::to_vec))
            .and_then(|plan| {
                loop {
                    if let Err(error) = plan.allreduce(&[1.0]) {
                        break Err::<(), _>(error.lost_ranks().map(<[_]>::to_vec));
                    }
                }
            });
        let lost = error.unwrap_err().expect("a rank is lost");
        // Ranks 3 and 1 are ranks 0 and 1 of the odd part.
        assert!(lost.is_empty() || rank % 2 == 1 && lost == [0], "{lost:?}");
        let shrunk = part.shrink().unwrap();
        let expected = if rank % 2 == 0 { vec![] } else { vec![0] };
        assert_eq!(shrunk.lost, expected);
        let left = if rank % 2 == 0 {
            vec![0, 1, 2]
        } else {
            vec![1]
        };
        assert_eq!(shrunk.left, left);
        assert_eq!(shrunk.left[shrunk.world.rank()], part.rank());
        lost_part.fetch_add(1, Ordering::Relaxed);
        // The ranks are still in the order of their keys.
        let plan = Plan::builder(&shrunk.world)
            .local_items(1)
            .build::<f64>()
            .unwrap();
        let mut before = [0.0];
        plan.exscan(&[1.0], &mut before).unwrap();
        assert_eq!(before, [shrunk.world.rank() as f64]);
        // The shrunk world can be duplicated, and the other worlds continue as well.
        let again = duplicate(&shrunk.world).unwrap();
        assert_eq!(sum(&again, 1.0), again.size() as f64);
        let all = second.shrink().unwrap();
        assert_eq!((all.lost, all.left), (vec![3], vec![0, 1, 2, 4]));
        assert_eq!(sum(&all.world, 1.0), (size - 1) as f64);
        let all = world.shrink().unwrap();
        assert_eq!(sum(&all.world, 1.0), (size - 1) as f64);
    };
    let outcomes = |each: Vec<Result<(), Error>>| {
        for (rank, outcome) in each.into_iter().enumerate() {
            match outcome {
                Ok(()) => assert_ne!(rank, 3),
                Err(error) => {
                    assert_eq!(error.lost_ranks(), Some(&[3][..]), "rank {rank}: {error}")
                }
            }
        }
    };
    outcomes(run_each(5, check).unwrap());
    for seed in 0..SEEDS {
        outcomes(run_each_seeded(5, seed, check).unwrap());
    }
    assert_eq!(
        lost_part.into_inner(),
        4 * usize::try_from(SEEDS + 1).unwrap()
    );
}

/// The same seed replays both worlds: a rank sees the same events in the same order.
#[test]
fn a_seed_replays_both_worlds() {
    let order = |seed| {
        let seen = run_seeded(3, seed, |world| {
            let second = duplicate(world).unwrap();
            let worlds = [world, &second];
            let plans =
                worlds.map(|world| Plan::builder(world).local_items(1).build::<f64>().unwrap());
            let runs = plans.map(|plan| plan.start_allreduce(&[1.0]).unwrap());
            let mut seen = Vec::new();
            while seen.len() < 40 {
                let states: Vec<bool> = runs.iter().map(|run| run.test().unwrap()).collect();
                seen.extend(states);
            }
            for run in runs {
                assert_eq!(run.wait().unwrap(), 3.0);
            }
            seen
        });
        seen.unwrap()
    };
    for seed in 0..SEEDS {
        assert_eq!(order(seed), order(seed), "seed {seed}");
    }
}
