//! Starts non-blocking and persistent reductions. The MPI library gathers the ranks' contributions with a call of the same form on the same
//! communicator, so the order of the program's calls does not change. The gathered rows are combined when the request is completed.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::time::Instant;

use treefold::mpi::mpi_library::{Comm, Request};

use crate::boundary::calls::arguments::Arguments;
use crate::boundary::calls::count::{count_passed, count_taken, elapsed_ns};
use crate::boundary::calls::intercept::{looked_at, pass};
use crate::boundary::calls::prepare::prepare;
use crate::boundary::calls::state::State;
use crate::boundary::check::compared::Check;
use crate::boundary::check::deferred;
use crate::boundary::library::loaded::{Mpi, SUCCESS};
use crate::boundary::requests::flight::Flight;
use crate::boundary::requests::gather::{contribution, gather, room};
use crate::boundary::requests::persistent;
use crate::boundary::requests::taken::fortran;
use crate::settings::{Mode, Settings};
use crate::statistics::Counts;
use crate::task::{Form, Task};

/// The address where the program wants its request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestPlace {
    C(*mut c_void),
    Fortran(*mut c_int),
}

impl RequestPlace {
    /// # Safety
    /// The place has room for a request, and MPI is initialised.
    unsafe fn write(self, mpi: &Mpi, request: Request) {
        match self {
            // SAFETY: the caller promises room for a request.
            Self::C(place) => unsafe { mpi.library.family().write(place, 0, request) },
            Self::Fortran(place) => {
                // SAFETY: the library has just created the request.
                let number = unsafe { mpi.library.request_to_fortran(request) };
                let number = number.expect("Open MPI converts handles to Fortran's");
                // SAFETY: the caller promises room for a request.
                unsafe { *place = number };
            }
        }
    }

    /// # Safety
    /// The place has a request, and MPI is initialised.
    unsafe fn read(self, mpi: &Mpi) -> Request {
        match self {
            // SAFETY: the caller promises a request.
            Self::C(place) => unsafe { mpi.library.family().read(place, 0) },
            // SAFETY: as above.
            Self::Fortran(place) => unsafe { fortran(place) },
        }
    }
}

/// Starts a reduction, or prepares a persistent one, or passes the call on to the MPI library. Returns the code for the program.
///
/// # Safety
/// The arguments are those of an MPI call: handles are valid, and buffers are as the standard requires for the call, until the call's
/// request is complete. `place` is where the program wants its request, and `library` makes the same call to the MPI library. If
/// `arguments` returns `None`, the call is passed on.
pub(crate) unsafe fn intercept(
    arguments: impl FnOnce(&Mpi) -> Option<Arguments>,
    place: RequestPlace,
    library: impl Fn() -> c_int,
) -> c_int {
    let Some((settings, mpi)) = looked_at() else {
        return library();
    };
    match arguments(mpi) {
        // SAFETY: the caller promises valid arguments.
        Some(arguments) => unsafe { start_or_pass(&arguments, mpi, settings, place, &library) },
        None => library(),
    }
}

/// The body of [`intercept`], compiled once for all functions.
///
/// # Safety
/// As for [`intercept`].
unsafe fn start_or_pass(
    arguments: &Arguments,
    mpi: &Mpi,
    settings: &Settings,
    place: RequestPlace,
    library: &dyn Fn() -> c_int,
) -> c_int {
    let begin = settings.stats.as_ref().map(|_| Instant::now());
    let is_check = settings.mode == Mode::Check;
    // SAFETY: the caller promises valid arguments.
    let prepared = unsafe { prepare(arguments, mpi, settings) };
    let with_room = prepared.and_then(|(task, places, state)| {
        // SAFETY: the caller promises valid arguments.
        let flight = unsafe { room(arguments, task, places, state) }?;
        Ok((flight, state))
    });
    let started = with_room.and_then(|(mut flight, state)| {
        if is_check && arguments.form == Form::Persistent {
            state.digests.ask(arguments.comm, &flight.task);
            return Ok(Started::Later(persistent::prepare(arguments, mpi, flight)?));
        }
        let mut send = contribution(arguments, mpi);
        if is_check {
            // SAFETY: the caller promises a contribution of the task's width.
            let check = unsafe { check(&flight.task, send, arguments.comm, state) };
            send = check.contribution.as_ptr().cast();
            flight.check = Some(check);
        }
        // SAFETY: the caller promises valid arguments, for which `room` has made the flight.
        let gathered = unsafe { gather(arguments, arguments.form, send, &mut flight, mpi) };
        let (code, request) = gathered?;
        Ok(Started::Now(flight, code, request))
    });
    let (mut flight, code, request) = match started {
        Ok(Started::Now(flight, code, request)) => (flight, code, request),
        Ok(Started::Later(flight)) => {
            let code = library();
            if code == SUCCESS {
                // SAFETY: the program has promised room for a request, which the library has written.
                flight.launch(unsafe { place.read(mpi) });
            }
            return code;
        }
        Err(reason) => {
            let code = pass(reason, arguments.comm, library);
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
        // A persistent reduction is counted at each start.
        if settings.stats.is_some() && arguments.form == Form::NonBlocking {
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
        // The gather has been started, and continues.
        (_, SUCCESS) => deferred::push(flight),
        _ => {}
    }
    own_code
}

/// The gather that a call has started, or will start.
enum Started {
    /// A gather, with the library's code and request.
    Now(Box<Flight>, c_int, Request),
    /// A gather that is started later, together with the library's request.
    Later(Box<Flight>),
}

/// Copies the contribution that a check gathers, and registers the call whose results the check compares.
///
/// # Safety
/// As for [`intercept`].
unsafe fn check(task: &Task, send: *const c_void, comm: Comm, state: &State) -> Check {
    // SAFETY: the program promises that many elements.
    let mut check = unsafe { Check::of(task, send, comm) };
    let call = state.digests.begin(comm, task);
    check.digests = call.map(|call| (Arc::clone(&state.digests), call));
    check
}
