//! Tests mailboxes under shuttle, a scheduler that chooses every step of every rank. It runs thousands of schedules, and prints the seed
//! of a schedule that fails; `SHUTTLE_RANDOM_SEED` replays it.
//!
//! In some schedules, a rank decides to sleep while another delivers, leaves, fails or falls asleep itself. Without shuttle, that happens
//! once in a million runs. Time does not pass under shuttle, so time-outs are tested elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::{check_pct, check_random, thread};

use super::mailbox::Mailboxes;
use super::network::{Network, SHORT_BYTES};
use super::{ThreadCommunicator, run_rank};
use crate::collective;
use crate::communicator::Communicator;
use crate::error::Error;
use crate::request::Request;
use crate::tag::Tag;

/// The number of random schedules, and also of schedules with few, well-placed thread switches (Burckhardt et al., 2010).
const SCHEDULES: usize = 3000;

type Body<R> = fn(ThreadCommunicator) -> R;

/// Runs the ranks in many schedules, and passes their results and the network's failure to `check`.
fn explore<R: Send + 'static>(
    ranks: usize,
    body: Body<R>,
    check: fn(Vec<Option<R>>, Option<Error>),
) {
    let run = move || {
        let network: Arc<dyn Network> = Arc::new(Mailboxes::new(ranks));
        let threads: Vec<_> = (0..ranks)
            .map(|rank| {
                let network = Arc::clone(&network);
                thread::spawn(move || run_rank(&network, rank, ranks, body))
            })
            .collect();
        let results = threads.into_iter().map(|thread| thread.join());
        let results = results.map(|result| result.expect("a rank catches its panics").ok());
        check(results.collect(), network.failure());
    };
    check_random(run, SCHEDULES);
    check_pct(run, SCHEDULES, 3);
}

fn all_well<R>(results: Vec<Option<Result<R, Error>>>, failure: Option<Error>) {
    assert_eq!(failure, None);
    for result in results {
        result.expect("no rank panics").expect("no call fails");
    }
}

#[test]
fn a_ring_never_sleeps_through_a_message() {
    fn body(comm: ThreadCommunicator) -> Result<(), Error> {
        let (tag, size) = (Tag::new(1), comm.size());
        let (left, right) = ((comm.rank() + size - 1) % size, (comm.rank() + 1) % size);
        for round in 0..2 {
            let incoming = comm.start_receive(left, tag, vec![0; 1])?;
            let outgoing = comm.start_send(right, tag, vec![round], 1)?;
            assert_eq!(comm.wait(incoming)?, [round]);
            comm.wait(outgoing)?;
        }
        Ok(())
    }
    explore(3, body, all_well);
}

#[test]
fn everyone_to_everyone_in_any_order() {
    fn body(comm: ThreadCommunicator) -> Result<(), Error> {
        let (tag, rank) = (Tag::new(1), comm.rank());
        let peers = (0..comm.size()).filter(|&peer| peer != rank);
        let mut pending: Vec<Request> = Vec::new();
        for peer in peers.clone() {
            pending.push(comm.start_send(peer, tag, vec![1], 1)?);
        }
        // Each rank posts its receives in descending order of the senders, then waits for any of them.
        for peer in peers.rev() {
            pending.push(comm.start_receive(peer, tag, vec![0; 1])?);
        }
        let receives: Vec<_> = pending.iter().map(Request::id).collect();
        assert!(comm.wait_any(&receives[comm.size() - 1..], None)?);
        pending
            .into_iter()
            .try_for_each(|request| comm.wait(request).map(drop))
    }
    explore(3, body, all_well);
}

#[test]
fn collectives_end() {
    fn body(comm: ThreadCommunicator) -> Result<(), Error> {
        let own = u8::try_from(comm.rank()).expect("there are four ranks");
        let all = collective::allgather(&comm, Tag::CONTROL, vec![own])?;
        assert_eq!(all, [0, 1, 2, 3]);
        Ok(())
    }
    explore(4, body, all_well);
}

#[test]
fn a_rank_that_leaves_is_noticed() {
    /// Rank 0 leaves at once; the others wait for it.
    fn body(comm: ThreadCommunicator) -> Result<(), Error> {
        match comm.rank() {
            0 => Ok(()),
            _ => collective::receive(&comm, 0, Tag::CONTROL, 1).map(drop),
        }
    }
    explore(3, body, |results, _| {
        for result in results.into_iter().skip(1) {
            let error = result.expect("no rank panics").unwrap_err();
            assert!(matches!(error, Error::Left { rank: 0, .. }), "{error}");
        }
    });
}

#[test]
fn a_message_of_a_rank_that_has_left_still_arrives() {
    fn body(comm: ThreadCommunicator) -> Result<(), Error> {
        match comm.rank() {
            0 => collective::send(&comm, 1, Tag::CONTROL, vec![7], 1),
            _ => collective::receive(&comm, 0, Tag::CONTROL, 1).map(drop),
        }
    }
    explore(2, body, all_well);
}

#[test]
fn a_panic_ends_every_wait() {
    /// The last rank panics while the others wait for each other.
    fn body(comm: ThreadCommunicator) -> Result<(), Error> {
        let (rank, size) = (comm.rank(), comm.size());
        if rank == size - 1 {
            // `panic!` would call the panic hook, which would print a thousand times.
            std::panic::resume_unwind(Box::new("on purpose"));
        }
        collective::receive(&comm, (rank + 1) % size, Tag::CONTROL, 1).map(drop)
    }
    explore(3, body, |results, failure| {
        assert!(
            matches!(failure, Some(Error::Panicked { rank: 2, .. })),
            "{failure:?}"
        );
        for result in &results[..2] {
            assert!(matches!(result, Some(Err(Error::Panicked { rank: 2, .. }))));
        }
        assert!(results[2].is_none());
    });
}

#[test]
fn those_that_are_left_meet_and_go_on() {
    /// The last rank panics. The others detect this in a wait or when they meet, and exchange messages without that rank.
    fn body(comm: ThreadCommunicator) -> Result<(), Error> {
        let (rank, last) = (comm.rank(), comm.size() - 1);
        if rank == last {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
        if rank == 0 {
            let error = collective::receive(&comm, last, Tag::CONTROL, 1).unwrap_err();
            assert!(error.lost_ranks().is_some(), "{error}");
        }
        assert!(!comm.agree(true)?);
        let shrunk = comm.shrink()?;
        assert_eq!(shrunk.left, [0, 1]);
        let all = collective::allgather(&*shrunk.communicator, Tag::CONTROL, vec![7])?;
        assert_eq!(all, [7, 7]);
        Ok(())
    }
    explore(3, body, |results, _| {
        for result in &results[..2] {
            assert!(matches!(result, Some(Ok(()))), "{result:?}");
        }
    });
}

#[test]
fn a_cycle_of_waits_is_found_and_no_other() {
    static DEADLOCKS: AtomicUsize = AtomicUsize::new(0);
    /// After one round that works, every rank waits for its left neighbour, which never sends again.
    fn body(comm: ThreadCommunicator) -> Result<(), Error> {
        let (tag, size) = (Tag::new(1), comm.size());
        let (left, right) = ((comm.rank() + size - 1) % size, (comm.rank() + 1) % size);
        let sent = comm.start_send(right, tag, vec![1], 1)?;
        collective::receive(&comm, left, tag, 1).expect("the first round works");
        comm.wait(sent)?;
        collective::receive(&comm, left, tag, 1).map(drop)
    }
    explore(3, body, |results, _| {
        for result in results {
            let error = result.expect("no rank panics").unwrap_err();
            assert!(matches!(error, Error::Deadlock(_)), "{error}");
            DEADLOCKS.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(DEADLOCKS.load(Ordering::Relaxed), 2 * SCHEDULES * 3);
}

#[test]
fn buffers_come_back() {
    /// The sender of a short message keeps its buffer. The sender of a longer message gets the receiver's buffer.
    fn body<const LENGTH: usize>(comm: ThreadCommunicator) -> Result<(), Error> {
        let (tag, peer) = (Tag::new(1), 1 - comm.rank());
        let first = comm.start_send(peer, tag, vec![1; LENGTH], LENGTH)?;
        collective::receive(&comm, peer, tag, LENGTH)?;
        let second = comm.start_send(peer, tag, vec![2; LENGTH], LENGTH)?;
        // The peer has sent its second message, so it has taken the first one.
        collective::receive(&comm, peer, tag, LENGTH)?;
        assert_eq!(comm.wait(first)?.len(), LENGTH);
        comm.wait(second).map(drop)
    }
    explore(2, body::<SHORT_BYTES>, all_well);
    explore(2, body::<{ SHORT_BYTES + 1 }>, all_well);
}
