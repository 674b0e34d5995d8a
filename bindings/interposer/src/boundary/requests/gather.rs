//! Gathers the contributions to a reduction: allocates memory for them, and makes the MPI library's call.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::slice;

use treefold::mpi::mpi_library::Request;

use crate::boundary::calls::arguments::{Arguments, CallBuffers, Count, Reason};
use crate::boundary::calls::state::State;
use crate::boundary::library::loaded::Mpi;
use crate::boundary::requests::flight::Flight;
use crate::task::{Call, Form, Task};

/// The maximum number of bytes that a rank gathers. There is a limit because the program does not expect treefold to use this memory.
const GATHERED_MAX_BYTES: usize = 64 << 20;

const TOO_LONG: Reason = "all ranks' contributions have more than 64 MiB";

/// The address of this rank's contribution.
pub(crate) fn contribution(arguments: &Arguments, mpi: &Mpi) -> *const c_void {
    if mpi.is_in_place(arguments.send) {
        arguments.recv.cast_const()
    } else {
        arguments.send
    }
}

/// A flight with memory for the gathered rows, or the reason for passing the call on. All ranks decide alike whether the rows are too long.
///
/// # Safety
/// The arguments are those of an MPI call.
pub(crate) unsafe fn room(
    arguments: &Arguments,
    task: Task,
    places: CallBuffers,
    state: &State,
) -> Result<Box<Flight>, Reason> {
    let (size, rank) = (state.size, state.rank);
    let (counts, longest) = match task.call {
        // SAFETY: the caller promises the arguments of an MPI call.
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
        CallBuffers::Apart(_, recv) | CallBuffers::InPlace(recv) if task.length > 0 => Some(recv),
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

/// The displacement of each rank's elements, if the ranks' elements follow each other.
fn begins(counts: &[c_int]) -> Vec<c_int> {
    let mut next = 0;
    let begin = |&count| {
        let begin = next;
        next += count;
        begin
    };
    counts.iter().map(begin).collect()
}

/// The number of elements that each rank gets in a reduce-scatter, and the maximum.
///
/// # Safety
/// The arguments are those of an MPI call.
unsafe fn columns(arguments: &Arguments, size: usize) -> Result<(Vec<c_int>, usize), Reason> {
    let counts: Vec<i64> = match arguments.count {
        Count::Of(count) => vec![count; size],
        Count::Each(counts) => {
            // SAFETY: the caller promises a count for each rank; `prepare` has checked that the address is not NULL.
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

/// Converts a count that fits an int.
fn int(count: usize) -> c_int {
    c_int::try_from(count).expect("no rank has more than all elements, whose number fits")
}

/// Gathers the contributions with the MPI library's call of this form. Returns the library's code and the request.
///
/// # Safety
/// As for [`room`]; the flight was made for these arguments.
pub(crate) unsafe fn gather(
    arguments: &Arguments,
    form: Form,
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
    // In each call below, the rows have room for what all ranks send, the lists have a number for each rank, and both live as long as the
    // flight. The table keeps the flight until the request is complete or, if it is persistent, freed.
    let code = match (flight.task.call, form) {
        // All persistent gathers use alltoallv: MPICH 4.0's other persistent gathers are correct only the first time.
        (_, Form::Persistent) => {
            let init = library.MPI_Alltoallv_init();
            let init = init.or(library.MPIX_Alltoallv_init());
            let init = init.ok_or("the library has no persistent collectives")?;
            let [counts, begins, received, received_begins] = [0, 1, 2, 3].map(part);
            let none = library.handles.MPI_INFO_NULL;
            // SAFETY: as above; the other arguments are the program's.
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
