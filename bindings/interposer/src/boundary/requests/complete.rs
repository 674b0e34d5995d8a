//! The functions that complete requests. A function that completes a treefold reduction writes the result before it returns. While no
//! reduction is under way, these functions only call the MPI library's functions.
//!
//! All of Open MPI's Fortran functions, and MPICH's `mpi_f08`, call PMPI_ functions. MPICH's other Fortran functions call the C functions MPI_…,
//! which this library already wraps.

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Handle, Passed, Request};

use crate::boundary::library::fortran::integer;
use crate::boundary::library::loaded::{self, SUCCESS};
use crate::boundary::library::next::{export_c, export_fortran};
use crate::boundary::requests::flight;
use crate::boundary::requests::taken::{Handles, Requests, Taken, fortran, requests};

/// Which of its requests a call has completed.
#[derive(Clone, Copy, Debug)]
enum Completed {
    All,
    None,
    /// The request at this index; none if the index is MPI_UNDEFINED.
    One(c_int),
    /// The number of completed requests, and the address of their indices; none if the number is MPI_UNDEFINED.
    Some(c_int, *const c_int),
}

impl Completed {
    /// All requests, if a flag is true.
    fn all_if(flag: c_int) -> Self {
        if flag == 0 { Self::None } else { Self::All }
    }

    /// One request, if a flag is true.
    fn one_if(flag: c_int, index: c_int) -> Self {
        if flag == 0 {
            Self::None
        } else {
            Self::One(index)
        }
    }

    /// Whether the request at this place is complete. `first` is the index of the first request, 0 or 1.
    ///
    /// # Safety
    /// In `Some`, the address is that of as many indices as the number says.
    unsafe fn has(self, place: usize, first: c_int) -> bool {
        let is_it = |index: c_int| usize::try_from(index - first) == Ok(place);
        match self {
            Self::All => true,
            Self::None => false,
            Self::One(index) => is_it(index),
            Self::Some(count, indices) => (0..usize::try_from(count).unwrap_or(0)).any(|at| {
                // SAFETY: the caller promises that many indices.
                let index = unsafe { indices.add(at) };
                // SAFETY: as above.
                is_it(unsafe { *index })
            }),
        }
    }
}

/// Makes the MPI library's call on requests, and returns the call's code. Delivers the results of those treefold reductions that the call
/// has completed. `completed` is evaluated after the call.
///
/// # Safety
/// The requests, and what `completed` reads, are where the program's arguments point.
#[inline(always)]
unsafe fn complete(
    requests: impl FnOnce() -> Requests,
    library: impl FnOnce() -> c_int,
    completed: impl FnOnce() -> Completed,
) -> c_int {
    if flight::is_idle() {
        return library();
    }
    // SAFETY: the caller promises requests where the arguments point.
    unsafe { settle(requests(), library, completed) }
}

/// [`complete`] while reductions are under way.
///
/// # Safety
/// As for [`complete`].
#[inline(never)]
unsafe fn settle(
    requests: Requests,
    library: impl FnOnce() -> c_int,
    completed: impl FnOnce() -> Completed,
) -> c_int {
    // SAFETY: the caller promises requests where the arguments point.
    let taken = unsafe { Taken::of(requests) };
    let code = library();
    if taken.is_empty() {
        return code;
    }
    let is_told = (code == SUCCESS).then(completed);
    let first = match requests.handles {
        Handles::C(_) => 0,
        Handles::Fortran(_) => 1,
    };
    let is_done = |place| match is_told {
        // SAFETY: the caller promises that `completed` is what the call has returned.
        Some(completed) => unsafe { completed.has(place, first) },
        // After a failure, some requests are complete and others are not. The program may ignore statuses, so the library is queried.
        // SAFETY: as above.
        None => is_over(unsafe { requests.request(place) }),
    };
    // SAFETY: as above.
    unsafe { taken.settle(requests, code != SUCCESS, &is_done) };
    code
}

/// Whether a live request is complete.
fn is_over(request: Request) -> bool {
    let (mut flag, ignored) = (0, loaded::mpi().constants.status_ignore());
    // SAFETY: the caller passes a live request, which this call does not change.
    let code = unsafe { loaded::mpi().MPI_Request_get_status(request, &raw mut flag, ignored) };
    code == SUCCESS && flag != 0
}

/// Makes the MPI library's call that tests a request without changing it, and returns its code. Several threads may test a request at once.
#[inline]
fn ask(
    request: impl FnOnce() -> Request,
    library: impl FnOnce() -> c_int,
    flag: impl FnOnce() -> c_int,
) -> c_int {
    let code = library();
    if code == SUCCESS && !flight::is_idle() && flag() != 0 {
        flight::observe(request().word());
    }
    code
}

/// Defines a function that completes requests, in C and in Fortran. Arguments: its parameters, its requests and its completed requests.
macro_rules! export {
    (
        $name:ident($($parameter:ident: $type:ty),+), $requests:tt, $completed:expr, $small:literal, $capitals:literal
    ) => {
        export_c!($name($($parameter: $type),+), |library| {
            let (requests, completed) = (|| requests!(c $requests), || $completed);
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { complete(requests, library, completed) }
        });
        export_fortran!($small, $capitals, ($($parameter),+), |library| {
            let (requests, completed) = (|| requests!(fortran $requests), || $completed);
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { complete(requests, library, completed) }
        });
    };
}

/// An expression that reads the ints that a call has written, and passes them to a function.
macro_rules! outcome {
    ($function:expr; $($place:ident),+) => {
        // SAFETY: the call has succeeded, so the program has passed the addresses of ints.
        $function($(unsafe { integer($place) }),+)
    };
}

export!(
    MPI_Wait(request: *mut c_void, status: *mut c_void),
    [request],
    Completed::All,
    "mpi_wait", "MPI_WAIT"
);
export!(
    MPI_Test(request: *mut c_void, flag: *mut c_int, status: *mut c_void),
    [request],
    outcome!(Completed::all_if; flag),
    "mpi_test", "MPI_TEST"
);
export!(
    MPI_Waitall(count: c_int, requests: *mut c_void, statuses: *mut c_void),
    [count, requests],
    Completed::All,
    "mpi_waitall", "MPI_WAITALL"
);
export!(
    MPI_Testall(count: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void),
    [count, requests],
    outcome!(Completed::all_if; flag),
    "mpi_testall", "MPI_TESTALL"
);
export!(
    MPI_Waitany(count: c_int, requests: *mut c_void, index: *mut c_int, status: *mut c_void),
    [count, requests],
    outcome!(Completed::One; index),
    "mpi_waitany", "MPI_WAITANY"
);
export!(
    MPI_Testany(count: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int, status: *mut c_void),
    [count, requests],
    outcome!(Completed::one_if; flag, index),
    "mpi_testany", "MPI_TESTANY"
);
export!(
    MPI_Waitsome(count: c_int, requests: *mut c_void, completed: *mut c_int, indices: *mut c_int, statuses: *mut c_void),
    [count, requests],
    outcome!(|completed| Completed::Some(completed, indices); completed),
    "mpi_waitsome", "MPI_WAITSOME"
);
export!(
    MPI_Testsome(count: c_int, requests: *mut c_void, completed: *mut c_int, indices: *mut c_int, statuses: *mut c_void),
    [count, requests],
    outcome!(|completed| Completed::Some(completed, indices); completed),
    "mpi_testsome", "MPI_TESTSOME"
);
export_c!(MPI_Request_get_status(request: Passed<Request>, flag: *mut c_int, status: *mut c_void), |library| {
    let request = || loaded::mpi().family().take(request);
    // SAFETY: the call has succeeded, so the program has passed the address of an int.
    ask(request, library, || unsafe { integer(flag) })
});
export_fortran!(
    "mpi_request_get_status",
    "MPI_REQUEST_GET_STATUS",
    (request, flag, status),
    |library| {
        // SAFETY: the address points to a handle.
        let request = || unsafe { fortran(request) };
        // SAFETY: as in C.
        ask(request, library, || unsafe { integer(flag) })
    }
);
