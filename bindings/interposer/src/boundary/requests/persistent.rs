//! Persistent reductions in a check. The program's request is that of the MPI library's own reduction; each start also gathers the
//! contributions, without blocking. Ranks may start requests in different orders, and continue before other ranks have started theirs. So
//! each request gathers on its own communicator, which lives until MPI_Finalize, since ranks may free requests at different times.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use treefold::mpi::mpi_library::{Comm, Group};

use crate::boundary::calls::arguments::{Arguments, Reason};
use crate::boundary::calls::count::count_failed;
use crate::boundary::check::compared::{Check, Repeat};
use crate::boundary::check::deferred;
use crate::boundary::library::loaded::{Mpi, SUCCESS};
use crate::boundary::requests::flight::{self, Flight};
use crate::boundary::requests::gather::{contribution, gather};
use crate::task::Form;

/// The maximum number of communicators that this module makes in a process. MPI libraries allow a few thousand.
const COMMUNICATORS_MAX: usize = 256;

const TOO_MANY: Reason = "not compared beyond 256 persistent requests";

static COMMUNICATORS: AtomicUsize = AtomicUsize::new(0);

/// Prepares a persistent flight so that each start gathers the contributions. Collective, which is allowed here: the program's call may
/// wait for other ranks (MPI 4.1, 6.13).
pub(crate) fn prepare(
    arguments: &Arguments,
    mpi: &Mpi,
    mut flight: Box<Flight>,
) -> Result<Box<Flight>, Reason> {
    let library = mpi.library;
    let init = library.MPI_Alltoallv_init();
    init.or(library.MPIX_Alltoallv_init())
        .ok_or("the library has no persistent collectives")?;
    let comm = communicator(arguments.comm, mpi).ok_or(TOO_MANY)?;
    let rows = std::mem::take(&mut flight.rows);
    flight.repeat = Some(Box::new(Repeat {
        arguments: Arguments { comm, ..*arguments },
        comm: arguments.comm,
        rows_bytes: size_of_val(&rows[..]),
    }));
    Ok(flight)
}

/// A new communicator of the same ranks, unless one of these ranks has made the maximum number already.
fn communicator(comm: Comm, mpi: &Mpi) -> Option<Comm> {
    let (library, handles) = (mpi.library, &mpi.library.handles);
    let has_room: c_int = (COMMUNICATORS.load(Ordering::Relaxed) < COMMUNICATORS_MAX).into();
    let mut all_have: c_int = 0;
    let (from, to) = (&raw const has_room, &raw mut all_have);
    // SAFETY: both are ints, and the program makes a collective call on all ranks.
    let code = unsafe {
        library.MPI_Allreduce(
            from.cast(),
            to.cast(),
            1,
            handles.MPI_INT,
            handles.MPI_MIN,
            comm,
        )
    };
    if code != SUCCESS || all_have == 0 {
        return None;
    }
    COMMUNICATORS.fetch_add(1, Ordering::Relaxed);
    let (mut group, mut made) = (Group::UNSET, Comm::UNSET);
    // SAFETY: the communicator is the program's; `group` has room for a handle.
    let code = unsafe { library.MPI_Comm_group(comm, &raw mut group) };
    if code != SUCCESS {
        return None;
    }
    // Unlike a duplicate, the new communicator has none of the program's attributes. SAFETY: as above; `made` has room for a handle.
    let code = unsafe { library.MPI_Comm_create(comm, group, &raw mut made) };
    // SAFETY: the group was just made.
    unsafe { library.MPI_Group_free(&raw mut group) };
    (code == SUCCESS).then_some(made)
}

/// Starts a gather for a request that is about to be started, if it is a persistent request in a check.
pub(crate) fn begin(word: usize) {
    deferred::poll();
    let Some(mut flight) = flight::forget(word) else {
        return;
    };
    if let Some(repeat) = &flight.repeat {
        flight.child = start(repeat, &flight);
    }
    flight::put_back(word, flight);
}

/// Called when the library has failed to start a request. The gather that was started for it continues.
pub(crate) fn abandon(word: usize) {
    if let Some(mut flight) = flight::forget(word) {
        flight.child.take().into_iter().for_each(deferred::push);
        flight::put_back(word, flight);
    }
}

fn start(repeat: &Repeat, flight: &Flight) -> Option<Box<Flight>> {
    let mpi = Mpi::get();
    let mut child = Flight::new(flight.task, flight.combined, repeat.rows_bytes);
    child.result = flight.result;
    child.counts.clone_from(&flight.counts);
    let send = contribution(&repeat.arguments, mpi);
    // SAFETY: the program lends its buffers from now on, until the request is complete.
    let mut check = unsafe { Check::of(&flight.task, send, repeat.comm) };
    let (arguments, form) = (&repeat.arguments, Form::NonBlocking);
    let send = check.contribution.as_ptr().cast();
    // SAFETY: the arguments are the program's; the child has room for the gathered rows.
    let gathered = unsafe { gather(arguments, form, send, &mut child, mpi) };
    let request = gathered.ok().filter(|(code, _)| *code == SUCCESS);
    let Some((_, request)) = request else {
        count_failed(&flight.task);
        return None;
    };
    check.request = request;
    child.check = Some(check);
    Some(child)
}
