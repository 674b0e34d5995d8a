//! The in-process backend: a rank is a thread.
//!
//! Thousands of ranks fit on two cores, because a rank that waits sleeps. If a rank panics, or leaves while another waits for it, or if
//! ranks wait for one another in a cycle, every rank gets an [`Error`]: nothing hangs, and no thread is left when [`run`] returns.
//!
//! [`run_seeded`] lets one rank run at a time. A seed decides which rank runs next and which
//! message arrives next, so the same seed replays the same interleaving.

mod communicator;
mod group;
mod mailbox;
mod matching;
mod meetings;
mod network;
mod queues;
mod seeded;
mod shelf;
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

/// The maximum number of ranks of a run. A thread uses up to four memory maps, and Linux allows a process 65530 maps. If no map is left for
/// a thread that is just starting, the process aborts.
pub const RANKS_MAX: usize = 8192;

/// Why [`run`] has no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The number of ranks is 0.
    #[error("a communicator needs at least one rank, not 0")]
    NoRanks,
    /// The number of ranks exceeds [`RANKS_MAX`].
    #[error("{ranks} ranks are more than {RANKS_MAX}, the maximum in one process")]
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
/// `ranks` is 0 or more than [`RANKS_MAX`], a thread could not be started, or a rank panicked. In the last two cases, the other
/// ranks' pending and later calls return an error that names that rank. All threads have ended when `run` returns.
pub fn run<R: Send>(
    ranks: usize,
    body: impl Fn(ThreadCommunicator) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    check(ranks)?;
    run_on(Arc::new(Mailboxes::new(ranks)), ranks, body)
}

/// Like [`run`], with the interleaving of ranks and messages drawn from `seed`.
///
/// One rank runs at a time, and a time-out passes only when nothing else can happen. So the run is deterministic if `body` is
/// deterministic. This function is meant for tests, and is far slower than [`run`].
///
/// # Errors
/// Those of [`run`].
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

/// Like [`run`], but returns every rank's own outcome: an error for a rank that panics, otherwise the rank's result. For programs
/// whose ranks go on without lost ranks; see [`Communicator::shrink`](crate::Communicator::shrink).
///
/// # Errors
/// `ranks` is 0 or more than [`RANKS_MAX`].
pub fn run_each<R: Send>(
    ranks: usize,
    body: impl Fn(ThreadCommunicator) -> R + Sync,
) -> Result<Vec<Result<R, Error>>, RunError> {
    check(ranks)?;
    Ok(outcomes(
        &(Arc::new(Mailboxes::new(ranks)) as _),
        ranks,
        body,
    ))
}

/// Like [`run_each`], with the interleaving of [`run_seeded`] until a rank is lost. Then the remaining ranks go on with another
/// interleaving from the same seed. If communicators were split, the ranks go on concurrently instead, without a seed.
///
/// # Errors
/// Those of [`run_each`].
pub fn run_each_seeded<R: Send>(
    ranks: usize,
    seed: u64,
    body: impl Fn(ThreadCommunicator) -> R + Sync,
) -> Result<Vec<Result<R, Error>>, RunError> {
    check(ranks)?;
    Ok(outcomes(
        &(Arc::new(SeededNetwork::new(ranks, seed)) as _),
        ranks,
        body,
    ))
}

fn run_on<R: Send>(
    network: Arc<dyn Network>,
    ranks: usize,
    body: impl Fn(ThreadCommunicator) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    let outcomes = outcomes(&network, ranks, body);
    let results: Result<Vec<R>, Error> = outcomes.into_iter().collect();
    // The first failure is the cause of the others.
    results.map_err(|error| RunError::Failed(network.failure().unwrap_or(error)))
}

/// The result of every rank.
fn outcomes<R: Send>(
    network: &Arc<dyn Network>,
    ranks: usize,
    body: impl Fn(ThreadCommunicator) -> R + Sync,
) -> Vec<Result<R, Error>> {
    let body = &body;
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(ranks);
        let mut missing = None;
        for rank in 0..ranks {
            let spawned = thread::Builder::new()
                .name(format!("rank {rank}"))
                .spawn_scoped(scope, move || run_rank(network, rank, ranks, body));
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    let reason = error.to_string();
                    let error = Error::NotStarted { rank, reason };
                    network.fail(error.clone());
                    (rank..ranks).for_each(|rank| network.leave(rank));
                    missing = Some(error);
                    break;
                }
            }
        }
        let ended = threads.into_iter().map(|thread| thread.join());
        let ended = ended.map(|ended| ended.expect("a rank catches its panics"));
        let mut outcomes: Vec<_> = ended.collect();
        outcomes.resize_with(ranks, || {
            Err(missing.clone().expect("all others were started"))
        });
        outcomes
    })
}

/// Runs one rank, and returns its result.
fn run_rank<R>(
    network: &Arc<dyn Network>,
    rank: usize,
    size: usize,
    body: impl Fn(ThreadCommunicator) -> R,
) -> Result<R, Error> {
    let comm = ThreadCommunicator::new(Arc::clone(network), rank, size);
    network.enter(rank);
    // After a panic the communicator is dropped, so nobody sees a half-changed state.
    let result = panic::catch_unwind(AssertUnwindSafe(|| body(comm)));
    let result = result.map_err(|payload| panic_message(payload.as_ref()).to_owned());
    leave(network, rank, result.as_ref().err());
    result.map_err(|message| Error::Panicked { rank, message })
}

/// Notes that a rank leaves its network, and all later networks of surviving ranks in which it takes part.
fn leave(network: &Arc<dyn Network>, rank: usize, panicked: Option<&String>) {
    if let Some(message) = panicked {
        let message = message.clone();
        network.fail(Error::Panicked { rank, message });
    }
    network.leave(rank);
    for shrunk in network.successors() {
        if let Ok(rank) = shrunk.ranks.binary_search(&rank) {
            leave(&shrunk.network, rank, panicked);
        }
    }
}

/// The message of a panic.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    let message = payload.downcast_ref::<&str>().copied().or(formatted);
    message.unwrap_or("a panic without a message")
}
