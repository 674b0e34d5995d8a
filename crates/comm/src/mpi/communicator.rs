//! The communicator itself.

use std::cell::{Cell, RefCell, RefMut};
use std::ffi::c_int;
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::asking::{Asked, Clock};
use super::channel::{Channel, Channels};
use super::inquiry::{self, Inquiry};
use super::lifetime::{self, Lifetime};
use super::local::LocalMessages;
use super::message::{LocalMessage, Message, MpiMessage, State, Trouble};
use super::node::Node;
use super::notice::Notice;
use super::raw::{Failure, PendingRequest, RawCommunicator};
use super::ulfm::{self, Missing, Ulfm};
use super::user_operation::UserOperations;
use super::waiting::{Patience, PollLimits};
use crate::communicator::{Communicator, Hints, Interruption, Shrunk};
use crate::conversation::Span;
use crate::error::Error;
use crate::fork::Process;
use crate::native::{CombineSlots, NativeReductions};
use crate::request::{Request, RequestId, Requests};
use crate::tag::Tag;
use crate::traffic::Traffic;

/// How long a peer may be silent unless [`set_silence_limit`](Communicator::set_silence_limit) says otherwise.
/// Long, because a rank may compute for long before it joins a reduction.
pub const DEFAULT_SILENCE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Open MPI sends up to 4096 bytes, its own header included, at once through shared memory; other libraries and networks more.
const EAGER_BYTES: usize = 4000;

/// What a rank says to the others that comes to agree, and says yes.
const AGREES: c_int = 1;

/// What it says that wants to go on without those that are lost.
const SHRINKS: c_int = 2;

/// The longest message that an MPI `int` counts.
const LONGEST_BYTES: usize = c_int::MAX.unsigned_abs() as usize;

/// A rank's end of the MPI backend.
///
/// It stays on the thread that made it, as `MPI_THREAD_FUNNELED` demands of the main thread: it is not [`Send`]. Dropping it calls
/// nothing of MPI: the library's communicator is freed when the ranks next duplicate the same communicator, or in `MPI_Finalize`.
///
/// ```compile_fail
/// fn moves<T: Send>() {}
/// moves::<comm::mpi::MpiCommunicator>();
/// ```
pub struct MpiCommunicator {
    pub(super) rank: usize,
    size: usize,
    pub(super) requests: RefCell<Requests<Message>>,
    pub(super) channels: RefCell<Channels>,
    /// Counts polls of shared memory; every `before_progress`-th also drives MPI.
    pub(super) polls: Cell<u32>,
    pub(super) poll_limits: PollLimits,
    pub(super) clock: Clock,
    /// Counts the messages that came while this rank asked for them.
    pub(super) heard: Cell<u32>,
    /// When a wait last looked for trouble.
    pub(super) last_look: Cell<Instant>,
    /// Sends whose requests were given up: their buffers wait here until MPI is done with them.
    abandoned: RefCell<Vec<PendingRequest>>,
    traffic: Cell<Traffic>,
    /// The number of messages that `requests` has memory for.
    room: Cell<usize>,
    pub(super) silence_limit: Rc<Cell<Duration>>,
    /// How long it asks for a message, in milliseconds, before it asks whose silence it is.
    pub(super) before_asking_ms: Cell<u64>,
    /// Its last inquiry.
    pub(super) inquiry: RefCell<Option<Inquiry>>,
    /// The ranks whose silence has ended this rank's last wait that ended so, and its conversation's number.
    pub(super) blamed: Cell<Option<(u64, Span)>>,
    /// What waits ask, and when one last did.
    pub(super) interruption: RefCell<Option<Interruption>>,
    pub(super) last_asked: Cell<Instant>,
    operations: UserOperations,
    hints: Hints,
    process: Process,
    /// The first channel's, for what is not a message.
    pub(super) raw: RawCommunicator,
    /// Its number in the registry of what is to be freed.
    pub(super) first_number: u64,
    /// Conversations to close before the next one is opened.
    to_close: RefCell<Vec<Tag>>,
    /// Requests to cancel then.
    to_cancel: RefCell<Vec<Request>>,
    /// Notices of this rank, some of which may wait for room in a ring.
    notices: RefCell<Vec<Request>>,
    /// Whether it is over, because ranks are lost or go on without such.
    is_revoked: Cell<bool>,
}

impl fmt::Debug for MpiCommunicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MpiCommunicator(rank {} of {})", self.rank, self.size)
    }
}

impl MpiCommunicator {
    /// A rank's end on a communicator of ours. Collective.
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
            before_asking_ms: Cell::new(inquiry::before_asking_ms(DEFAULT_SILENCE_LIMIT)),
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

    /// The silence limit, as it may be set later.
    pub(super) fn shared_silence_limit(&self) -> Rc<Cell<Duration>> {
        Rc::clone(&self.silence_limit)
    }

    /// A peer's number, for a call that is possible now.
    #[inline]
    fn peer(&self, call: &'static str, peer: usize) -> Result<c_int, Error> {
        if lifetime::is_finalised() {
            return Err(Error::Finalised { rank: self.rank });
        }
        if !self.process.is_current() {
            return Err(Error::Forked { rank: self.rank });
        }
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

    /// The channels, unless a message is being taken: then an operator has made this call.
    #[inline]
    pub(super) fn free_channels(&self) -> Result<RefMut<'_, Channels>, Error> {
        let channels = self.channels.try_borrow_mut();
        channels.map_err(|_| Error::Nested { rank: self.rank })
    }

    /// Whether the call does not come from an operator that takes a message.
    #[inline]
    fn check_not_nested(&self) -> Result<(), Error> {
        self.free_channels().map(drop)
    }

    /// Does something with messages of this capacity, to or from a rank, that MPI does not carry; `None` if it does.
    #[inline]
    fn locally<R>(
        &self,
        peer: usize,
        tag: Tag,
        capacity_bytes: usize,
        task: impl FnOnce(&mut LocalMessages, usize) -> R,
    ) -> Option<R> {
        if lifetime::is_finalised() || !self.process.is_current() {
            return None;
        }
        let channels = &mut *self.free_channels().ok()?;
        let (channel, _) = channels.of(tag)?;
        let node_rank = channel.local.node_rank_of(peer, capacity_bytes)?;
        Some(task(&mut channel.local, node_rank))
    }

    fn count(&self, length_bytes: usize) -> Result<c_int, Error> {
        c_int::try_from(length_bytes).map_err(|_| Error::TooLong {
            rank: self.rank,
            length_bytes,
            limit_bytes: LONGEST_BYTES,
        })
    }

    /// Frees what MPI is done with.
    fn sweep(&self) {
        // A request that fails is over as well.
        self.abandoned
            .borrow_mut()
            .retain_mut(|request| matches!(request.test(), Ok(false)));
    }

    fn insert(
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
            asked: Asked::default(),
        })))
    }

    /// Sends a notice about a conversation: through a ring if there is one, else by MPI if its tags have room for kinds. Says whether it
    /// was sent, or will be.
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
            // It knows.
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

    /// Ends the notices that are in their rings.
    fn sweep_notices(&self) {
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

    /// What a failure means, of a call on this communicator. If a rank is lost, the communicator is over, on all ranks: otherwise those
    /// would wait that wait for ranks which know of the loss.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        if failure.is_loss {
            self.loss()
        } else {
            failure.on(self.rank)
        }
    }

    /// Ends the communicator on all ranks, and says who is lost, as far as this rank knows.
    #[cold]
    fn loss(&self) -> Error {
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

    /// Ends the communicator on all ranks.
    fn revoke(&self, ulfm: &Ulfm) {
        if !self.is_revoked.replace(true) {
            lifetime::note_loss();
            lifetime::revoke_together(self.first_number, ulfm);
        }
    }

    /// The library's functions for going on without processes that have died.
    fn ulfm(&self) -> Result<Ulfm, Error> {
        let rank = self.rank;
        if lifetime::is_finalised() {
            return Err(Error::Finalised { rank });
        }
        if !self.process.is_current() {
            return Err(Error::Forked { rank });
        }
        Ulfm::find().map_err(|Missing { library, advice }| Error::NotSurvivable {
            rank,
            library,
            advice,
        })
    }

    /// The communicator of the ranks that are left, as MPI has it. It was just made, and this sets up the rest. Collective.
    fn of_survivors(&self, raw: RawCommunicator) -> Result<(Self, Vec<usize>), Error> {
        let failed = |failure: Failure| failure.on(self.rank);
        let left = ulfm::ranks_before(raw, self.raw).map_err(failed)?;
        let lifetime = Lifetime::register_survivors(raw).map_err(failed)?;
        let this = Self::on(raw, lifetime, self.shares_memory())?;
        this.set_silence_limit(self.silence_limit.get());
        this.interruption
            .replace(self.interruption.borrow().clone());
        Ok((this, left))
    }

    /// The ranks whose silence has ended a wait of this conversation on this rank, if that was its last wait to end so.
    fn blamed_in(&self, about: Tag) -> Option<Span> {
        let blamed = self.blamed.get();
        let blamed = blamed.filter(|(number, _)| *number == about.number());
        blamed.map(|(_, silent)| silent)
    }
}

impl Communicator for MpiCommunicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn start_send(
        &self,
        to: usize,
        tag: Tag,
        message: Vec<u8>,
        capacity_bytes: usize,
    ) -> Result<Request, Error> {
        let number = self.peer("start_send", to)?;
        let mut requests = self.requests.borrow_mut();
        let channels = &mut *self.free_channels()?;
        let (channel, conversations) = channels.of(tag).ok_or(Error::NotOpened {
            call: "start_send",
            tag,
        })?;
        Traffic::count(&self.traffic, &message);
        let local = &mut channel.local;
        if let Some(node_rank) = local.node_rank_of(to, capacity_bytes) {
            return Ok(local.start_send(&mut requests, conversations, node_rank, tag, message));
        }
        let count = self.count(message.len())?;
        let pending = channel
            .raw
            .start_send(message, count, number, channel.mpi_tag(tag));
        self.insert(&mut requests, tag, pending)
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        let number = self.peer("start_receive", from)?;
        let mut requests = self.requests.borrow_mut();
        let channels = &mut *self.free_channels()?;
        let (channel, conversations) = channels.of(tag).ok_or(Error::NotOpened {
            call: "start_receive",
            tag,
        })?;
        let local = &mut channel.local;
        if let Some(node_rank) = local.node_rank_of(from, buffer.len()) {
            return Ok(local.start_receive(&mut requests, conversations, node_rank, tag, buffer));
        }
        if let Some(given_up) = conversations.who_gave_up(tag) {
            return Ok(requests.insert(Message::Local(LocalMessage {
                buffer,
                peer: from,
                node_rank: 0,
                tag,
                state: State::Failed(Trouble::GivenUp(given_up)),
                asked: Asked::default(),
            })));
        }
        let capacity = self.count(buffer.len())?;
        let pending = channel
            .raw
            .start_receive(buffer, capacity, number, channel.mpi_tag(tag));
        self.insert(&mut requests, tag, pending)
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.poll_until(&[request.id()], Patience::Test)
    }

    fn test_in_passing(&self, request: &Request) -> Result<bool, Error> {
        self.poll_until(&[request.id()], Patience::InPassing)
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        match self.poll_until(&[request.id()], Patience::Unlimited) {
            Ok(_) => {
                let message = self.requests.borrow_mut().remove(request);
                match message.error(self.rank, self.silence_limit.get()) {
                    None => Ok(message.into_buffer()),
                    Some(mut error) => {
                        if let Error::Silent { peers, .. } = &mut error
                            && !self.are_silent(peers)
                        {
                            // Another rank blames one that this rank has heard of.
                            *peers = 0..0;
                        }
                        // Not cancelled: its message, should it come, must not meet a later receive.
                        if let Message::Mpi(message) = message {
                            self.abandoned.borrow_mut().push(message.pending);
                        }
                        Err(error)
                    }
                }
            }
            Err(error) => {
                self.cancel(request);
                Err(error)
            }
        }
    }

    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        let patience = match timeout {
            None => Patience::Unlimited,
            Some(Duration::ZERO) => Patience::Test,
            Some(timeout) => Patience::For(timeout),
        };
        self.poll_until(requests, patience)
    }

    fn cancel(&self, request: Request) {
        if self.check_not_nested().is_err() {
            self.to_cancel.borrow_mut().push(request);
            return;
        }
        let id = request.id();
        let message = self.requests.borrow_mut().remove(request);
        match message {
            Message::Local(message) => self.channels.borrow_mut().forget_request(message.tag, id),
            Message::Mpi(mut message) if !lifetime::is_finalised() => {
                // A cancelled receive completes without its sender; where it cannot, it waits with the sends.
                let _ = message.pending.cancel_receive();
                self.abandoned.borrow_mut().push(message.pending);
                self.sweep();
            }
            Message::Mpi(_) => {}
        }
    }

    fn open(&self, tag: Tag) -> Result<(), Error> {
        self.check_not_nested()?;
        self.sweep_notices();
        for request in self.to_cancel.take() {
            self.cancel(request);
        }
        for over in self.to_close.take() {
            self.close(over);
        }
        let opened = self.channels.borrow_mut().open(tag, self.rank, self.size);
        opened.map_err(|error| match error {
            Error::Revoked { .. } => self.loss(),
            error => error,
        })
    }

    fn close(&self, tag: Tag) {
        // An operator may drop a plan while a message is taken.
        match self.channels.try_borrow_mut() {
            Ok(mut channels) => channels.close(tag),
            Err(_) => self.to_close.borrow_mut().push(tag),
        }
    }

    fn try_send(&self, to: usize, tag: Tag, message: &[u8], capacity_bytes: usize) -> bool {
        let looks = self.poll_limits.before_request;
        // One that is too long for its receiver is the receiver's error.
        let is_sent = message.len() <= capacity_bytes
            && self.locally(to, tag, capacity_bytes, |local, node_rank| {
                local.try_send(node_rank, tag, message, looks)
            }) == Some(true);
        if is_sent {
            Traffic::count(&self.traffic, message);
        }
        is_sent
    }

    fn try_receive(
        &self,
        from: usize,
        tag: Tag,
        capacity_bytes: usize,
        take: &mut dyn FnMut(&[u8]),
    ) -> bool {
        let looks = self.poll_limits.before_request;
        self.locally(from, tag, capacity_bytes, |local, node_rank| {
            local.try_receive(node_rank, tag, capacity_bytes, looks, take)
        }) == Some(true)
    }

    fn give_up(&self, tag: Tag) {
        // An operator cannot tell the others.
        let Ok(channels) = self.channels.try_borrow() else {
            return;
        };
        let heard = channels.conversations.who_gave_up(tag);
        drop(channels);
        if heard.is_some_and(|given_up| given_up.silent.is_some()) {
            // That rank has told all others that somebody is silent.
            return;
        }
        let notice = Notice::GivenUp {
            exchange: tag.exchange(),
            silent: self.blamed_in(tag),
        };
        let mut others = (0..self.size).filter(|&to| to != self.rank);
        let told: Result<(), Error> = others.try_for_each(|to| {
            let (mut requests, mut channels) =
                (self.requests.borrow_mut(), self.channels.borrow_mut());
            self.send_notice(&mut requests, &mut channels, to, tag, &notice)?;
            Ok(())
        });
        // Otherwise MPI has failed, or is finalised: the others will see that this rank is silent.
        if told.is_ok() {
            self.sweep_notices();
        }
    }

    fn as_mpi(&self) -> Option<&MpiCommunicator> {
        Some(self)
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn reserve(&self, messages: usize) {
        let room = self.room.get() + messages;
        self.room.set(room);
        self.requests.borrow_mut().reserve(room);
        // An operator may print a plan, which compiles it. Then the next reservation makes the room.
        if let Ok(mut channels) = self.free_channels() {
            channels.reserve(room);
        }
    }

    fn release(&self, messages: usize) {
        self.room.set(self.room.get().saturating_sub(messages));
    }

    fn hints(&self) -> Hints {
        self.hints
    }

    fn native_reductions(&self) -> Option<&dyn NativeReductions> {
        Some(self)
    }

    fn silence_limit(&self) -> Option<Duration> {
        Some(self.silence_limit.get())
    }

    fn agree(&self, flag: bool) -> Result<bool, Error> {
        self.check_not_nested()?;
        let word = if flag { AGREES } else { 0 };
        let agreed = self.ulfm()?.agree(self.raw, word);
        let (word, is_complete) = agreed.map_err(|failure| self.explain(failure))?;
        Ok(is_complete && word == AGREES)
    }

    fn shrink(&self) -> Result<Shrunk, Error> {
        self.check_not_nested()?;
        let ulfm = self.ulfm()?;
        // Nobody waits for messages here any more: all come here, or are lost.
        self.revoke(&ulfm);
        let mut size_before = self.size + 1;
        loop {
            // Others that wanted to agree know now that they cannot.
            let agreed = ulfm.agree(self.raw, SHRINKS);
            let (word, _) = agreed.map_err(|failure| failure.on(self.rank))?;
            if word != SHRINKS {
                continue;
            }
            let raw = ulfm.shrink(self.raw);
            let raw = raw.map_err(|failure| failure.on(self.rank))?;
            let size = raw.size().map_err(|failure| failure.on(self.rank))?;
            let made = self.of_survivors(raw);
            if made.is_err() {
                // The others may wait for this rank.
                let _ = ulfm.revoke(raw);
            }
            let verdict = ulfm.agree(raw, made.is_ok().into());
            let (all_have_it, _) = verdict.map_err(|failure| failure.on(self.rank))?;
            match made {
                Ok((communicator, left)) if all_have_it == 1 => {
                    return Ok(Shrunk {
                        communicator: Box::new(communicator),
                        left,
                    });
                }
                // Another loss meanwhile: there are fewer now.
                Ok(_) | Err(Error::Revoked { .. }) if size < size_before => size_before = size,
                Ok(_) => return Err(Error::Revoked { rank: self.rank }),
                Err(error) => return Err(error),
            }
        }
    }

    fn set_silence_limit(&self, limit: Duration) {
        self.silence_limit.set(limit);
        self.before_asking_ms.set(inquiry::before_asking_ms(limit));
    }

    fn set_interruption(&self, interruption: Option<Interruption>) {
        self.interruption.replace(interruption);
    }
}

impl NativeReductions for MpiCommunicator {
    fn reduce_slots(
        &self,
        root: Option<usize>,
        slots: &mut [u8],
        slot_bytes: usize,
        combine: &CombineSlots<'_>,
    ) -> Result<(), Error> {
        self.check_not_nested()?;
        // Without a root, what can be wrong with a call is looked at all the same.
        let number = self.peer("reduce_slots", root.unwrap_or(self.rank))?;
        let count = self.count(slot_bytes)?;
        let register = |operation| {
            let channels = self.channels.borrow();
            channels.first().lifetime.register_operation(operation);
        };
        let root = root.map(|_| number);
        self.operations
            .reduce(&self.raw, root, slots, count, combine, register)
            .map_err(|failure| self.explain(failure))
    }

    fn add_integers(&self, root: Option<usize>, words: &mut [i64]) -> Result<(), Error> {
        self.check_not_nested()?;
        let number = self.peer("add_integers", root.unwrap_or(self.rank))?;
        self.raw
            .add_integers(root.map(|_| number), words)
            .map_err(|failure| self.explain(failure))
    }
}

impl Drop for MpiCommunicator {
    fn drop(&mut self) {
        let pending = self.requests.get_mut().drain();
        let pending = pending.filter_map(|message| match message {
            Message::Mpi(message) => Some(message.pending),
            Message::Local(_) => None,
        });
        // The first channel is the last to be freed.
        let first = self.channels.get_mut().first();
        first
            .lifetime
            .keep(pending.chain(self.abandoned.get_mut().drain(..)));
    }
}
