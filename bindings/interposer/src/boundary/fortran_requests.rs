//! The functions of requests in Fortran, whose functions call PMPI_ functions: all of Open MPI's, and those of MPICH's `mpi_f08`. Where they call
//! MPI_ functions, the reductions of this library are in these functions' hands already.

#![allow(non_snake_case, reason = "Fortran compilers' names")]

use std::ffi::c_int;

use treefold::mpi::mpi_library::Handle;

use super::complete::{Completed, complete};
use super::flight;
use super::fortran::{integer, leave};
use super::library::SUCCESS;
use super::next::next;
use super::requests::{cancel, free, start};
use super::taken::{Handles, Requests, fortran};

/// Requests in Fortran.
///
/// # Safety
/// The address is that of an INTEGER.
unsafe fn several(count: *const c_int, numbers: *const c_int) -> Requests {
    // SAFETY: this function's promise.
    let count = unsafe { integer(count) };
    Requests {
        count: usize::try_from(count).unwrap_or(0),
        handles: Handles::Fortran(numbers),
    }
}

/// A request in Fortran.
fn one(number: *const c_int) -> Requests {
    Requests {
        count: 1,
        handles: Handles::Fortran(number),
    }
}

/// A request in Fortran, which the call does not change.
///
/// # Safety
/// The address is that of a handle.
unsafe fn value(number: *const c_int) -> Requests {
    Requests {
        count: 1,
        // SAFETY: this function's promise.
        handles: Handles::Value(unsafe { fortran(number) }),
    }
}

/// The names of a function of requests, its parameters, and what it does if there may be reductions of this library's, with what makes the same
/// call of the library.
macro_rules! export {
    ([$($name:ident)+], $unless:ident, $parameters:tt, $instead:expr) => {
        $(export!(@ $name, $unless, $parameters, $instead);)+
    };
    (@ $name:ident, $unless:ident, ($($parameter:ident),+), $instead:expr) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name($($parameter: *mut c_int,)+ ierr: *mut c_int) {
            let library = || {
                let next = next!(
                    stringify!($name),
                    concat!("p", stringify!($name));
                    unsafe extern "C-unwind" fn($(address!($parameter),)+ *mut c_int)
                );
                match next {
                    Ok(next) => {
                        let mut code = SUCCESS;
                        // SAFETY: it is the call that the program makes, with an error code.
                        unsafe { next($($parameter,)+ &raw mut code) };
                        code
                    }
                    Err(missing) => missing.code(|_| None),
                }
            };
            let code = if flight::$unless() {
                library()
            } else {
                let instead = $instead;
                // SAFETY: the caller's promise is MPI's.
                unsafe { instead(library, $($parameter),+) }
            };
            // SAFETY: the address is that of an INTEGER, or NULL.
            unsafe { leave(ierr, code) };
        }
    };
}

/// A type for each parameter of a list.
macro_rules! address {
    ($parameter:ident) => {
        *mut c_int
    };
}

type Address = *mut c_int;

/// # Safety
/// As MPI's standard says; `library` makes the call.
unsafe fn wait(library: impl FnOnce() -> c_int, request: Address, _status: Address) -> c_int {
    // SAFETY: this function's promise.
    unsafe { complete(one(request), library, || Completed::All) }
}

/// # Safety
/// As [`wait`].
unsafe fn test(
    library: impl FnOnce() -> c_int,
    request: Address,
    flag: Address,
    _status: Address,
) -> c_int {
    // SAFETY: this function's promise; the call has succeeded.
    let completed = || Completed::all_if(unsafe { integer(flag) });
    // SAFETY: this function's promise.
    unsafe { complete(one(request), library, completed) }
}

/// # Safety
/// As [`wait`].
unsafe fn waitall(
    library: impl FnOnce() -> c_int,
    count: Address,
    requests: Address,
    _statuses: Address,
) -> c_int {
    // SAFETY: this function's promise.
    let requests = unsafe { several(count, requests) };
    // SAFETY: as above.
    unsafe { complete(requests, library, || Completed::All) }
}

/// # Safety
/// As [`wait`].
unsafe fn testall(
    library: impl FnOnce() -> c_int,
    count: Address,
    requests: Address,
    flag: Address,
    _statuses: Address,
) -> c_int {
    // SAFETY: this function's promise.
    let requests = unsafe { several(count, requests) };
    // SAFETY: the call has succeeded.
    let completed = || Completed::all_if(unsafe { integer(flag) });
    // SAFETY: this function's promise.
    unsafe { complete(requests, library, completed) }
}

/// # Safety
/// As [`wait`].
unsafe fn waitany(
    library: impl FnOnce() -> c_int,
    count: Address,
    requests: Address,
    index: Address,
    _status: Address,
) -> c_int {
    // SAFETY: this function's promise.
    let requests = unsafe { several(count, requests) };
    // SAFETY: the call has succeeded.
    let completed = || Completed::One(unsafe { integer(index) });
    // SAFETY: this function's promise.
    unsafe { complete(requests, library, completed) }
}

/// # Safety
/// As [`wait`].
unsafe fn testany(
    library: impl FnOnce() -> c_int,
    count: Address,
    requests: Address,
    index: Address,
    flag: Address,
    _status: Address,
) -> c_int {
    // SAFETY: this function's promise.
    let requests = unsafe { several(count, requests) };
    let completed = || {
        // SAFETY: the call has succeeded.
        let flag = unsafe { integer(flag) };
        // SAFETY: as above.
        Completed::one_if(flag, unsafe { integer(index) })
    };
    // SAFETY: this function's promise.
    unsafe { complete(requests, library, completed) }
}

/// Wait or test.
///
/// # Safety
/// As [`wait`].
unsafe fn some(
    library: impl FnOnce() -> c_int,
    count: Address,
    requests: Address,
    completed: Address,
    indices: Address,
    _statuses: Address,
) -> c_int {
    // SAFETY: this function's promise.
    let requests = unsafe { several(count, requests) };
    // SAFETY: the call has succeeded.
    let completed = || Completed::Some(unsafe { integer(completed) }, indices);
    // SAFETY: this function's promise.
    unsafe { complete(requests, library, completed) }
}

/// # Safety
/// As [`wait`].
unsafe fn get_status(
    library: impl FnOnce() -> c_int,
    request: Address,
    flag: Address,
    _status: Address,
) -> c_int {
    // SAFETY: this function's promise.
    let requests = unsafe { value(request) };
    // SAFETY: the call has succeeded.
    let completed = || Completed::all_if(unsafe { integer(flag) });
    // SAFETY: this function's promise.
    unsafe { complete(requests, library, completed) }
}

/// # Safety
/// As [`wait`].
unsafe fn start_one(library: impl FnOnce() -> c_int, request: Address) -> c_int {
    // SAFETY: this function's promise.
    start(&[unsafe { fortran(request) }.word()], library)
}

/// # Safety
/// As [`wait`].
unsafe fn start_all(library: impl FnOnce() -> c_int, count: Address, requests: Address) -> c_int {
    // SAFETY: this function's promise.
    let count = usize::try_from(unsafe { integer(count) }).unwrap_or(0);
    let word = |place| {
        // SAFETY: the program promises so many requests.
        let request = unsafe { requests.add(place) };
        // SAFETY: as above.
        unsafe { fortran(request) }.word()
    };
    let words: Vec<usize> = (0..count).map(word).collect();
    start(&words, library)
}

/// # Safety
/// As [`wait`].
unsafe fn free_one(library: impl FnOnce() -> c_int, request: Address) -> c_int {
    // SAFETY: this function's promise.
    free(unsafe { fortran(request) }.word(), library)
}

/// # Safety
/// As [`wait`].
unsafe fn cancel_one(library: impl FnOnce() -> c_int, request: Address) -> c_int {
    // SAFETY: this function's promise.
    cancel(unsafe { fortran(request) }.word(), library)
}

export!(
    [mpi_wait_ mpi_wait__ mpi_wait MPI_WAIT mpi_wait_f08_],
    is_idle,
    (request, status),
    wait
);
export!(
    [mpi_test_ mpi_test__ mpi_test MPI_TEST mpi_test_f08_],
    is_idle,
    (request, flag, status),
    test
);
export!(
    [mpi_waitall_ mpi_waitall__ mpi_waitall MPI_WAITALL mpi_waitall_f08_],
    is_idle,
    (count, requests, statuses),
    waitall
);
export!(
    [mpi_testall_ mpi_testall__ mpi_testall MPI_TESTALL mpi_testall_f08_],
    is_idle,
    (count, requests, flag, statuses),
    testall
);
export!(
    [mpi_waitany_ mpi_waitany__ mpi_waitany MPI_WAITANY mpi_waitany_f08_],
    is_idle,
    (count, requests, index, status),
    waitany
);
export!(
    [mpi_testany_ mpi_testany__ mpi_testany MPI_TESTANY mpi_testany_f08_],
    is_idle,
    (count, requests, index, flag, status),
    testany
);
export!(
    [mpi_waitsome_ mpi_waitsome__ mpi_waitsome MPI_WAITSOME mpi_waitsome_f08_],
    is_idle,
    (count, requests, completed, indices, statuses),
    some
);
export!(
    [mpi_testsome_ mpi_testsome__ mpi_testsome MPI_TESTSOME mpi_testsome_f08_],
    is_idle,
    (count, requests, completed, indices, statuses),
    some
);
export!(
    [mpi_request_get_status_ mpi_request_get_status__ mpi_request_get_status MPI_REQUEST_GET_STATUS mpi_request_get_status_f08_],
    is_idle,
    (request, flag, status),
    get_status
);
export!(
    [mpi_start_ mpi_start__ mpi_start MPI_START mpi_start_f08_],
    is_empty,
    (request),
    start_one
);
export!(
    [mpi_startall_ mpi_startall__ mpi_startall MPI_STARTALL mpi_startall_f08_],
    is_empty,
    (count, requests),
    start_all
);
export!(
    [mpi_request_free_ mpi_request_free__ mpi_request_free MPI_REQUEST_FREE mpi_request_free_f08_],
    is_empty,
    (request),
    free_one
);
export!(
    [mpi_cancel_ mpi_cancel__ mpi_cancel MPI_CANCEL mpi_cancel_f08_],
    is_empty,
    (request),
    cancel_one
);
