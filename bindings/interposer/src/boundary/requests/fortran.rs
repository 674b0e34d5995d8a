//! Wrappers of MPI's Fortran request functions, where these call PMPI_ functions: all of Open MPI's, and MPICH's `mpi_f08`. MPICH's other
//! Fortran functions call the C functions MPI_…, which this library already wraps.

#![allow(non_snake_case, reason = "Fortran compilers' names")]

use std::ffi::c_int;

use crate::boundary::library::fortran::integer;
use crate::boundary::library::next::export_fortran;
use crate::boundary::requests::complete::{Completed, ask, complete, outcome};
use crate::boundary::requests::functions::{cancel, free, start};
use crate::boundary::requests::taken::{Requests, fortran};

/// # Safety
/// The address points to a handle.
unsafe fn one(request: *const c_int) -> Requests {
    Requests::in_fortran(1, request)
}

/// # Safety
/// The first address points to an INTEGER, the count, and the other one to that many handles.
unsafe fn several(count: *const c_int, requests: *const c_int) -> Requests {
    // SAFETY: the caller promises it.
    Requests::in_fortran(unsafe { integer(count) }, requests)
}

/// Defines functions that complete requests, from their names, parameters, requests, and the requests that the call has completed.
macro_rules! completes {
    ($names:tt, $parameters:tt, $requests:expr, $completed:expr) => {
        export_fortran!($names, $parameters, |library| {
            // SAFETY: the addresses are those of an INTEGER and of handles.
            let (requests, completed) = (|| unsafe { $requests }, || $completed);
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { complete(requests, library, completed) }
        });
    };
}

/// Defines the other request functions, from their names, parameters, action and requests.
macro_rules! export {
    ($names:tt, $parameters:tt, $function:ident, $requests:expr) => {
        export_fortran!($names, $parameters, |library| {
            // SAFETY: the addresses are those of an INTEGER and of handles.
            let requests = || unsafe { $requests };
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { $function(requests, library) }
        });
    };
}

completes!(
    [mpi_wait_ mpi_wait__ mpi_wait MPI_WAIT mpi_wait_f08_],
    (request, status),
    one(request),
    Completed::All
);
completes!(
    [mpi_test_ mpi_test__ mpi_test MPI_TEST mpi_test_f08_],
    (request, flag, status),
    one(request),
    outcome!(Completed::all_if; flag)
);
completes!(
    [mpi_waitall_ mpi_waitall__ mpi_waitall MPI_WAITALL mpi_waitall_f08_],
    (count, requests, statuses),
    several(count, requests),
    Completed::All
);
completes!(
    [mpi_testall_ mpi_testall__ mpi_testall MPI_TESTALL mpi_testall_f08_],
    (count, requests, flag, statuses),
    several(count, requests),
    outcome!(Completed::all_if; flag)
);
completes!(
    [mpi_waitany_ mpi_waitany__ mpi_waitany MPI_WAITANY mpi_waitany_f08_],
    (count, requests, index, status),
    several(count, requests),
    outcome!(Completed::One; index)
);
completes!(
    [mpi_testany_ mpi_testany__ mpi_testany MPI_TESTANY mpi_testany_f08_],
    (count, requests, index, flag, status),
    several(count, requests),
    outcome!(Completed::one_if; flag, index)
);
completes!(
    [mpi_waitsome_ mpi_waitsome__ mpi_waitsome MPI_WAITSOME mpi_waitsome_f08_],
    (count, requests, completed, indices, statuses),
    several(count, requests),
    outcome!(|completed| Completed::Some(completed, indices); completed)
);
completes!(
    [mpi_testsome_ mpi_testsome__ mpi_testsome MPI_TESTSOME mpi_testsome_f08_],
    (count, requests, completed, indices, statuses),
    several(count, requests),
    outcome!(|completed| Completed::Some(completed, indices); completed)
);
export_fortran!(
    [mpi_request_get_status_ mpi_request_get_status__ mpi_request_get_status MPI_REQUEST_GET_STATUS mpi_request_get_status_f08_],
    (request, flag, status),
    |library| {
        // SAFETY: the address points to a handle.
        let request = || unsafe { fortran(request) };
        // SAFETY: the call has succeeded: then the program has passed the address of an INTEGER.
        ask(request, library, || unsafe { integer(flag) })
    }
);
export!(
    [mpi_start_ mpi_start__ mpi_start MPI_START mpi_start_f08_],
    (request),
    start,
    one(request)
);
export!(
    [mpi_startall_ mpi_startall__ mpi_startall MPI_STARTALL mpi_startall_f08_],
    (count, requests),
    start,
    several(count, requests)
);
export!(
    [mpi_request_free_ mpi_request_free__ mpi_request_free MPI_REQUEST_FREE mpi_request_free_f08_],
    (request),
    free,
    one(request)
);
export!(
    [mpi_cancel_ mpi_cancel__ mpi_cancel MPI_CANCEL mpi_cancel_f08_],
    (request),
    cancel,
    one(request)
);
