//! Non-blocking and persistent reductions: the library gathers what ranks contribute, by a call of the same form on the same communicator, so
//! that its order among the communicator's other calls is the program's. What was gathered is combined where the request is completed.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::time::Instant;

use treefold::mpi::mpi_library::{Comm, Request};

use super::arguments::{Arguments, Count, Places, Reason};
use super::count::{count_passed, count_taken, elapsed_ns};
use super::deferred;
use super::flight::{Check, Flight};
use super::intercept::looked_at;
use super::library::{Mpi, SUCCESS};
use super::prepare::prepare;
use super::state::State;
use super::taken::fortran;
use crate::settings::{Mode, Settings};
use crate::statistics::Counts;
use crate::task::{Call, Form, Task};

/// What is gathered on a rank has no more bytes: memory that a program does not know of.
const GATHERED_MAX_BYTES: usize = 64 << 20;

const NOT_COMPARED: Reason = "its order is not compared";

const TOO_LONG: Reason = "all ranks' contributions have more than 64 MiB";

/// Where the program wants its request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    C(*mut c_void),
    Fortran(*mut c_int),
}

impl Place {
    /// # Safety
    /// There is room for a request, and MPI is initialised.
    unsafe fn write(self, mpi: &Mpi, request: Request) {
        match self {
            // SAFETY: this function's promise.
            Self::C(place) => unsafe { mpi.library.family().write(place, 0, request) },
            Self::Fortran(place) => {
                // SAFETY: the library has just made it.
                let number = unsafe { mpi.library.request_to_fortran(request) };
                let number = number.expect("a library that hides its Fortran converts handles");
                // SAFETY: this function's promise.
                unsafe { *place = number };
            }
        }
    }

    /// # Safety
    /// There is a request, and MPI is initialised.
    unsafe fn read(self, mpi: &Mpi) -> Request {
        match self {
            // SAFETY: this function's promise.
            Self::C(place) => unsafe { mpi.library.family().read(place, 0) },
            // SAFETY: as above.
            Self::Fortran(place) => unsafe { fortran(place) },
        }
    }
}

/// Starts a reduction, or makes it ready to be started, or passes the call on to the library: the code that the program gets.
///
/// # Safety
/// The arguments are those of a call of MPI: handles are handles, and buffers are as the standard says for the call, until its request is
/// complete. `place` is where the program wants its request, and `library` makes the same call of the library. Without arguments, it is passed on.
pub(super) unsafe fn intercept(
    arguments: impl FnOnce(&Mpi) -> Option<Arguments>,
    place: Place,
    library: impl Fn() -> c_int,
) -> c_int {
    let Some((settings, mpi)) = looked_at() else {
        return library();
    };
    match arguments(mpi) {
        // SAFETY: this function's promise.
        Some(arguments) => unsafe { start_or_pass(&arguments, mpi, settings, place, &library) },
        None => library(),
    }
}

/// The same, once for all functions.
///
/// # Safety
/// As [`intercept`].
unsafe fn start_or_pass(
    arguments: &Arguments,
    mpi: &Mpi,
    settings: &Settings,
    place: Place,
    library: &dyn Fn() -> c_int,
) -> c_int {
    let begin = settings.stats.as_ref().map(|_| Instant::now());
    let is_check = settings.mode == Mode::Check;
    // SAFETY: this function's promise.
    let prepared = unsafe { prepare(arguments, mpi, settings) };
    let flight = prepared.and_then(|(task, places, state)| {
        if is_check && task.form == Form::Persistent {
            return Err(NOT_COMPARED);
        }
        // SAFETY: this function's promise.
        let flight = unsafe { flight(arguments, task, places, state) }?;
        Ok((flight, state))
    });
    let started = flight.and_then(|(mut flight, state)| {
        let mut send = send(arguments, mpi);
        if is_check {
            // SAFETY: this function's promise.
            let check = unsafe { check(&flight.task, send, arguments.comm, state) };
            send = check.contribution.as_ptr().cast();
            flight.check = Some(check);
        }
        // SAFETY: this function's promise; `flight` has made room for these arguments.
        let (code, request) = unsafe { gather(arguments, send, &mut flight, mpi) }?;
        Ok((flight, code, request))
    });
    let (mut flight, code, request) = match started {
        Ok(started) => started,
        Err(reason) => {
            let code = library();
            if let Some(begin) = begin {
                let (name, count) = (arguments.call.name(arguments.form), arguments.count);
                count_passed(name, reason, count, arguments.datatype, arguments.op, begin);
            }
            return code;
        }
    };
    let mut counts = Counts {
        treefold_ns: begin.map_or(0, elapsed_ns),
        ..Counts::default()
    };
    let Some(check) = &mut flight.check else {
        if settings.stats.is_some() {
            count_taken(&flight.task, counts);
        }
        if code == SUCCESS {
            flight.launch(request);
            // SAFETY: the program promises room for a request.
            unsafe { place.write(mpi, request) };
        }
        return code;
    };
    check.request = request;
    deferred::poll();
    let begin = Instant::now();
    let own_code = library();
    counts.library_ns = elapsed_ns(begin);
    counts.failed = (code != SUCCESS).into();
    count_taken(&flight.task, counts);
    match (own_code, code) {
        // SAFETY: the program has promised room for a request, which the library has written.
        (SUCCESS, SUCCESS) => flight.launch(unsafe { place.read(mpi) }),
        // What was started goes on.
        (_, SUCCESS) => deferred::push(flight),
        _ => {}
    }
    own_code
}

/// What a check compares with the library's own reduction, of a contribution that the program may change before.
///
/// # Safety
/// As [`intercept`].
unsafe fn check(task: &Task, send: *const c_void, comm: Comm, state: &State) -> Check {
    // SAFETY: the program promises so many elements.
    let bytes = unsafe { slice::from_raw_parts(send.cast::<u8>(), task.width_bytes()) };
    let mut contribution = vec![0_u64; bytes.len().div_ceil(size_of::<u64>())];
    bytemuck::cast_slice_mut(&mut contribution)[..bytes.len()].copy_from_slice(bytes);
    let mut check = Check::new(comm, contribution);
    if task.call == Call::Allreduce {
        let digests = Arc::clone(&state.digests);
        let call = digests.begin(comm);
        check.digests = Some((digests, call));
    }
    check
}

/// Where this rank's contribution is.
fn send(arguments: &Arguments, mpi: &Mpi) -> *const c_void {
    if mpi.is_in_place(arguments.send) {
        arguments.recv.cast_const()
    } else {
        arguments.send
    }
}

/// Room for what is gathered. Whether there is too much is the same on all ranks.
///
/// # Safety
/// As [`intercept`].
unsafe fn flight(
    arguments: &Arguments,
    task: Task,
    places: Places,
    state: &State,
) -> Result<Box<Flight>, Reason> {
    let (size, rank) = (state.size, state.rank);
    let (counts, longest) = match task.call {
        // SAFETY: this function's promise.
        Call::ReduceScatter | Call::ReduceScatterBlock => unsafe { columns(arguments, size) }?,
        _ => (Vec::new(), task.width),
    };
    let total_bytes = longest.saturating_mul(size * task.element.bytes());
    if total_bytes > GATHERED_MAX_BYTES || c_int::try_from(task.width).is_err() {
        return Err(TOO_LONG);
    }
    let has_rows = task.call != Call::Reduce || rank == task.root;
    let combined = match task.call {
        Call::Scan => rank + 1,
        Call::Exscan => rank,
        _ => size,
    };
    let rows_bytes = if has_rows {
        size * task.length_bytes()
    } else {
        0
    };
    let mut flight = Flight::new(task, combined, rows_bytes);
    flight.result = match places {
        Places::Apart(_, recv) | Places::InPlace(recv) if task.length > 0 => Some(recv),
        _ => None,
    };
    let is_scattered = !counts.is_empty();
    if is_scattered || task.form == Form::Persistent {
        let width = int(task.width);
        let sent: Vec<c_int> = match task.call {
            _ if is_scattered => counts,
            Call::Reduce => (0..size)
                .map(|to| if to == task.root { width } else { 0 })
                .collect(),
            _ => vec![width; size],
        };
        let sent_begins = if is_scattered {
            begins(&sent)
        } else {
            vec![0; size]
        };
        let received = vec![if has_rows { int(task.length) } else { 0 }; size];
        let received_begins = begins(&received);
        flight.counts = [sent, sent_begins, received, received_begins].concat();
    }
    Ok(flight)
}

/// Where each rank's elements begin, one after the other.
fn begins(counts: &[c_int]) -> Vec<c_int> {
    let mut next = 0;
    let begin = |&count| {
        let begin = next;
        next += count;
        begin
    };
    counts.iter().map(begin).collect()
}

/// What each rank gets of a reduce-scatter, and the most that one gets.
///
/// # Safety
/// As [`intercept`].
unsafe fn columns(arguments: &Arguments, size: usize) -> Result<(Vec<c_int>, usize), Reason> {
    let counts: Vec<i64> = match arguments.count {
        Count::Of(count) => vec![count; size],
        Count::Each(counts) => {
            // SAFETY: the caller promises a count for each rank; `prepare` has looked whether it is NULL.
            let counts = unsafe { slice::from_raw_parts(counts, size) };
            counts.iter().copied().map(i64::from).collect()
        }
        // SAFETY: as above.
        Count::EachLarge(counts) => unsafe { slice::from_raw_parts(counts, size) }.to_vec(),
    };
    let longest = counts.iter().copied().max().unwrap_or(0);
    let counts: Result<Vec<c_int>, _> = counts.into_iter().map(c_int::try_from).collect();
    let longest = usize::try_from(longest).map_err(|_| TOO_LONG)?;
    Ok((counts.map_err(|_| TOO_LONG)?, longest))
}

/// A count that is no greater than one that an int holds.
fn int(count: usize) -> c_int {
    c_int::try_from(count).expect("a rank's elements are some of all")
}

/// The library's call: its code, and the request.
///
/// # Safety
/// As [`intercept`]; the flight is one of these arguments.
unsafe fn gather(
    arguments: &Arguments,
    send: *const c_void,
    flight: &mut Flight,
    mpi: &Mpi,
) -> Result<(c_int, Request), Reason> {
    let (datatype, comm) = (arguments.datatype, arguments.comm);
    let rows: *mut c_void = if flight.rows.is_empty() {
        ptr::null_mut()
    } else {
        flight.rows.as_mut_ptr().cast()
    };
    let (count, root) = (int(flight.task.width), arguments.root);
    let length = flight.counts.len() / 4;
    let part = |index: usize| flight.counts[index * length..].as_ptr();
    let mut request = Request::UNSET;
    let place = &raw mut request;
    let library = mpi.library;
    // In each call below, rows have room for what all ranks send, the lists have a number for each rank, and both live as long as the flight,
    // which the table keeps until the request is complete, or freed if it is persistent.
    let code = match (flight.task.call, flight.task.form) {
        // Whatever it is: MPICH 4.0 gathers right the first time only.
        (_, Form::Persistent) => {
            let init = library.MPI_Alltoallv_init();
            let init = init.or(library.MPIX_Alltoallv_init());
            let init = init.ok_or("the library has no persistent collectives")?;
            let [counts, begins, received, received_begins] = [0, 1, 2, 3].map(part);
            let none = library.handles.MPI_INFO_NULL;
            // SAFETY: as above; the rest is the program's.
            unsafe {
                init(
                    send,
                    counts,
                    begins,
                    datatype,
                    rows,
                    received,
                    received_begins,
                    datatype,
                    comm,
                    none,
                    place,
                )
            }
        }
        (Call::ReduceScatter | Call::ReduceScatterBlock, _) => {
            let [counts, begins, received, received_begins] = [0, 1, 2, 3].map(part);
            // SAFETY: as above.
            unsafe {
                library.MPI_Ialltoallv(
                    send,
                    counts,
                    begins,
                    datatype,
                    rows,
                    received,
                    received_begins,
                    datatype,
                    comm,
                    place,
                )
            }
        }
        // SAFETY: as above.
        (Call::Reduce, _) => unsafe {
            library.MPI_Igather(
                send, count, datatype, rows, count, datatype, root, comm, place,
            )
        },
        // SAFETY: as above.
        _ => unsafe {
            library.MPI_Iallgather(send, count, datatype, rows, count, datatype, comm, place)
        },
    };
    Ok((code, request))
}
