//! Tests the contract on threads, and guarantees that only the in-process backend gives.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use comm::collective::{receive, send};
use comm::threads::{RANKS_MAX, RunError, ThreadCommunicator, run, run_seeded};
use comm::{Communicator, Error, Tag, contract};

#[test]
fn contract_on_threads() {
    for ranks in [1, 2, 3, 8, 17, 241] {
        run(ranks, |comm| contract::check(&comm, |_| ()))
            .unwrap_or_else(|error| panic!("p = {ranks}: {error}"));
    }
    println!("the contract on 1, 2, 3, 8, 17, 241 threads");
}

#[test]
fn contract_on_seeded_threads() {
    for ranks in [1, 2, 3, 8] {
        for seed in 0..20 {
            run_seeded(ranks, seed, |comm| contract::check(&comm, |_| ()))
                .unwrap_or_else(|error| panic!("p = {ranks}, seed = {seed}: {error}"));
        }
    }
}

/// All ranks send to rank 0, which tests all receives in rounds. Returns the round and the sender of
/// each message.
fn arrivals(seed: u64) -> Vec<(usize, usize)> {
    let order = Mutex::new(Vec::new());
    run_seeded(6, seed, |comm| {
        let tag = Tag::new(1);
        if comm.rank() > 0 {
            return send(&comm, 0, tag, vec![0], 1).unwrap();
        }
        let mut pending: Vec<_> = (1..6)
            .map(|from| (from, comm.start_receive(from, tag, vec![0; 1]).unwrap()))
            .collect();
        for round in 0.. {
            if pending.is_empty() {
                break;
            }
            pending.retain(|(from, request)| {
                let arrived = comm.test(request).unwrap();
                if arrived {
                    order.lock().unwrap().push((round, *from));
                }
                !arrived
            });
        }
    })
    .unwrap();
    order.into_inner().unwrap()
}

#[test]
fn a_seed_replays_its_order_of_delivery() {
    let orders: Vec<_> = (0..30).map(arrivals).collect();
    for (seed, order) in (0..).zip(&orders) {
        assert_eq!(*order, arrivals(seed), "seed {seed}");
    }
    let mut distinct = orders;
    distinct.sort();
    distinct.dedup();
    assert!(
        distinct.len() > 10,
        "30 seeds gave {} orders",
        distinct.len()
    );
}

#[test]
fn no_ranks_is_an_error() {
    assert_eq!(run(0, |_| ()), Err(RunError::NoRanks));
    assert_eq!(run_seeded(0, 1, |_| ()), Err(RunError::NoRanks));
}

/// With more ranks, the process would run out of memory maps or memory, and abort.
#[test]
fn more_ranks_than_a_process_holds_are_an_error() {
    for ranks in [RANKS_MAX + 1, 20_000, usize::MAX] {
        let error = RunError::TooManyRanks { ranks };
        assert!(error.to_string().starts_with(&format!("{ranks} ranks")));
        let body = |_: ThreadCommunicator| panic!("no rank starts");
        assert_eq!(run(ranks, body).map(drop), Err(error.clone()));
        assert_eq!(run_seeded(ranks, 1, body).map(drop), Err(error));
    }
}

/// Runs `body` on both networks. Returns their names and results.
fn on_both(
    ranks: usize,
    body: impl Fn(ThreadCommunicator) + Sync,
) -> [(&'static str, Result<(), RunError>); 2] {
    [
        ("threads", run(ranks, &body).map(drop)),
        ("seeded threads", run_seeded(ranks, 7, &body).map(drop)),
    ]
}

fn all_well_on_both(ranks: usize, body: impl Fn(ThreadCommunicator) + Sync) {
    for (backend, result) in on_both(ranks, body) {
        assert_eq!(result, Ok(()), "{backend}");
    }
}

#[test]
fn a_panic_reaches_every_rank() {
    let begin = Instant::now();
    let told = AtomicUsize::new(0);
    let results = on_both(17, |comm| {
        let tag = Tag::new(1);
        if comm.rank() == 5 {
            panic!("the disk is full");
        }
        // Half of the ranks wait for the rank that panics, half for a rank that waits, too.
        let from = if comm.rank() % 2 == 0 {
            5
        } else {
            (comm.rank() + 2) % 17
        };
        let error = receive(&comm, from, tag, 1).unwrap_err();
        let Error::Panicked { rank: 5, message } = error else {
            panic!("rank {}: {error}", comm.rank());
        };
        assert_eq!(message, "the disk is full");
        told.fetch_add(1, Ordering::Relaxed);
    });
    for (backend, result) in results {
        let Err(RunError::Failed(Error::Panicked { rank: 5, .. })) = result else {
            panic!("{backend}: {result:?}");
        };
    }
    assert_eq!(told.into_inner(), 2 * 16);
    // This takes less than a second, unless the machine is busy with something else.
    println!("two runs with a panic took {:?}", begin.elapsed());
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_rank_that_leaves_is_named_to_those_that_wait_for_it() {
    all_well_on_both(4, |comm| {
        let tag = Tag::new(1);
        if comm.rank() == 2 {
            return;
        }
        let error = receive(&comm, 2, tag, 1).unwrap_err();
        assert!(matches!(error, Error::Left { rank: 2, .. }), "{error}");
    });
}

#[test]
fn a_cycle_of_waits_is_an_error() {
    all_well_on_both(5, |comm| {
        let tag = Tag::new(1);
        let error = receive(&comm, (comm.rank() + 1) % 5, tag, 1).unwrap_err();
        let Error::Deadlock(who) = &error else {
            panic!("{error}");
        };
        assert!(who.contains("rank 4 waits for rank 0"), "{who}");
    });
}

#[test]
fn a_wait_for_oneself_is_an_error_once_nobody_else_is_left() {
    all_well_on_both(3, |comm| {
        if comm.rank() == 1 {
            let error = receive(&comm, 1, Tag::new(1), 1).unwrap_err();
            assert_eq!(error.to_string(), "deadlock: rank 1 waits for rank 1");
        }
    });
}

/// A plan's run allocates nothing because, for every message, the sender gets the receiver's buffer.
#[test]
fn the_memory_of_messages_goes_back_and_forth() {
    run(2, |comm| {
        let (tag, peer) = (Tag::new(1), 1 - comm.rank());
        let mut own = [vec![0; 1000], vec![1; 1000]];
        let mut memory: Vec<*const u8> = Vec::new();
        let mut pending = None;
        for _ in 0..10 {
            let [message, buffer] = own;
            let incoming = comm.start_receive(peer, tag, buffer).unwrap();
            let outgoing = comm.start_send(peer, tag, message, 1000).unwrap();
            let received = comm.wait(incoming).unwrap();
            // The peer has taken the message of the round before, so this rank has got a buffer for it.
            let returned = match pending.replace(outgoing) {
                Some(request) => comm.wait(request).unwrap(),
                None => vec![2; 1000],
            };
            assert_eq!((received.len(), returned.len()), (1000, 1000));
            memory.extend([received.as_ptr(), returned.as_ptr()]);
            own = [received, returned];
        }
        comm.wait(pending.unwrap()).unwrap();
        memory.sort_unstable();
        memory.dedup();
        assert!(memory.len() <= 6, "{} buffers", memory.len());
    })
    .unwrap();
}
