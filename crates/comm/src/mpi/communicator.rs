//! The communicator itself.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use mpi::ffi::MPI_Comm;
use mpi::raw::AsRaw;

use super::lifetime::{self, Lifetime};
use super::message::Message;
use super::node::Node;
use super::raw::{Failure, PendingRequest, RawCommunicator};
use super::short::ShortMessages;
use super::user_operation::UserOperations;
use super::waiting::PollLimits;
use crate::communicator::{Communicator, Hints};
use crate::error::Error;
use crate::fork::Process;
use crate::native::{CombineSlots, NativeReductions};
use crate::request::{Request, RequestId, Requests};
use crate::ring;
use crate::tag::Tag;
use crate::traffic::Traffic;

/// How long a peer may be silent unless [`set_silence_limit`](Communicator::set_silence_limit) says otherwise.
/// Long, because a rank may compute for long before it joins a reduction.
pub const DEFAULT_SILENCE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Open MPI sends up to 4096 bytes, its own header included, at once through shared memory; other libraries and networks more.
const EAGER_BYTES: usize = 4000;

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
    /// The way of short messages between ranks of this node.
    pub(super) short: RefCell<Option<ShortMessages>>,
    /// Counts polls of shared memory; every `before_progress`-th also drives MPI.
    pub(super) polls: Cell<u32>,
    pub(super) poll_limits: PollLimits,
    /// Sends whose requests were given up: their buffers wait here until MPI is done with them.
    abandoned: RefCell<Vec<PendingRequest>>,
    traffic: Cell<Traffic>,
    /// The number of messages that `requests` has memory for.
    room: Cell<usize>,
    silence_limit: Rc<Cell<Duration>>,
    operations: UserOperations,
    hints: Hints,
    process: Process,
    pub(super) raw: RawCommunicator,
    lifetime: Lifetime,
}

impl fmt::Debug for MpiCommunicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MpiCommunicator(rank {} of {})", self.rank, self.size)
    }
}

impl MpiCommunicator {
    /// Duplicates a communicator of the caller's, so that messages of the two never meet. Collective.
    ///
    /// # Errors
    /// An MPI call failed, or an environment variable has a value that it cannot have.
    pub fn duplicate(comm: &impl AsRaw<Raw = MPI_Comm>) -> Result<Self, Error> {
        // Where even this fails, there is no rank to name. A duplicate has the ranks of its parent.
        let rank = RawCommunicator::of(comm).rank();
        let rank = rank.map_err(|failure| failure.on(0))?;
        let failed = |failure: Failure| failure.on(rank);
        let raw = RawCommunicator::duplicate(comm).map_err(failed)?;
        let lifetime = Lifetime::register(comm, raw).map_err(failed)?;
        let size = raw.size().map_err(failed)?;
        let node = Node::find(&raw, rank, size)?;
        if let Some(short) = &node.short {
            lifetime.register_window(short.window());
        }
        Ok(Self {
            rank,
            size,
            requests: RefCell::default(),
            short: RefCell::new(node.short),
            polls: Cell::default(),
            poll_limits: match node.concurrency < size {
                true => PollLimits::SHARED_CORE,
                false => PollLimits::OWN_CORE,
            },
            abandoned: RefCell::default(),
            traffic: Cell::default(),
            room: Cell::new(0),
            silence_limit: Rc::new(Cell::new(DEFAULT_SILENCE_LIMIT)),
            operations: UserOperations::default(),
            hints: Hints {
                eager_bytes: EAGER_BYTES,
                concurrency: node.concurrency,
                node_ranks: node.regular_ranks,
            },
            process: Process::current(),
            raw,
            lifetime,
        })
    }

    /// Whether short messages between ranks of this rank's node go through memory that they share.
    pub fn shares_memory(&self) -> bool {
        self.short.borrow().is_some()
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
        let number = c_int::try_from(peer).ok().filter(|_| peer < self.size);
        number.ok_or(Error::NoSuchRank {
            call,
            peer,
            size: self.size,
        })
    }

    fn tag(&self, call: &'static str, tag: Tag) -> Result<u16, Error> {
        let number = u16::try_from(tag.number()).ok();
        number
            .filter(|&number| u32::from(number) < self.tag_limit())
            .ok_or(Error::NoSuchTag {
                call,
                tag: tag.number(),
                limit: self.tag_limit(),
            })
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

    fn silent(&self, awaited: RequestId) -> Error {
        Error::Silent {
            rank: self.rank,
            peer: self.requests.borrow_mut().get_mut(awaited).peer(),
            after: self.silence_limit.get(),
        }
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
        let tag = self.tag("start_send", tag)?;
        Traffic::count(&self.traffic, &message);
        let mut requests = self.requests.borrow_mut();
        if capacity_bytes <= ring::LONGEST_BYTES
            && let Some(short) = &mut *self.short.borrow_mut()
            && let Some(node_rank) = short.node_rank_of(to)
        {
            return Ok(short.start_send(&mut requests, node_rank, tag, message));
        }
        let count = self.count(message.len())?;
        let pending = self
            .raw
            .start_send(message, count, number, c_int::from(tag))
            .map_err(|failure| failure.on(self.rank))?;
        Ok(requests.insert(Message::Long(pending)))
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        let number = self.peer("start_receive", from)?;
        let tag = self.tag("start_receive", tag)?;
        let mut requests = self.requests.borrow_mut();
        if buffer.len() <= ring::LONGEST_BYTES
            && let Some(short) = &mut *self.short.borrow_mut()
            && let Some(node_rank) = short.node_rank_of(from)
        {
            return Ok(short.start_receive(&mut requests, node_rank, tag, buffer));
        }
        let capacity = self.count(buffer.len())?;
        let pending = self
            .raw
            .start_receive(buffer, capacity, number, c_int::from(tag))
            .map_err(|failure| failure.on(self.rank))?;
        Ok(requests.insert(Message::Long(pending)))
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.poll_until(&[request.id()], Duration::ZERO)
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        match self.poll_until(&[request.id()], self.silence_limit.get()) {
            Ok(true) => Ok(self.requests.borrow_mut().remove(request).into_buffer()),
            Ok(false) => {
                let silent = self.silent(request.id());
                self.cancel(request);
                Err(silent)
            }
            Err(error) => {
                self.cancel(request);
                Err(error)
            }
        }
    }

    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        if let Some(timeout) = timeout {
            return self.poll_until(requests, timeout);
        }
        if self.poll_until(requests, self.silence_limit.get())? {
            return Ok(true);
        }
        let first = requests.first().expect("a wait is for something");
        Err(self.silent(*first))
    }

    fn cancel(&self, request: Request) {
        if let Some(short) = &mut *self.short.borrow_mut() {
            short.cancel(request.id());
        }
        let message = self.requests.borrow_mut().remove(request);
        if let Message::Long(mut pending) = message
            && !lifetime::is_finalised()
        {
            // A cancelled receive completes without its sender; where it cannot, it waits with the sends.
            let _ = pending.cancel_receive();
            self.abandoned.borrow_mut().push(pending);
            self.sweep();
        }
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn reserve(&self, messages: usize) {
        let room = self.room.get() + messages;
        self.room.set(room);
        self.requests.borrow_mut().reserve(room);
        if let Some(short) = &mut *self.short.borrow_mut() {
            short.reserve(room);
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

    fn set_silence_limit(&self, limit: Duration) {
        self.silence_limit.set(limit);
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
        // Without a root, what can be wrong with a call is looked at all the same.
        let number = self.peer("reduce_slots", root.unwrap_or(self.rank))?;
        let count = self.count(slot_bytes)?;
        self.operations
            .reduce(&self.raw, root.map(|_| number), slots, count, combine)
            .map_err(|failure| failure.on(self.rank))
    }
}

impl Drop for MpiCommunicator {
    fn drop(&mut self) {
        let pending = self.requests.get_mut().drain();
        let pending = pending.filter_map(|message| match message {
            Message::Long(pending) => Some(pending),
            Message::Short(_) => None,
        });
        self.lifetime
            .keep(pending.chain(self.abandoned.get_mut().drain(..)));
    }
}
