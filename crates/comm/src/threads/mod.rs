//! The in-process backend: a rank is a thread.
//!
//! Thousands of ranks fit on two cores, because a rank that waits sleeps. A rank that panics, leaves while
//! another waits for it, or waits in a cycle with the others becomes an [`Error`] on every rank:
//! nothing hangs, and no thread is left when [`run`] returns.
//!
//! [`run_seeded`] lets one rank run at a time and takes every choice, who runs next and which
//! message arrives next, from a seed: the same seed replays the same interleaving.

mod mailbox;
mod matching;
mod seeded;
#[cfg(all(shuttle, test))]
mod shuttled;
mod sync;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::communicator::{Communicator, Request, RequestId, Tag, Traffic};
use crate::error::Error;
use crate::in_flight::InFlight;
use mailbox::Mailboxes;
use matching::Matching;
use seeded::SeededNetwork;

/// Why [`run`] has no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There must be at least one rank.
    #[error("a communicator needs at least one rank, not 0")]
    NoRanks,
    /// A rank panicked or could not be started; the others were told so.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Runs `body` on `ranks` ranks, each a thread, and returns their results in rank order.
///
/// # Errors
/// `ranks` is 0, a thread could not be started, or a rank panicked. The other ranks' pending and
/// later calls then return an error that names it, and all threads have ended.
pub fn run<R: Send>(
    ranks: usize,
    body: impl Fn(&ThreadCommunicator<'_>) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    run_on(&Mailboxes::new(ranks), ranks, body)
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
    body: impl Fn(&ThreadCommunicator<'_>) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    run_on(&SeededNetwork::new(ranks, seed), ranks, body)
}

fn run_on<R: Send>(
    network: &dyn Network,
    ranks: usize,
    body: impl Fn(&ThreadCommunicator<'_>) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    if ranks == 0 {
        return Err(RunError::NoRanks);
    }
    let body = &body;
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
    network: &dyn Network,
    rank: usize,
    size: usize,
    body: impl Fn(&ThreadCommunicator<'_>) -> R,
) -> Option<R> {
    let comm = ThreadCommunicator {
        rank,
        size,
        network,
        matching: RefCell::default(),
        traffic: Cell::default(),
        last_tag: Cell::new(Tag::CONTROL),
        in_flight: InFlight::default(),
    };
    network.enter(rank);
    // The communicator is not used again after a panic, so that nothing half-changed is seen.
    let result = panic::catch_unwind(AssertUnwindSafe(|| body(&comm)));
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

/// A message on its way.
#[derive(Debug)]
struct Envelope {
    from: usize,
    tag: Tag,
    letter: Letter,
}

/// Messages up to so many bytes are copied, which is sooner done than buffers change hands.
const SHORT_BYTES: usize = 96;

/// What is in an envelope.
#[derive(Debug)]
enum Letter {
    /// A copy: the sender keeps its buffer.
    Short {
        length: usize,
        bytes: [u8; SHORT_BYTES],
    },
    /// The message itself, and the sender's send, for which the receiver gives its own buffer in return.
    Long { message: Vec<u8>, send: Request },
}

/// A receiver's buffer, in return for a message: both sides keep as much memory as they had.
#[derive(Debug)]
struct Return {
    send: Request,
    buffer: Vec<u8>,
}

/// How long [`Network::collect`] may wait for messages.
#[derive(Clone, Copy, Debug)]
enum Patience {
    /// Not at all.
    None,
    Until(Awaited, Instant),
    Unlimited(Awaited),
}

/// Whose message is waited for.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    rank: usize,
    /// Whether others' would do, too.
    or_others: bool,
}

/// What carries envelopes between ranks.
trait Network: Sync {
    /// The rank's first call.
    fn enter(&self, rank: usize);
    /// Puts an envelope on its way to rank `to`. Never waits for the receiver.
    fn deliver(&self, to: usize, envelope: Envelope) -> Result<(), Error>;
    /// Moves what has arrived at `rank` to the end of `arrived`; where that is nothing, waits as
    /// long as `patience` says. Returns whether anything came.
    fn collect(
        &self,
        rank: usize,
        patience: Patience,
        arrived: &mut Vec<Envelope>,
    ) -> Result<bool, Error>;
    /// Makes room for so many messages to `rank`.
    fn reserve(&self, rank: usize, messages: usize);
    /// Gives rank `to` a buffer for its message. Wakes nobody.
    fn give_back(&self, to: usize, buffer: Return);
    /// Moves the buffers that were given back to `rank` to the end of `returned`.
    fn take_back(&self, rank: usize, returned: &mut Vec<Return>);
    /// The rank's last call.
    fn leave(&self, rank: usize);
    /// Makes every rank's pending and later calls fail with `error`, unless they fail already.
    fn fail(&self, error: Error);
    /// What all calls fail with, if anything.
    fn failure(&self) -> Option<Error>;
}

/// A rank's end of the in-process backend.
pub struct ThreadCommunicator<'n> {
    rank: usize,
    size: usize,
    network: &'n dyn Network,
    matching: RefCell<Matching>,
    traffic: Cell<Traffic>,
    last_tag: Cell<Tag>,
    in_flight: InFlight,
}

impl fmt::Debug for ThreadCommunicator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadCommunicator(rank {} of {})", self.rank, self.size)
    }
}

impl ThreadCommunicator<'_> {
    fn check_peer(&self, call: &'static str, peer: usize) -> Result<(), Error> {
        if peer < self.size {
            return Ok(());
        }
        Err(Error::NoSuchRank {
            call,
            peer,
            size: self.size,
        })
    }

    /// Collects and matches messages until one of the requests is complete or patience ends.
    fn progress(
        &self,
        requests: &[RequestId],
        patience: impl Fn(Awaited) -> Patience,
    ) -> Result<bool, Error> {
        let mut matching = self.matching.borrow_mut();
        loop {
            // Whoever waits for several is said to wait for the first.
            let mut first = None;
            for request in requests.iter().rev() {
                first = matching.awaited(&request.request());
                if first.is_none() {
                    return Ok(true);
                }
            }
            let awaited = Awaited {
                rank: first.expect("one waits for something"),
                or_others: requests.len() > 1,
            };
            let collect =
                |arrived: &mut _| self.network.collect(self.rank, patience(awaited), arrived);
            let give_back = |to, buffer| self.network.give_back(to, buffer);
            if !matching.match_arrivals(collect, give_back)? {
                return Ok(false);
            }
        }
    }
}

impl Communicator for ThreadCommunicator<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn fresh_tag(&self) -> Tag {
        self.last_tag.set(self.last_tag.get().next());
        self.last_tag.get()
    }

    fn start_send(&self, to: usize, tag: Tag, message: Vec<u8>) -> Result<Request, Error> {
        self.check_peer("start_send", to)?;
        Traffic::count(&self.traffic, &message);
        let (request, letter) = self.matching.borrow_mut().send(message);
        let envelope = Envelope {
            from: self.rank,
            tag,
            letter,
        };
        match self.network.deliver(to, envelope) {
            Ok(()) => Ok(request),
            Err(error) => {
                self.matching.borrow_mut().cancel(request);
                Err(error)
            }
        }
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        self.check_peer("start_receive", from)?;
        let give_back = |to, buffer| self.network.give_back(to, buffer);
        let mut matching = self.matching.borrow_mut();
        Ok(matching.post(from, tag, buffer, give_back))
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.progress(&[request.id()], |_| Patience::None)
    }

    fn wait_timeout(&self, request: &Request, timeout: Duration) -> Result<bool, Error> {
        self.wait_any(&[request.id()], Some(timeout))
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        let progress = self.progress(&[request.id()], Patience::Unlimited);
        let mut matching = self.matching.borrow_mut();
        matching.take_back(|returned| self.network.take_back(self.rank, returned));
        progress.and(matching.take(self.rank, request))
    }

    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        // A time-out beyond what a clock can express is none.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.progress(requests, |awaited| match deadline {
            Some(deadline) => Patience::Until(awaited, deadline),
            None => Patience::Unlimited(awaited),
        })
    }

    fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    fn cancel(&self, request: Request) {
        self.matching.borrow_mut().cancel(request);
    }

    fn reserve(&self, messages: usize) {
        let room = self.matching.borrow_mut().reserve(messages);
        self.network.reserve(self.rank, room);
    }

    fn release(&self, messages: usize) {
        self.matching.borrow_mut().release(messages);
    }

    fn delivers_alone(&self) -> bool {
        true
    }

    fn concurrency(&self) -> usize {
        // Asking takes some microseconds, and reads files.
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from));
        self.size().min(*cores)
    }

    fn node_ranks(&self) -> Option<usize> {
        Some(self.size())
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }
}
