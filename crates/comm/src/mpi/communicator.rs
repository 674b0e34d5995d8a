//! The communicator itself.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;
use std::thread;
use std::time::{Duration, Instant};

use mpi::environment::Universe;
use mpi::ffi::MPI_Comm;
use mpi::raw::AsRaw;

use super::message::Message;
use super::node::Node;
use super::raw::{Failure, Operation, RawCommunicator};
use super::short::ShortMessages;
use super::user_operation::UserOperation;
use crate::communicator::{
    CombineSlots, Communicator, Reduction, Request, RequestId, Tag, Traffic,
};
use crate::error::Error;
use crate::in_flight::InFlight;
use crate::requests::Requests;
use crate::ring;

/// How long a peer may be silent unless [`MpiCommunicator::set_silence_limit`] says otherwise.
/// Long, because a rank may compute for long before it joins a reduction.
pub const DEFAULT_SILENCE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// How often a wait looks before it turns to something else.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// At MPI's messages, before other processes may run on this core.
    before_yield: u32,
    /// The same at shared memory, where a look takes less time.
    short_before_yield: u32,
    /// At shared memory, before MPI goes on with whatever else is under way.
    before_progress: u32,
}

impl Pace {
    /// Each rank has a core for itself.
    const ALONE: Self = Self {
        before_yield: 1000,
        short_before_yield: 16_000,
        before_progress: 64,
    };
    /// Who is waited for may wait for this very core.
    const IN_TURNS: Self = Self {
        before_yield: 1,
        short_before_yield: 1,
        before_progress: 1,
    };
}

/// Open MPI sends up to 4096 bytes, its own header included, at once through shared memory; other libraries and networks more.
const EAGER_BYTES: usize = 4000;

/// A rank that leaves looks so often whether the others have come before it pauses between looks.
const LOOKS_BEFORE_PAUSE: u32 = 1000;

/// How long it pauses.
const LEAVING_PAUSE: Duration = Duration::from_millis(1);

/// What a process that panicked leaves with; Rust's own exit code for a panic.
const PANIC_EXIT_CODE: c_int = 101;

/// A rank's end of the MPI backend.
///
/// It stays on the thread that made it, as `MPI_THREAD_FUNNELED` demands of the main thread.
pub struct MpiCommunicator {
    rank: usize,
    size: usize,
    requests: RefCell<Requests<Message>>,
    /// The way of short messages between ranks of this node.
    short: RefCell<Option<ShortMessages>>,
    /// Looks for short messages; every so often one is MPI's.
    looks: Cell<u32>,
    pace: Pace,
    /// Sends whose requests were given up: their buffers wait here until MPI is done with them.
    abandoned: RefCell<Vec<Operation>>,
    traffic: Cell<Traffic>,
    last_tag: Cell<Tag>,
    /// How many messages there is room for in `requests`.
    room: Cell<usize>,
    in_flight: InFlight,
    silence_limit: Cell<Duration>,
    /// Where reductions by an operation of ours leave their results; kept for its memory.
    reduced: RefCell<Vec<u8>>,
    /// One for each slot length that was used.
    operations: RefCell<Vec<UserOperation>>,
    node_ranks: Option<usize>,
    /// The ranks that can run at once.
    concurrency: usize,
    raw: RawCommunicator,
    /// Finalises MPI; the last field, so that it is dropped last.
    universe: Option<Universe>,
    /// MPI handles are plain integers in some libraries, but never may they change threads.
    not_send: PhantomData<*const ()>,
}

impl fmt::Debug for MpiCommunicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MpiCommunicator(rank {} of {})", self.rank, self.size)
    }
}

impl MpiCommunicator {
    /// Duplicates a communicator of the caller's. Collective.
    ///
    /// # Errors
    /// An MPI call failed.
    pub fn duplicate(comm: &impl AsRaw<Raw = MPI_Comm>) -> Result<Self, Error> {
        let failed = |failure| describe(0, failure);
        let raw = RawCommunicator::duplicate(comm).map_err(failed)?;
        let index = |number: c_int| usize::try_from(number).expect("MPI counts ranks from 0");
        let rank = index(raw.rank().map_err(failed)?);
        let size = index(raw.size().map_err(failed)?);
        let node = Node::find(&raw, rank, size)?;
        Ok(Self {
            rank,
            size,
            requests: RefCell::default(),
            short: RefCell::new(node.short),
            looks: Cell::default(),
            pace: match node.concurrency < size {
                true => Pace::IN_TURNS,
                false => Pace::ALONE,
            },
            abandoned: RefCell::default(),
            traffic: Cell::default(),
            last_tag: Cell::new(Tag::CONTROL),
            room: Cell::new(0),
            in_flight: InFlight::default(),
            silence_limit: Cell::new(DEFAULT_SILENCE_LIMIT),
            reduced: RefCell::default(),
            operations: RefCell::default(),
            node_ranks: node.regular_ranks,
            concurrency: node.concurrency,
            raw,
            universe: None,
            not_send: PhantomData,
        })
    }

    /// MPI is finalised when this communicator is dropped.
    pub(super) fn finalise_with(&mut self, universe: Universe) {
        self.universe = Some(universe);
    }

    /// Whether short messages between ranks of this rank's node go through memory that they share.
    pub fn shares_memory(&self) -> bool {
        self.short.borrow().is_some()
    }

    /// How long a wait bears a silent peer before it fails.
    pub fn silence_limit(&self) -> Duration {
        self.silence_limit.get()
    }

    /// Sets how long a wait bears a silent peer before it fails with [`Error::Silent`].
    pub fn set_silence_limit(&self, limit: Duration) {
        self.silence_limit.set(limit);
    }

    /// Ends the processes of all ranks by `MPI_Abort`.
    pub fn abort(&self, exit_code: i32) {
        self.raw.abort(exit_code);
    }

    fn peer(&self, call: &'static str, peer: usize) -> Result<c_int, Error> {
        let number = c_int::try_from(peer).ok().filter(|_| peer < self.size);
        number.ok_or(Error::NoSuchRank {
            call,
            peer,
            size: self.size,
        })
    }

    fn count(&self, tag: Tag, length_bytes: usize) -> Result<c_int, Error> {
        let limit_bytes = match tag.is_short() {
            true => ring::LONGEST_BYTES,
            false => c_int::MAX.unsigned_abs() as usize,
        };
        let count = c_int::try_from(length_bytes).ok();
        count
            .filter(|_| length_bytes <= limit_bytes)
            .ok_or(Error::TooLong {
                rank: self.rank,
                length_bytes,
                limit_bytes,
            })
    }

    fn describe(&self, failure: Failure) -> Error {
        describe(self.rank, failure)
    }

    /// Whether a message is there, or sent.
    #[inline]
    fn is_complete(
        &self,
        requests: &mut Requests<Message>,
        request: RequestId,
    ) -> Result<bool, Error> {
        let truncated = |from, capacity_bytes| Error::Truncated {
            rank: self.rank,
            from,
            capacity_bytes,
        };
        let mut short = self.short.borrow_mut();
        if let Some(short) = &mut *short {
            short.go_on_sending(requests);
        }
        if let Message::Long(operation) = requests.get_mut(&request.request()) {
            return operation.test().map_err(|failure| match failure.truncated {
                true => truncated(operation.peer(), operation.capacity_bytes()),
                false => self.describe(failure),
            });
        }
        let looks = self.looks.get().wrapping_add(1);
        self.looks.set(looks);
        if looks.is_multiple_of(self.pace.before_progress) {
            let progress = self.raw.progress();
            progress.map_err(|failure| self.describe(failure))?;
        }
        let short = short.as_mut().expect("a short message has its way");
        let message = short.progress(requests, request);
        let is_complete = message.is_complete();
        is_complete.ok_or_else(|| truncated(message.peer, message.buffer.len()))
    }

    /// Looks until one of the requests is complete or `timeout` is over.
    fn look(&self, awaited: &[RequestId], timeout: Duration) -> Result<bool, Error> {
        let mut requests = self.requests.borrow_mut();
        let mut is_short = |request: &RequestId| {
            let message = requests.get_mut(&request.request());
            matches!(message, Message::Short(_))
        };
        let looks = match awaited.iter().all(&mut is_short) {
            true => self.pace.short_before_yield,
            false => self.pace.before_yield,
        };
        let mut deadline = None;
        loop {
            for _ in 0..looks {
                for &request in awaited {
                    if self.is_complete(&mut requests, request)? {
                        return Ok(true);
                    }
                }
                if timeout.is_zero() {
                    return Ok(false);
                }
            }
            let now = Instant::now();
            let deadline = *deadline.get_or_insert_with(|| now.checked_add(timeout));
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(false);
            }
            thread::yield_now();
        }
    }

    /// Frees what MPI is done with.
    fn sweep(&self) {
        // An operation that fails is over as well.
        self.abandoned
            .borrow_mut()
            .retain_mut(|operation| matches!(operation.test(), Ok(false)));
    }

    /// Waits for every rank to come here before MPI is finalised.
    ///
    /// A rank that is in `MPI_Finalize` while another one aborts can leave Open MPI's `mpirun` hanging for ever
    /// (4.1.4 with PMIx 4.2.2: its server waits for a lock of the half-done fence). In a barrier it does not.
    fn await_the_others(&self) {
        // Where the barrier fails, MPI_Finalize is all that is left to do.
        let Ok(mut barrier) = self.raw.start_barrier() else {
            return;
        };
        let mut looks = 0_u32;
        while matches!(barrier.test(), Ok(false)) {
            looks = looks.saturating_add(1);
            if looks < LOOKS_BEFORE_PAUSE {
                thread::yield_now();
            } else {
                thread::sleep(LEAVING_PAUSE);
            }
        }
    }

    /// Gives up a message that is no longer in the table.
    fn abandon(&self, message: Message) {
        if let Message::Long(mut operation) = message {
            // A cancelled receive completes without its sender; where it cannot, it waits with the sends.
            let _ = operation.cancel_receive();
            self.abandoned.borrow_mut().push(operation);
            self.sweep();
        }
    }
}

pub(super) fn describe(rank: usize, failure: Failure) -> Error {
    Error::Mpi {
        rank,
        call: failure.call,
        code: failure.code,
        text: failure.text,
    }
}

impl Communicator for MpiCommunicator {
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
        let number = self.peer("start_send", to)?;
        let count = self.count(tag, message.len())?;
        Traffic::count(&self.traffic, &message);
        let mut requests = self.requests.borrow_mut();
        if tag.is_short()
            && let Some(short) = &mut *self.short.borrow_mut()
            && let Some(place) = short.place_of(to)
        {
            return Ok(short.start_send(&mut requests, place, tag.value(), message));
        }
        let operation = self
            .raw
            .start_send(message, count, number, c_int::from(tag.value()))
            .map_err(|failure| self.describe(failure))?;
        Ok(requests.insert(Message::Long(operation)))
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        let number = self.peer("start_receive", from)?;
        let mut requests = self.requests.borrow_mut();
        if tag.is_short()
            && let Some(short) = &mut *self.short.borrow_mut()
            && let Some(place) = short.place_of(from)
        {
            return Ok(short.start_receive(&mut requests, place, tag.value(), buffer));
        }
        let capacity = self.count(Tag::CONTROL, buffer.len())?;
        let operation = self
            .raw
            .start_receive(buffer, capacity, number, c_int::from(tag.value()))
            .map_err(|failure| self.describe(failure))?;
        Ok(requests.insert(Message::Long(operation)))
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.look(&[request.id()], Duration::ZERO)
    }

    fn wait_timeout(&self, request: &Request, timeout: Duration) -> Result<bool, Error> {
        self.look(&[request.id()], timeout)
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        let after = self.silence_limit.get();
        let looked = self.look(&[request.id()], after);
        if looked == Ok(true) {
            return Ok(self.requests.borrow_mut().remove(request).into_buffer());
        }
        let peer = self.requests.borrow_mut().get_mut(&request).peer();
        self.cancel(request);
        looked?;
        Err(Error::Silent {
            rank: self.rank,
            peer,
            after,
        })
    }

    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        if let Some(timeout) = timeout {
            return self.look(requests, timeout);
        }
        let after = self.silence_limit.get();
        if self.look(requests, after)? {
            return Ok(true);
        }
        let first = requests.first().expect("one waits for something");
        let peer = self.requests.borrow_mut().get_mut(&first.request()).peer();
        Err(Error::Silent {
            rank: self.rank,
            peer,
            after,
        })
    }

    fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    fn cancel(&self, request: Request) {
        if let Some(short) = &mut *self.short.borrow_mut() {
            short.cancel(request.id());
        }
        let message = self.requests.borrow_mut().remove(request);
        self.abandon(message);
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

    fn delivers_alone(&self) -> bool {
        // A long message moves only while both ends call MPI.
        false
    }

    fn eager_bytes(&self) -> usize {
        EAGER_BYTES
    }

    fn short_bytes(&self) -> usize {
        ring::LONGEST_BYTES
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }

    fn node_ranks(&self) -> Option<usize> {
        self.node_ranks
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn reduce_natively(
        &self,
        root: Option<usize>,
        value: &[u8],
        result: &mut [u8],
        reduction: &Reduction<'_>,
    ) -> Result<bool, Error> {
        let root = root
            .map(|root| self.peer("reduce_unordered", root))
            .transpose()?;
        let Some((element, operation)) = reduction.native else {
            return Ok(false);
        };
        let reduced = self.raw.reduce(root, value, result, element, operation);
        reduced.map_err(|failure| self.describe(failure))?;
        Ok(true)
    }

    fn has_own_reductions(&self) -> bool {
        true
    }

    fn reduce_slots(
        &self,
        root: Option<usize>,
        slots: &mut [u8],
        slot_bytes: usize,
        combine: &CombineSlots<'_>,
    ) -> Result<(), Error> {
        let root = root
            .map(|root| self.peer("reduce_slots", root))
            .transpose()?;
        let mut operations = self.operations.borrow_mut();
        let known = operations
            .iter()
            .position(|operation| operation.slot_bytes() == slot_bytes);
        let index = match known {
            Some(index) => index,
            None => {
                let count = self.count(Tag::CONTROL, slot_bytes)?;
                let made = UserOperation::new(count);
                operations.push(made.map_err(|failure| self.describe(failure))?);
                operations.len() - 1
            }
        };
        let mut reduced = self.reduced.borrow_mut();
        reduced.resize(slots.len(), 0);
        operations[index]
            .reduce(&self.raw, root, slots, &mut reduced, combine)
            .map_err(|failure| self.describe(failure))?;
        slots.copy_from_slice(&reduced);
        Ok(())
    }
}

impl Drop for MpiCommunicator {
    fn drop(&mut self) {
        if thread::panicking() {
            // The others would wait for this rank for ever.
            self.abort(PANIC_EXIT_CODE);
        }
        let pending: Vec<Message> = self.requests.borrow_mut().drain().collect();
        for message in pending {
            self.abandon(message);
        }
        // Whatever is still under way after this keeps its buffer (`Operation::drop`).
        self.sweep();
        if self.universe.is_some() {
            self.await_the_others();
        }
    }
}
