//! The MPI backend: a rank is an MPI process.
//!
//! [`init`] is for programs that leave MPI to treefold; [`MpiCommunicator::duplicate`] takes any
//! communicator of a program that has its own. Both work on a duplicate, so that their messages never meet the
//! program's, and return errors instead of aborting.
//!
//! What MPI cannot tell, a rank that is gone without a word, ends by a time-out: a wait during which its peer
//! stays silent for longer than [`MpiCommunicator::silence_limit`] is an [`Error::Silent`].

mod raw;
mod user_operation;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, PanicHookInfo};
use std::thread;
use std::time::{Duration, Instant};

use mpi::Threading;
use mpi::environment::Universe;
use mpi::ffi::MPI_Comm;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;

use crate::communicator::{
    CombineSlots, Communicator, NativeOperation, Reduction, Request, RequestId, Tag, Traffic,
};
use crate::error::Error;
use crate::in_flight::InFlight;
use crate::requests::Requests;
use crate::threads::panic_message;
use raw::{Failure, Operation, RawCommunicator};
use user_operation::UserOperation;

/// How long a peer may be silent unless [`MpiCommunicator::set_silence_limit`] says otherwise.
/// Long, because a rank may compute for long before it joins a reduction.
pub const DEFAULT_SILENCE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// How often a wait looks before it lets other processes run on this core.
const LOOKS_BEFORE_YIELD: u32 = 1000;

/// Open MPI sends up to 4096 bytes, its own header included, at once through shared memory; other libraries and networks more.
const EAGER_BYTES: usize = 4000;

/// How often a rank that leaves looks whether the others have come.
const LEAVING_PAUSE: Duration = Duration::from_millis(1);

/// What a process that panicked leaves with; Rust's own exit code for a panic.
const PANIC_EXIT_CODE: c_int = 101;

/// Why [`init`] failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// MPI can be initialised once in a process.
    #[error("MPI is initialised already: hand its communicator to MpiCommunicator::duplicate")]
    AlreadyInitialised,
    /// The library is built without thread support.
    #[error("this MPI library does not support MPI_THREAD_FUNNELED")]
    NoThreadSupport,
    /// A call failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Initialises MPI and returns a duplicate of its world communicator; MPI is finalised with it.
///
/// It also installs a panic hook that prints one line naming the rank. A panic that unwinds past the
/// communicator then ends all processes by `MPI_Abort`, instead of leaving them in `MPI_Finalize`.
///
/// # Errors
/// MPI is initialised already, does not support `MPI_THREAD_FUNNELED`, or fails.
pub fn init() -> Result<MpiCommunicator, InitError> {
    let (universe, threading) =
        mpi::initialize_with_threading(Threading::Funneled).ok_or(InitError::AlreadyInitialised)?;
    if threading < Threading::Funneled {
        return Err(InitError::NoThreadSupport);
    }
    let mut world = MpiCommunicator::duplicate(&SimpleCommunicator::world())?;
    world.universe = Some(universe);
    let rank = world.rank;
    panic::set_hook(Box::new(move |panic| print_panic(rank, panic)));
    Ok(world)
}

fn print_panic(rank: usize, panic: &PanicHookInfo<'_>) {
    let message = panic_message(panic.payload());
    match panic.location() {
        Some(location) => eprintln!("rank {rank} panicked at {location}: {message}"),
        None => eprintln!("rank {rank} panicked: {message}"),
    }
}

/// A rank's end of the MPI backend.
///
/// It stays on the thread that made it, as `MPI_THREAD_FUNNELED` demands of the main thread.
pub struct MpiCommunicator {
    rank: usize,
    size: usize,
    requests: RefCell<Requests<Operation>>,
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
        let place = raw.place_on_node().map_err(failed)?;
        let mut this = Self {
            rank,
            size: index(raw.size().map_err(failed)?),
            requests: RefCell::default(),
            abandoned: RefCell::default(),
            traffic: Cell::default(),
            last_tag: Cell::new(Tag::CONTROL),
            room: Cell::new(0),
            in_flight: InFlight::default(),
            silence_limit: Cell::new(DEFAULT_SILENCE_LIMIT),
            reduced: RefCell::default(),
            operations: RefCell::default(),
            node_ranks: None,
            concurrency: 1,
            raw,
            universe: None,
            not_send: PhantomData,
        };
        this.agree_on_nodes(index(place.0), index(place.1))?;
        Ok(this)
    }

    /// Finds out whether all nodes are stretches of as many ranks, of which the last may be shorter. Collective.
    fn agree_on_nodes(&mut self, node_size: usize, rank_on_node: usize) -> Result<(), Error> {
        let agreed = |value: usize, operation| -> Result<usize, Error> {
            let number = self
                .raw
                .reduce_number(value as u64, operation)
                .map_err(|failure| self.describe(failure))?;
            Ok(usize::try_from(number).unwrap_or(usize::MAX))
        };
        let node_ranks = agreed(node_size, NativeOperation::Max)?;
        let first = self.rank - self.rank % node_ranks;
        let is_regular = node_size == node_ranks.min(self.size - first)
            && rank_on_node == self.rank % node_ranks;
        let are_regular = agreed(is_regular.into(), NativeOperation::Min)? == 1;
        // A process that is bound to one core says nothing about the others.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let at_once = if cores > 1 {
            cores.min(node_size)
        } else {
            node_size
        };
        let at_once = agreed(at_once, NativeOperation::Min)?;
        self.node_ranks = are_regular.then_some(node_ranks);
        self.concurrency = if are_regular {
            at_once * self.size.div_ceil(node_ranks)
        } else {
            self.size
        };
        Ok(())
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

    fn count(&self, length_bytes: usize) -> Result<c_int, Error> {
        c_int::try_from(length_bytes).map_err(|_| Error::TooLong {
            rank: self.rank,
            length_bytes,
            limit_bytes: c_int::MAX.unsigned_abs() as usize,
        })
    }

    fn describe(&self, failure: Failure) -> Error {
        describe(self.rank, failure)
    }

    /// Whether MPI is done with an operation.
    fn is_complete(&self, operation: &mut Operation) -> Result<bool, Error> {
        operation.test().map_err(|failure| {
            if failure.truncated {
                Error::Truncated {
                    rank: self.rank,
                    from: operation.peer(),
                    capacity_bytes: operation.capacity_bytes(),
                }
            } else {
                self.describe(failure)
            }
        })
    }

    /// Looks until one of the requests is complete or `timeout` is over.
    fn look(&self, awaited: &[RequestId], timeout: Duration) -> Result<bool, Error> {
        let mut requests = self.requests.borrow_mut();
        let mut deadline = None;
        loop {
            for _ in 0..LOOKS_BEFORE_YIELD {
                for request in awaited {
                    if self.is_complete(requests.get_mut(&request.request()))? {
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
            if looks < LOOKS_BEFORE_YIELD {
                thread::yield_now();
            } else {
                thread::sleep(LEAVING_PAUSE);
            }
        }
    }

    fn abandon(&self, mut operation: Operation) {
        // A cancelled receive completes without its sender; where it cannot, it waits with the sends.
        let _ = operation.cancel_receive();
        self.abandoned.borrow_mut().push(operation);
        self.sweep();
    }
}

fn describe(rank: usize, failure: Failure) -> Error {
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
        let to = self.peer("start_send", to)?;
        let count = self.count(message.len())?;
        let mut traffic = self.traffic.get();
        traffic.count(&message);
        self.traffic.set(traffic);
        let operation = self
            .raw
            .start_send(message, count, to, c_int::from(tag.value()))
            .map_err(|failure| self.describe(failure))?;
        Ok(self.requests.borrow_mut().insert(operation))
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        let from = self.peer("start_receive", from)?;
        let capacity = self.count(buffer.len())?;
        let operation = self
            .raw
            .start_receive(buffer, capacity, from, c_int::from(tag.value()))
            .map_err(|failure| self.describe(failure))?;
        Ok(self.requests.borrow_mut().insert(operation))
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
        let operation = self.requests.borrow_mut().remove(request);
        match looked {
            Ok(true) => Ok(operation.into_buffer()),
            Ok(false) => {
                let peer = operation.peer();
                self.abandon(operation);
                Err(Error::Silent {
                    rank: self.rank,
                    peer,
                    after,
                })
            }
            Err(error) => Err(error),
        }
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
        let operation = self.requests.borrow_mut().remove(request);
        self.abandon(operation);
    }

    fn reserve(&self, messages: usize) {
        let room = self.room.get() + messages;
        self.room.set(room);
        self.requests.borrow_mut().reserve(room);
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

    fn concurrency(&self) -> usize {
        self.concurrency
    }

    fn node_ranks(&self) -> Option<usize> {
        self.node_ranks
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn allreduce_unordered(
        &self,
        value: &[u8],
        result: &mut [u8],
        reduction: &Reduction<'_>,
    ) -> Result<bool, Error> {
        if let Some((element, operation)) = reduction.native {
            let reduced = self.raw.reduce(None, value, result, element, operation);
            reduced.map_err(|failure| self.describe(failure))?;
            return Ok(false);
        }
        result.copy_from_slice(value);
        crate::collective::allreduce_binomial(self, result, reduction.combine)?;
        Ok(true)
    }

    fn reduce_unordered(
        &self,
        root: usize,
        value: &[u8],
        result: &mut [u8],
        reduction: &Reduction<'_>,
    ) -> Result<bool, Error> {
        let number = Some(self.peer("reduce_unordered", root)?);
        if let Some((element, operation)) = reduction.native {
            let reduced = self.raw.reduce(number, value, result, element, operation);
            reduced.map_err(|failure| self.describe(failure))?;
            return Ok(false);
        }
        result.copy_from_slice(value);
        crate::collective::reduce_binomial(self, root, result, reduction.combine)?;
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
                let count = self.count(slot_bytes)?;
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
        let pending: Vec<Operation> = self.requests.borrow_mut().drain().collect();
        for operation in pending {
            self.abandon(operation);
        }
        // Whatever is still under way after this keeps its buffer (`Operation::drop`).
        self.sweep();
        if self.universe.is_some() {
            self.await_the_others();
        }
    }
}
