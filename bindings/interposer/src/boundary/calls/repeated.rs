//! A fast path for calls that repeat one of this thread's recent calls.
//!
//! Programs make few kinds of calls, each of them many times. Checking a call's arguments takes as long as a short message. So each thread
//! remembers the kinds of its most recent MPI_Allreduce and MPI_Reduce calls, until a communicator is freed or MPI_Finalize begins.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::slice;

use treefold::mpi::mpi_library::{Comm, Datatype, Op};

use crate::boundary::calls::arguments::{Arguments, Count};
use crate::boundary::calls::device;
use crate::boundary::calls::perform::{code_of, guarded};
use crate::boundary::calls::state::{self, State};
use crate::boundary::library::loaded::{Communicator, Mpi};
use crate::engine::{Buffers, KeptPlan};
use crate::task::{Call, Task};

/// The number of call kinds that a thread remembers.
const KINDS_MAX: usize = 4;

/// The arguments that are equal in calls of the same kind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CallKind {
    comm: Comm,
    count: i64,
    root: c_int,
    call: Call,
    datatype: Datatype,
    op: Op,
}

/// A kind of call, with its communicator's state and its plan.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    kind: CallKind,
    generation: u64,
    state: *const State,
    plan: KeptPlan,
    width_bytes: usize,
    align_bytes: usize,
    /// Whether this rank gets the result.
    has_result: bool,
}

/// The most recent kinds of calls; a new kind replaces the oldest.
#[derive(Debug)]
struct Last {
    known: [Option<Remembered>; KINDS_MAX],
    oldest: usize,
}

thread_local! {
    static LAST: RefCell<Last> = const {
        RefCell::new(Last {
            known: [None; KINDS_MAX],
            oldest: 0,
        })
    };
}

impl CallKind {
    #[inline(always)]
    fn of(arguments: &Arguments) -> Option<Self> {
        let Count::Of(count) = arguments.count else {
            return None;
        };
        Some(Self {
            comm: arguments.comm,
            count,
            root: arguments.root,
            call: arguments.call,
            datatype: arguments.datatype,
            op: arguments.op,
        })
    }
}

impl Last {
    /// Looks up a kind of call.
    #[inline(always)]
    fn find(&self, kind: &CallKind) -> Option<&Remembered> {
        let generation = state::generation();
        let mut known = self.known.iter().flatten();
        known.find(|known| known.kind == *kind && known.generation == generation)
    }
}

/// Runs the reduction if this thread remembers the kind of call and the engine can use the buffers directly. Returns the error code for the
/// program; `None` if nothing was run.
///
/// # Safety
/// The arguments are those of an MPI call: handles are valid, and buffers are as the standard requires for the call.
// Inlined, so that the arguments are compared in registers.
#[inline(always)]
pub(crate) unsafe fn perform(arguments: &Arguments, mpi: &Mpi) -> Option<c_int> {
    if treefold::mpi::is_finalised() {
        return None;
    }
    let kind = CallKind::of(arguments)?;
    let outcome = LAST.with(|last| {
        // MPI calls that the run itself makes are passed on before this point, so they never borrow `LAST` again.
        let last = last.borrow();
        let known = last.find(&kind)?;
        // SAFETY: the caller promises valid buffers, and the call is of the known kind.
        unsafe { reduce(known, mpi, arguments.send, arguments.recv) }
    })?;
    // This comes after the borrow, since the program's error handler may make MPI calls, and may never return.
    Some(code_of(outcome, Communicator(arguments.comm)))
}

/// Runs the remembered plan. Returns `None` if the engine cannot use the buffers directly.
///
/// # Safety
/// The call is of the known kind, and its buffers are as the MPI standard requires.
unsafe fn reduce(
    known: &Remembered,
    mpi: &Mpi,
    send: *const c_void,
    recv: *mut c_void,
) -> Option<Result<(), String>> {
    // SAFETY: the caller promises valid buffers for a call of this kind.
    let buffers = unsafe { buffers(known, mpi, send, recv) }?;
    // SAFETY: `find` has compared the generations, and this is a call on the state's communicator.
    let state = unsafe { State::of_generation(known.state) };
    let (outcome, _) = guarded(state, |inner| {
        let engine = inner.made_engine()?;
        engine.run_again(&known.plan, buffers)
    });
    match outcome {
        Ok(outcome) => outcome,
        Err(panicked) => Some(Err(panicked)),
    }
}

/// The buffers of a call, if the engine can use them directly.
///
/// # Safety
/// `send` and `recv` are as the MPI standard requires for a call of this kind.
#[inline]
unsafe fn buffers<'b>(
    known: &Remembered,
    mpi: &Mpi,
    send: *const c_void,
    recv: *mut c_void,
) -> Option<Buffers<'b>> {
    let is_buffer = |address: *const c_void| {
        let is_aligned = address.addr() & (known.align_bytes - 1) == 0;
        is_aligned && !address.is_null() && !mpi.is_in_place(address)
    };
    if known.has_result && !is_buffer(recv) {
        return None;
    }
    if device::has_driver() && (device::has(send) || device::has(recv)) {
        return None;
    }
    // SAFETY: if `recv` is a buffer's address, the caller promises that the buffer has that many bytes.
    let result = || unsafe { slice::from_raw_parts_mut(recv.cast(), known.width_bytes) };
    if !is_buffer(send) {
        let is_in_place = known.has_result && mpi.is_in_place(send);
        return is_in_place.then(|| Buffers::InPlace(result()));
    }
    // SAFETY: as above.
    let local = unsafe { slice::from_raw_parts(send.cast(), known.width_bytes) };
    if !known.has_result {
        return Some(Buffers::Apart {
            local,
            result: &mut [],
        });
    }
    let is_apart = send.addr().abs_diff(recv.addr()) >= known.width_bytes;
    is_apart.then(|| Buffers::Apart {
        local,
        result: result(),
    })
}

/// Remembers the kind of a successful call, if its arguments alone determine what to do.
#[cold]
pub(crate) fn remember(arguments: &Arguments, mpi: &Mpi, task: &Task, state: &State) {
    let is_of_whole_rows = matches!(task.call, Call::Allreduce | Call::Reduce);
    // Handles of other datatypes may be freed and reused for another type.
    if !is_of_whole_rows || !mpi.has_type(arguments.datatype) {
        return;
    }
    let plan = match state.lock().made_engine() {
        Some(engine) => engine.kept_plan(task),
        None => None,
    };
    let (Some(kind), Some(plan)) = (CallKind::of(arguments), plan) else {
        return;
    };
    let known = Remembered {
        kind,
        generation: state::generation(),
        state,
        plan,
        width_bytes: task.width_bytes(),
        align_bytes: task.element.align_bytes(),
        has_result: task.call != Call::Reduce || state.rank == task.root,
    };
    LAST.with_borrow_mut(|last| {
        // A kind that is already known comes here if the buffers were not aligned or the plan was rebuilt.
        let mut known_kinds = last.known.iter().map(|known| known.map(|known| known.kind));
        let same = known_kinds.position(|known| known == Some(kind));
        let place = same.unwrap_or(last.oldest);
        last.known[place] = Some(known);
        if same.is_none() {
            last.oldest = (place + 1) % KINDS_MAX;
        }
    });
}
