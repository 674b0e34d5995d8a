//! The communicator of the MPI backend.

use std::cell::{Cell, RefCell, RefMut};
use std::ffi::c_int;
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::communicator::{Hints, Interruption};
use crate::conversation::Span;
use crate::error::Error;
use crate::fork::Process;
use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::Failure;
use crate::mpi::calls::pending::PendingRequest;
use crate::mpi::calls::survivors;
use crate::mpi::calls::ulfm::{Missing, Ulfm};
use crate::mpi::calls::user_operation::UserOperations;
use crate::mpi::channels::channel::{Channel, Channels};
use crate::mpi::channels::lifetime::{self, Lifetime};
use crate::mpi::messages::inquiry::{self, Inquiry};
use crate::mpi::messages::message::{Message, MpiMessage};
use crate::mpi::messages::notice::Notice;
use crate::mpi::messages::poll_limits::PollLimits;
use crate::mpi::messages::wait_time::{Clock, WaitTime};
use crate::mpi::node::local::LocalMessages;
use crate::mpi::node::sharing::Node;
use crate::request::{Request, Requests};
use crate::tag::Tag;
use crate::traffic::Traffic;

/// How long a peer may be silent unless [`set_silence_limit`](crate::Communicator::set_silence_limit) sets another limit. This limit is
/// long, because a rank may compute for a long time before it joins a reduction.
pub const DEFAULT_SILENCE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Open MPI sends up to 4096 bytes, including its header, through shared memory at once; other libraries and networks send more.
const EAGER_BYTES: usize = 4000;

/// The length of the longest message that MPI can count in an `int`.
const LONGEST_BYTES: usize = c_int::MAX.unsigned_abs() as usize;

/// A rank's communicator in the MPI backend.
///
/// A communicator is not [`Send`], so it stays on the thread that made it: with `MPI_THREAD_FUNNELED`, one thread makes all MPI calls.
/// Dropping it makes no MPI call: the library's communicator is freed when the ranks next duplicate its parent, or in `MPI_Finalize`.
///
/// ```compile_fail
/// fn moves<T: Send>() {}
/// moves::<comm::mpi::MpiCommunicator>();
/// ```
pub struct MpiCommunicator {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) requests: RefCell<Requests<Message>>,
    pub(super) channels: RefCell<Channels>,
    /// Counts polls of shared memory: one poll in `before_progress` polls also lets MPI make progress.
    pub(super) polls: Cell<u32>,
    pub(super) poll_limits: PollLimits,
    pub(super) clock: Clock,
    /// Counts the messages that arrived while this rank waited for them.
    pub(super) heard: Cell<u32>,
    /// When a wait last looked for trouble.
    pub(super) last_look: Cell<Instant>,
    /// Requests that were given up. Each owns its buffer until MPI is done with the request.
    pub(super) abandoned: RefCell<Vec<PendingRequest>>,
    pub(super) traffic: Cell<Traffic>,
    /// The number of messages that `requests` has memory for.
    pub(super) room: Cell<usize>,
    pub(super) silence_limit: Rc<Cell<Duration>>,
    /// How long this rank waits for a message before it inquires which rank is silent.
    pub(super) before_inquiry_ms: Cell<u64>,
    /// This rank's last inquiry.
    pub(super) inquiry: RefCell<Option<Inquiry>>,
    /// For this rank's last wait that ended because of silence: the conversation's number, and the silent ranks.
    pub(super) blamed: Cell<Option<(u64, Span)>>,
    /// The function that decides whether waits end.
    pub(super) interruption: RefCell<Option<Interruption>>,
    /// When a wait last called that function.
    pub(super) last_asked: Cell<Instant>,
    pub(super) operations: UserOperations,
    pub(super) hints: Hints,
    pub(super) process: Process,
    /// The first channel's communicator, for calls that send no messages.
    pub(super) raw: RawCommunicator,
    /// The number of that communicator in the [registry](lifetime) of communicators to free.
    pub(super) first_number: u64,
    /// Conversations to close before the next conversation is opened.
    pub(super) to_close: RefCell<Vec<Tag>>,
    /// Requests to cancel before the next conversation is opened.
    pub(super) to_cancel: RefCell<Vec<Request>>,
    /// Notices of this rank. Some may still wait for room in a ring.
    pub(super) notices: RefCell<Vec<Request>>,
    /// Whether the communicator is revoked: ranks are lost, or others go on without lost ranks.
    pub(super) is_revoked: Cell<bool>,
}

impl fmt::Debug for MpiCommunicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MpiCommunicator(rank {} of {})", self.rank, self.size)
    }
}

impl MpiCommunicator {
    /// Makes a communicator on `raw`, which is a duplicate that this crate has made. Collective.
    pub(super) fn on(
        raw: RawCommunicator,
        lifetime: Lifetime,
        wants_memory: bool,
    ) -> Result<Self, Error> {
        let rank = raw.rank().map_err(|failure| failure.on(0))?;
        let failed = |failure: Failure| failure.on(rank);
        let size = raw.size().map_err(failed)?;
        let node = Node::find(&raw, rank, size, 0, wants_memory)?;
        let shared_bytes = node.local.longest_bytes_among(size);
        let first_number = lifetime.number();
        let first = Channel::first(raw, lifetime, node.local).map_err(failed)?;
        Ok(Self {
            rank,
            size,
            requests: RefCell::default(),
            channels: RefCell::new(Channels::new(first)),
            polls: Cell::default(),
            poll_limits: if node.concurrency < size {
                PollLimits::SHARED_CORE
            } else {
                PollLimits::OWN_CORE
            },
            clock: Clock::new(),
            heard: Cell::default(),
            last_look: Cell::new(Instant::now()),
            abandoned: RefCell::default(),
            traffic: Cell::default(),
            room: Cell::new(0),
            silence_limit: Rc::new(Cell::new(DEFAULT_SILENCE_LIMIT)),
            before_inquiry_ms: Cell::new(inquiry::before_inquiry_ms(DEFAULT_SILENCE_LIMIT)),
            inquiry: RefCell::default(),
            blamed: Cell::default(),
            interruption: RefCell::default(),
            last_asked: Cell::new(Instant::now()),
            operations: UserOperations::default(),
            hints: Hints {
                eager_bytes: EAGER_BYTES,
                concurrency: node.concurrency,
                node_ranks: node.regular_ranks,
                shared_bytes,
            },
            process: Process::current(),
            raw,
            first_number,
            to_close: RefCell::default(),
            to_cancel: RefCell::default(),
            notices: RefCell::default(),
            is_revoked: Cell::new(false),
        })
    }

    /// Whether short messages between ranks of this rank's node go through memory that they share.
    pub fn shares_memory(&self) -> bool {
        self.channels.borrow().first().local.window().is_some()
    }

    /// Sets the silence limit, and when inquiries begin.
    pub(super) fn limit_silence(&self, limit: Duration) {
        self.silence_limit.set(limit);
        self.before_inquiry_ms
            .set(inquiry::before_inquiry_ms(limit));
    }

    /// Fails if MPI is finalised, or in a forked process.
    #[inline]
    fn check_usable(&self) -> Result<(), Error> {
        let rank = self.rank;
        if lifetime::is_finalised() {
            return Err(Error::Finalised { rank });
        }
        if !self.process.is_current() {
            return Err(Error::Forked { rank });
        }
        Ok(())
    }

    /// A peer's rank as MPI's int. Fails if the call is not possible now.
    #[inline]
    pub(super) fn peer(&self, call: &'static str, peer: usize) -> Result<c_int, Error> {
        self.check_usable()?;
        if self.is_revoked.get() {
            return Err(self.loss());
        }
        let number = c_int::try_from(peer).ok().filter(|_| peer < self.size);
        number.ok_or(Error::NoSuchRank {
            call,
            peer,
            size: self.size,
        })
    }

    /// Borrows the channels. Fails if the call comes from an operator, within the `take` of `try_receive`.
    #[inline]
    pub(super) fn free_channels(&self) -> Result<RefMut<'_, Channels>, Error> {
        let channels = self.channels.try_borrow_mut();
        channels.map_err(|_| Error::Nested { rank: self.rank })
    }

    /// Fails if the call comes from an operator, within the `take` of `try_receive`.
    #[inline]
    pub(super) fn check_not_nested(&self) -> Result<(), Error> {
        self.free_channels().map(drop)
    }

    /// Runs `task` if messages of this capacity, to or from a rank, bypass MPI; returns `None` if they do not.
    #[inline]
    pub(super) fn locally<R>(
        &self,
        peer: usize,
        tag: Tag,
        capacity_bytes: usize,
        task: impl FnOnce(&mut LocalMessages, usize) -> R,
    ) -> Option<R> {
        self.check_usable().ok()?;
        let channels = &mut *self.free_channels().ok()?;
        let (channel, _) = channels.of(tag)?;
        let node_rank = channel.local.node_rank_of(peer, capacity_bytes)?;
        Some(task(&mut channel.local, node_rank))
    }

    pub(super) fn count(&self, length_bytes: usize) -> Result<c_int, Error> {
        c_int::try_from(length_bytes).map_err(|_| Error::TooLong {
            rank: self.rank,
            length_bytes,
            limit_bytes: LONGEST_BYTES,
        })
    }

    /// Frees the abandoned requests that MPI is done with.
    pub(super) fn sweep(&self) {
        // MPI is done with a request that fails, too.
        self.abandoned
            .borrow_mut()
            .retain_mut(|request| matches!(request.test(), Ok(false)));
    }

    pub(super) fn insert(
        &self,
        requests: &mut Requests<Message>,
        tag: Tag,
        pending: Result<PendingRequest, Failure>,
    ) -> Result<Request, Error> {
        let pending = pending.map_err(|failure| self.explain(failure))?;
        Ok(requests.insert(Message::Mpi(MpiMessage {
            pending,
            tag,
            trouble: None,
            wait_time: WaitTime::default(),
        })))
    }

    /// Sends a notice about a conversation: through a ring if there is one, else by MPI if MPI's tags have bits for the exchange.
    /// Returns whether the notice was sent or will be sent.
    pub(super) fn send_notice(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        to: usize,
        about: Tag,
        notice: &Notice,
    ) -> Result<bool, Error> {
        let number = self.peer("give_up", to)?;
        let Some((channel, conversations)) = channels.of(about) else {
            return Ok(false);
        };
        let tag = about.any_notice();
        let message = notice.to_bytes();
        let local = &mut channel.local;
        if to == self.rank {
            // This rank needs no notice from itself.
        } else if let Some(node_rank) = local.node_rank_of(to, message.len()) {
            if local.try_send(node_rank, tag, &message, 1) {
                return Ok(true);
            }
            if notice.must_arrive() {
                let request = local.start_send(requests, conversations, node_rank, tag, message);
                self.notices.borrow_mut().push(request);
                return Ok(true);
            }
            return Ok(false);
        } else if channel.tags_tell_exchanges() {
            let count = self.count(message.len())?;
            let mpi_tag = channel.mpi_tag(tag);
            let pending = channel.raw.start_send(message, count, number, mpi_tag);
            let pending = pending.map_err(|failure| self.explain(failure))?;
            self.abandoned.borrow_mut().push(pending);
            return Ok(true);
        }
        Ok(false)
    }

    /// Frees the requests of notices that have been written to their rings.
    pub(super) fn sweep_notices(&self) {
        let requests = &mut self.requests.borrow_mut();
        let (over, waiting) = self
            .notices
            .take()
            .into_iter()
            .partition::<Vec<_>, _>(|request| requests.get_mut(request.id()).is_sent());
        self.notices.replace(waiting);
        for request in over {
            requests.remove(request);
        }
    }

    /// The error of a failed call on this communicator. If a rank is lost, this revokes the communicator on all ranks: otherwise
    /// some would wait for ranks that know of the loss and have stopped.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        if failure.is_loss {
            self.loss()
        } else {
            failure.on(self.rank)
        }
    }

    /// Revokes the communicator on all ranks. Returns the error, which names the lost ranks that this rank knows.
    #[cold]
    pub(super) fn loss(&self) -> Error {
        let rank = self.rank;
        let Ok(ulfm) = Ulfm::find() else {
            return Error::Revoked { rank };
        };
        self.revoke(&ulfm);
        match ulfm.lost_ranks(self.raw) {
            Ok(lost) if !lost.is_empty() => Error::Lost { rank, lost },
            _ => Error::Revoked { rank },
        }
    }

    /// Revokes the communicator on all ranks.
    pub(super) fn revoke(&self, ulfm: &Ulfm) {
        if !self.is_revoked.replace(true) {
            lifetime::note_loss();
            lifetime::revoke_together(self.first_number, ulfm);
        }
    }

    /// The library's functions for going on without processes that have died.
    pub(super) fn ulfm(&self) -> Result<Ulfm, Error> {
        self.check_usable()?;
        let rank = self.rank;
        Ulfm::find().map_err(|Missing { library, advice }| Error::NotSurvivable {
            rank,
            library,
            advice,
        })
    }

    /// Makes the communicator of the surviving ranks on `raw`, a new MPI communicator. Also returns these ranks' old numbers. Collective.
    pub(super) fn of_survivors(&self, raw: RawCommunicator) -> Result<(Self, Vec<usize>), Error> {
        let failed = |failure: Failure| failure.on(self.rank);
        let left = survivors::ranks_before(raw, self.raw).map_err(failed)?;
        let lifetime = Lifetime::register_survivors(raw).map_err(failed)?;
        let this = Self::on(raw, lifetime, self.shares_memory())?;
        this.limit_silence(self.silence_limit.get());
        this.interruption
            .replace(self.interruption.borrow().clone());
        Ok((this, left))
    }

    /// The silent ranks, if this rank's last wait that ended because of silence was in this conversation.
    pub(super) fn blamed_in(&self, about: Tag) -> Option<Span> {
        let blamed = self.blamed.get();
        let blamed = blamed.filter(|(number, _)| *number == about.number());
        blamed.map(|(_, silent)| silent)
    }
}

impl Drop for MpiCommunicator {
    fn drop(&mut self) {
        let pending = self.requests.get_mut().drain();
        let pending = pending.filter_map(|message| match message {
            Message::Mpi(message) => Some(message.pending),
            Message::Local(_) => None,
        });
        // The first channel is freed last, so it keeps the requests.
        let first = self.channels.get_mut().first();
        first
            .lifetime
            .keep(pending.chain(self.abandoned.get_mut().drain(..)));
    }
}
