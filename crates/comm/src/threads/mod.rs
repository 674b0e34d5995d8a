//! The in-process backend: a rank is a thread.
//!
//! Thousands of ranks fit on two cores, because a rank that waits sleeps. A rank that panics, leaves while
//! another waits for it, or waits in a cycle with the others becomes an [`Error`] on every rank:
//! nothing hangs, and no thread is left when [`run`] returns.
//!
//! [`run_seeded`] lets one rank run at a time and takes every choice, who runs next and which
//! message arrives next, from a seed: the same seed replays the same interleaving.

mod communicator;
mod mailbox;
mod matching;
mod network;
mod queues;
mod seeded;
#[cfg(all(shuttle, test))]
mod shuttled;
mod sync;

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;

use crate::error::Error;
use mailbox::Mailboxes;
use network::Network;
use seeded::SeededNetwork;

pub use communicator::ThreadCommunicator;

/// The most ranks of a run. A thread takes up to four memory maps, of which Linux grants a process 65530; where none is left
/// for a thread that is just starting, the process aborts.
pub const RANKS_MAX: usize = 8192;

/// Why [`run`] has no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There must be at least one rank.
    #[error("a communicator needs at least one rank, not 0")]
    NoRanks,
    /// There are at most [`RANKS_MAX`] ranks.
    #[error("{ranks} ranks are more than {RANKS_MAX}, the most of one process")]
    TooManyRanks {
        /// The number that was asked for.
        ranks: usize,
    },
    /// A rank panicked or could not be started; the others were notified.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Runs `body` on `ranks` ranks, each a thread, and returns their results in rank order.
///
/// # Errors
/// `ranks` is 0 or more than [`RANKS_MAX`], a thread could not be started, or a rank panicked. The other ranks' pending and
/// later calls then return an error that names it, and all threads have ended.
pub fn run<R: Send>(
    ranks: usize,
    body: impl Fn(ThreadCommunicator) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    check(ranks)?;
    run_on(Arc::new(Mailboxes::new(ranks)), ranks, body)
}

/// Like [`run`], with the interleaving of ranks and messages drawn from `seed`.
///
/// One rank runs at a time, and a time-out passes only when nothing else can happen: if `body` itself is
/// deterministic, so is the run. For tests; it is far slower than [`run`].
///
/// # Errors
/// As [`run`].
pub fn run_seeded<R: Send>(
    ranks: usize,
    seed: u64,
    body: impl Fn(ThreadCommunicator) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    check(ranks)?;
    run_on(Arc::new(SeededNetwork::new(ranks, seed)), ranks, body)
}

/// Checks the number of ranks, before anything is allocated for each of them.
fn check(ranks: usize) -> Result<(), RunError> {
    match ranks {
        0 => Err(RunError::NoRanks),
        1..=RANKS_MAX => Ok(()),
        _ => Err(RunError::TooManyRanks { ranks }),
    }
}

fn run_on<R: Send>(
    network: Arc<dyn Network>,
    ranks: usize,
    body: impl Fn(ThreadCommunicator) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    let (body, network) = (&body, &network);
    let results: Vec<Option<R>> = thread::scope(|scope| {
        let mut threads = Vec::with_capacity(ranks);
        for rank in 0..ranks {
            let spawned = thread::Builder::new()
                .name(format!("rank {rank}"))
                .spawn_scoped(scope, move || run_rank(network, rank, ranks, body));
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    let reason = error.to_string();
                    network.fail(Error::NotStarted { rank, reason });
                    break;
                }
            }
        }
        threads
            .into_iter()
            .map(|thread| thread.join().ok().flatten())
            .collect()
    });
    let results: Option<Vec<R>> = results.into_iter().collect();
    match (results, network.failure()) {
        (Some(results), _) if results.len() == ranks => Ok(results),
        (_, failure) => Err(RunError::Failed(
            failure.expect("a rank without a result has recorded why"),
        )),
    }
}

/// One rank's life; `None` if it panicked.
fn run_rank<R>(
    network: &Arc<dyn Network>,
    rank: usize,
    size: usize,
    body: impl Fn(ThreadCommunicator) -> R,
) -> Option<R> {
    let comm = ThreadCommunicator::new(Arc::clone(network), rank, size);
    network.enter(rank);
    // The communicator is gone after a panic, so nothing half-changed is seen.
    let result = panic::catch_unwind(AssertUnwindSafe(|| body(comm)));
    if let Err(payload) = &result {
        let message = panic_message(payload.as_ref()).to_owned();
        network.fail(Error::Panicked { rank, message });
    }
    network.leave(rank);
    result.ok()
}

/// What a panic said.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    let message = payload.downcast_ref::<&str>().copied().or(formatted);
    message.unwrap_or("a panic without a message")
}
