//! What is done with a call: whose reduction it is, and how it is counted.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::slice;
use std::time::Instant;

use mpi::ffi;

use super::control::DefaultEnvironment;
use super::finish;
use super::library::{self, Communicator, Handles, SUCCESS};
use super::state::State;
use crate::engine::Buffers;
use crate::settings::{Mode, Settings};
use crate::statistics::{self, Counts, Kind, size_class};
use crate::task::{Call, Element, Op, Task, is_even};

/// What a program passes, in C's terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments {
    pub(super) call: Call,
    pub(super) send: *const c_void,
    pub(super) recv: *mut c_void,
    pub(super) count: Count,
    pub(super) datatype: ffi::MPI_Datatype,
    pub(super) op: ffi::MPI_Op,
    /// Of a reduce; 0 for other calls.
    pub(super) root: c_int,
    pub(super) comm: ffi::MPI_Comm,
}

/// The elements of a rank, or of each.
#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    Of(i64),
    Each(*const c_int),
    #[cfg(large_counts)]
    EachLarge(*const ffi::MPI_Count),
}

/// Why a call is passed on.
type Reason = &'static str;

const WRONG: Reason = "its arguments are for the library to judge";

/// Where the elements are, as this rank's part in the call makes it.
#[derive(Clone, Copy, Debug)]
enum Places {
    Apart(*const c_void, *mut c_void),
    /// Nothing is left here.
    Read(*const c_void),
    InPlace(*mut c_void),
}

thread_local! {
    /// Whether this thread is in a reduction of treefold's.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

struct Inside;

impl Inside {
    fn enter() -> Self {
        IS_INSIDE.set(true);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        IS_INSIDE.set(false);
    }
}

/// Reduces, or passes the call on to the library: the code that the program gets.
///
/// # Safety
/// The arguments are those of a call of MPI: handles are handles, and buffers are as the standard says for the call. `library` makes the
/// same call of the library.
#[inline]
pub(super) unsafe fn intercept(
    arguments: impl FnOnce() -> Arguments,
    library: impl Fn() -> c_int,
) -> c_int {
    let settings = Settings::get();
    if settings.mode == Mode::Off || IS_INSIDE.get() || !is_callable() {
        return library();
    }
    let arguments = arguments();
    // SAFETY: this function's promise.
    match unsafe { prepare(&arguments, settings) } {
        // SAFETY: this function's promise; `prepare` has made both of the arguments.
        Ok((task, places, state)) => unsafe {
            reduce(&task, places, state, Communicator(arguments.comm), &library)
        },
        Err(reason) => {
            let begin = Instant::now();
            let code = library();
            if settings.stats.is_some() {
                let (name, count) = (arguments.call.name(), arguments.count);
                note_passed(name, reason, count, arguments.datatype, arguments.op, begin);
            }
            code
        }
    }
}

/// Whether MPI is there to be called, and the library is of this family.
#[inline]
pub(super) fn is_callable() -> bool {
    finish::register() && library::is_of_this_family()
}

/// Counts a call that was passed on, which began then.
pub(super) fn note_passed(
    name: &str,
    reason: Reason,
    count: Count,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    begin: Instant,
) {
    let handles = Handles::get();
    let element = handles.element(datatype);
    let count = match count {
        Count::Of(count) => u64::try_from(count).unwrap_or(0),
        // Their sum is not looked at.
        _ => 0,
    };
    let bytes = count * element.map_or(0, Element::bytes) as u64;
    let kind = Kind {
        passed: reason.to_owned(),
        call: name.to_owned(),
        element: element.map_or("", Element::name).to_owned(),
        op: handles.op(op).map_or("", Op::name).to_owned(),
        size_class: size_class(bytes),
    };
    let counts = Counts {
        calls: 1,
        bytes,
        library_ns: elapsed_ns(begin),
        ..Counts::default()
    };
    statistics::own().count(kind, counts);
}

fn elapsed_ns(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What there is to do, unless it is the library's.
///
/// # Safety
/// As [`intercept`].
#[inline]
unsafe fn prepare(
    arguments: &Arguments,
    settings: &Settings,
) -> Result<(Task, Places, &'static State), Reason> {
    let handles = Handles::get();
    let Arguments { call, comm, .. } = *arguments;
    let element = handles
        .element(arguments.datatype)
        .ok_or("another datatype")?;
    let op = handles.op(arguments.op).ok_or("another operator")?;
    let is_real = matches!(element, Element::F32 | Element::F64);
    match op {
        Op::Sum | Op::Prod => {}
        _ if !is_real => return Err(WRONG),
        _ if call == Call::Exscan => return Err("it has no value for rank 0"),
        _ => {}
    }
    if !settings.takes(op) {
        return Err("TREEFOLD_PMPI_OPS does not name the operator");
    }
    if handles.is_null(comm) {
        return Err(WRONG);
    }
    if finish::is_over() || treefold::mpi::is_finalised() {
        return Err("MPI_Finalize has begun");
    }
    let state = State::of(Communicator(comm)).ok_or(WRONG)?;
    if state.is_inter {
        return Err("intercommunicator");
    }
    if state.size == 1 {
        return Err("one rank");
    }
    // SAFETY: the caller's promise.
    let (width, first, length, is_even) = unsafe { columns(arguments, state) }?;
    let root = usize::try_from(arguments.root).map_err(|_| WRONG)?;
    let bytes = width.checked_mul(element.bytes()).ok_or(WRONG)?;
    if root >= state.size || isize::try_from(bytes).is_err() {
        return Err(WRONG);
    }
    let task = Task {
        call,
        element,
        op,
        root,
        width,
        first,
        length,
        is_even,
    };
    let places = places(arguments, &task, state.rank, handles)?;
    Ok((task, places, state))
}

/// The elements of a contribution, which of them this rank gets, and whether ranks get as many as from a plan.
///
/// # Safety
/// As [`intercept`].
#[inline]
unsafe fn columns(
    arguments: &Arguments,
    state: &State,
) -> Result<(usize, usize, usize, bool), Reason> {
    let count = match arguments.count {
        Count::Of(count) => usize::try_from(count).map_err(|_| WRONG)?,
        Count::Each(counts) if counts.is_null() => return Err(WRONG),
        Count::Each(counts) => {
            // SAFETY: the program promises a count for each rank.
            let counts = unsafe { slice::from_raw_parts(counts, state.size) };
            let counts = counts.iter().map(|count| usize::try_from(*count));
            return scattered(&counts.flatten().collect::<Vec<_>>(), state);
        }
        #[cfg(large_counts)]
        Count::EachLarge(counts) if counts.is_null() => return Err(WRONG),
        #[cfg(large_counts)]
        Count::EachLarge(counts) => {
            // SAFETY: the program promises a count for each rank.
            let counts = unsafe { slice::from_raw_parts(counts, state.size) };
            let counts = counts.iter().map(|count| usize::try_from(*count));
            return scattered(&counts.flatten().collect::<Vec<_>>(), state);
        }
    };
    if count == 0 {
        return Err("no elements");
    }
    match arguments.call {
        Call::ReduceScatterBlock => {
            let width = count.checked_mul(state.size).ok_or(WRONG)?;
            Ok((width, count * state.rank, count, true))
        }
        _ => Ok((count, 0, count, false)),
    }
}

/// The same for the counts of all ranks, of which negative ones are left out.
fn scattered(counts: &[usize], state: &State) -> Result<(usize, usize, usize, bool), Reason> {
    if counts.len() != state.size {
        return Err(WRONG);
    }
    let total = |counts: &[usize]| {
        let mut counts = counts.iter();
        counts.try_fold(0_usize, |total, count| total.checked_add(*count))
    };
    let width = total(counts).ok_or(WRONG)?;
    let first = total(&counts[..state.rank]).ok_or(WRONG)?;
    match width {
        0 => Err("no elements"),
        _ => Ok((
            width,
            first,
            counts[state.rank],
            is_even(width, counts.iter().copied()),
        )),
    }
}

/// Where the elements are, if that is right.
#[inline]
fn places(
    arguments: &Arguments,
    task: &Task,
    rank: usize,
    handles: &Handles,
) -> Result<Places, Reason> {
    let Arguments { send, recv, .. } = *arguments;
    let is_root = task.call != Call::Reduce || rank == task.root;
    let is_first_of_exscan = task.call == Call::Exscan && rank == 0;
    let is_buffer = |address: *const c_void| !address.is_null() && !handles.is_in_place(address);
    if handles.is_in_place(send) {
        return match is_root && is_buffer(recv) {
            true if is_first_of_exscan => Ok(Places::Read(recv)),
            true => Ok(Places::InPlace(recv)),
            false => Err(WRONG),
        };
    }
    if !is_buffer(send) {
        return Err(WRONG);
    }
    if !is_root || is_first_of_exscan || task.length == 0 {
        return Ok(Places::Read(send));
    }
    let (begin, result_begin) = (send.addr(), recv.addr());
    let is_apart =
        begin + task.width_bytes() <= result_begin || result_begin + task.length_bytes() <= begin;
    match is_buffer(recv) && is_apart {
        true => Ok(Places::Apart(send, recv)),
        false => Err(WRONG),
    }
}

/// # Safety
/// The places are buffers of the task's width and length, or in place of the longer of both, which do not overlap.
unsafe fn reduce(
    task: &Task,
    places: Places,
    state: &State,
    comm: Communicator,
    library: &impl Fn() -> c_int,
) -> c_int {
    let settings = Settings::get();
    if settings.mode == Mode::Check {
        // SAFETY: this function's promise.
        return unsafe { check(task, places, state, comm, library) };
    }
    let begin = settings.stats.as_ref().map(|_| Instant::now());
    let (width, length) = (task.width_bytes(), task.length_bytes());
    let buffers = match places {
        Places::Apart(send, recv) => Buffers::Apart {
            // SAFETY: this function's promise.
            local: unsafe { slice::from_raw_parts(send.cast(), width) },
            // SAFETY: this function's promise.
            result: unsafe { slice::from_raw_parts_mut(recv.cast(), length) },
        },
        Places::Read(send) => Buffers::Apart {
            // SAFETY: this function's promise.
            local: unsafe { slice::from_raw_parts(send.cast(), width) },
            result: &mut [],
        },
        Places::InPlace(buffer) => {
            // SAFETY: this function's promise; the result is no longer than the contribution.
            let buffer = unsafe { slice::from_raw_parts_mut(buffer.cast(), width) };
            Buffers::InPlace(buffer)
        }
    };
    let (outcome, differs) = compute(task, buffers, state, comm);
    if let Some(begin) = begin {
        let counts = Counts {
            treefold_ns: elapsed_ns(begin),
            environments: differs.into(),
            ..Counts::default()
        };
        note(task, counts);
    }
    match outcome {
        Ok(()) => SUCCESS,
        Err(message) => comm.raise(&message),
    }
}

/// Reduces by both, and gives the program the library's result.
///
/// # Safety
/// As [`reduce`].
unsafe fn check(
    task: &Task,
    places: Places,
    state: &State,
    comm: Communicator,
    library: &impl Fn() -> c_int,
) -> c_int {
    let (input, output) = match places {
        Places::Apart(send, recv) => (send, Some(recv)),
        Places::Read(send) => (send, None),
        Places::InPlace(buffer) => (buffer.cast_const(), Some(buffer)),
    };
    let mut own = vec![0_u8; output.map_or(0, |_| task.length_bytes())];
    // SAFETY: the caller's promise.
    let local = unsafe { slice::from_raw_parts(input.cast::<u8>(), task.width_bytes()) };
    let begin = Instant::now();
    let result = &mut own[..];
    let (outcome, differs) = compute(task, Buffers::Apart { local, result }, state, comm);
    let mut counts = Counts {
        treefold_ns: elapsed_ns(begin),
        environments: differs.into(),
        failed: outcome.is_err().into(),
        ..Counts::default()
    };
    let begin = Instant::now();
    let code = library();
    counts.library_ns = elapsed_ns(begin);
    if let Some(output) = output.filter(|_| code == SUCCESS && outcome.is_ok()) {
        // SAFETY: the caller's promise. The library has written it, and nothing else refers to it.
        let output = unsafe { slice::from_raw_parts(output.cast::<u8>(), task.length_bytes()) };
        counts.differing_elements = task.element.differing(output, &own);
        counts.differing = (counts.differing_elements > 0).into();
        counts.elements = task.length as u64;
        counts.compared = 1;
    }
    note(task, counts);
    code
}

/// Lets the engine reduce; also says whether the thread's floating-point environment was another one than the default.
fn compute(
    task: &Task,
    buffers: Buffers<'_>,
    state: &State,
    comm: Communicator,
) -> (Result<(), String>, bool) {
    let _inside = Inside::enter();
    let environment = DefaultEnvironment::enter();
    let mut inner = state.lock();
    let run = AssertUnwindSafe(|| state.engine(&mut inner, comm)?.run(task, buffers));
    let outcome = panic::catch_unwind(run).unwrap_or_else(|payload| {
        let message = format!("it panicked: {}", text_of(&*payload));
        inner.fail(&message);
        Err(message)
    });
    (outcome, environment.differs())
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    let text = || payload.downcast_ref::<String>().map(String::as_str);
    literal.or_else(text).unwrap_or("no message")
}

fn note(task: &Task, counts: Counts) {
    let bytes = task.width_bytes() as u64;
    let kind = Kind {
        passed: String::new(),
        call: task.call.name().to_owned(),
        element: task.element.name().to_owned(),
        op: task.op.name().to_owned(),
        size_class: size_class(bytes),
    };
    let counts = Counts {
        calls: 1,
        bytes,
        ..counts
    };
    statistics::own().count(kind, counts);
}
