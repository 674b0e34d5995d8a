//! Checks a call's arguments and decides whether treefold can run it.

use std::ffi::c_void;
use std::slice;

use crate::boundary::calls::arguments::{
    ANOTHER_DATATYPE, Arguments, CallBuffers, Count, EXSCAN_INTO_PLACE, NO_ELEMENTS, ONE_RANK,
    Reason, WRONG,
};
use crate::boundary::calls::device;
use crate::boundary::calls::state::State;
use crate::boundary::library::loaded::{Communicator, Mpi};
use crate::boundary::process::phase::is_over;
use crate::settings::Settings;
use crate::task::{Call, Element, Op, Task, is_even};

/// Returns the task, the buffers and the communicator's state for a call, or the reason for leaving the call to the MPI library.
///
/// # Safety
/// The arguments are those of an MPI call: handles are valid, and buffers are as the standard requires for the call.
#[inline]
pub(crate) unsafe fn prepare(
    arguments: &Arguments,
    mpi: &Mpi,
    settings: &Settings,
) -> Result<(Task, CallBuffers, &'static State), Reason> {
    let Arguments { call, comm, .. } = *arguments;
    let element = mpi.element(arguments.datatype).ok_or(ANOTHER_DATATYPE)?;
    let op = mpi.op(arguments.op).ok_or("another operator")?;
    let is_real = matches!(element, Element::F32 | Element::F64);
    match op {
        Op::Sum | Op::Prod => {}
        _ if !is_real => return Err(WRONG),
        _ if call == Call::Exscan => return Err("Exscan has no value for rank 0"),
        _ => {}
    }
    if !settings.takes(op) {
        return Err("TREEFOLD_PMPI_OPS lacks the operator");
    }
    if mpi.is_null(comm) {
        return Err(WRONG);
    }
    if is_over() || treefold::mpi::is_finalised() {
        return Err("MPI_Finalize has begun");
    }
    let state = State::of(Communicator(comm)).ok_or(WRONG)?;
    if state.is_inter {
        return Err("intercommunicator");
    }
    if state.size == 1 {
        return Err(ONE_RANK);
    }
    // SAFETY: the caller promises valid arguments.
    let (width, first, length, is_even) = unsafe { columns(arguments, state) }?;
    let root = usize::try_from(arguments.root).map_err(|_| WRONG)?;
    let bytes = width.checked_mul(element.bytes()).ok_or(WRONG)?;
    if root >= state.size || isize::try_from(bytes).is_err() {
        return Err(WRONG);
    }
    let task = Task {
        call,
        form: arguments.form,
        element,
        op,
        root,
        width,
        first,
        length,
        is_even,
    };
    let places = places(arguments, &task, state.rank, mpi)?;
    device::look();
    if device::has(arguments.send) || device::has(arguments.recv.cast_const()) {
        return Err("in GPU memory");
    }
    Ok((task, places, state))
}

/// Returns the call's number of elements, the first element of this rank's result, the number of elements in this result, and whether a
/// plan would divide the elements among the ranks in the same way.
///
/// # Safety
/// As for [`prepare`].
#[inline]
unsafe fn columns(
    arguments: &Arguments,
    state: &State,
) -> Result<(usize, usize, usize, bool), Reason> {
    let count = match arguments.count {
        Count::Of(count) => usize::try_from(count).map_err(|_| WRONG)?,
        // SAFETY: the caller promises valid arguments, so the address is NULL or that of a count for each rank.
        Count::Each(counts) => return unsafe { scattered(counts, state) },
        // SAFETY: as above.
        Count::EachLarge(counts) => return unsafe { scattered(counts, state) },
    };
    if count == 0 {
        return Err(NO_ELEMENTS);
    }
    match arguments.call {
        Call::ReduceScatterBlock => {
            let width = count.checked_mul(state.size).ok_or(WRONG)?;
            Ok((width, count * state.rank, count, true))
        }
        _ => Ok((count, 0, count, false)),
    }
}

/// [`columns`] for a list with the counts of all ranks.
///
/// # Safety
/// `counts` is NULL, or has a count for each rank.
unsafe fn scattered<C: Copy>(
    counts: *const C,
    state: &State,
) -> Result<(usize, usize, usize, bool), Reason>
where
    usize: TryFrom<C>,
{
    if counts.is_null() {
        return Err(WRONG);
    }
    // SAFETY: the caller promises a count for each rank, as the address is not NULL.
    let counts = unsafe { slice::from_raw_parts(counts, state.size) };
    let counts = counts.iter().map(|count| usize::try_from(*count));
    // `flatten` drops negative counts, which makes the list too short.
    let counts: &[usize] = &counts.flatten().collect::<Vec<_>>();
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
        0 => Err(NO_ELEMENTS),
        _ => Ok((
            width,
            first,
            counts[state.rank],
            is_even(width, counts.iter().copied()),
        )),
    }
}

/// The buffers of a call, if they are valid.
#[inline]
fn places(
    arguments: &Arguments,
    task: &Task,
    rank: usize,
    mpi: &Mpi,
) -> Result<CallBuffers, Reason> {
    let Arguments { send, recv, .. } = *arguments;
    let is_root = task.call != Call::Reduce || rank == task.root;
    let is_first_of_exscan = task.call == Call::Exscan && rank == 0;
    let is_buffer = |address: *const c_void| !address.is_null() && !mpi.is_in_place(address);
    // Rank 0 of an exscan gets no result, but must decide like the other ranks.
    if is_root && mpi.is_in_place(recv) {
        return Err(match task.call {
            Call::Exscan => EXSCAN_INTO_PLACE,
            _ => WRONG,
        });
    }
    if mpi.is_in_place(send) {
        return match is_root && is_buffer(recv) {
            true if is_first_of_exscan => Ok(CallBuffers::Read(recv)),
            true => Ok(CallBuffers::InPlace(recv)),
            false => Err(WRONG),
        };
    }
    if !is_buffer(send) {
        return Err(WRONG);
    }
    if !is_root || is_first_of_exscan || task.length == 0 {
        return Ok(CallBuffers::Read(send));
    }
    let (begin, result_begin) = (send.addr(), recv.addr());
    let is_apart =
        begin + task.width_bytes() <= result_begin || result_begin + task.length_bytes() <= begin;
    if is_buffer(recv) && is_apart {
        Ok(CallBuffers::Apart(send, recv))
    } else {
        Err(WRONG)
    }
}
