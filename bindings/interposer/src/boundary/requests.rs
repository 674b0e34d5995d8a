//! The functions that start and end persistent requests, and those that no non-blocking collective may be passed to, as C calls them.

#![allow(non_snake_case, reason = "MPI's names")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use super::flight::{self, Known};
use super::library::{self, SUCCESS, mpi};
use super::next::export_c;
use super::taken::Requests;

/// The error of a request that may not be passed to a function: that of MPI_COMM_WORLD, as its own communicator may have been freed.
#[cold]
fn refuse() -> c_int {
    let code = mpi().constants.MPI_ERR_REQUEST;
    library::world().call_error_handler(code);
    code
}

thread_local! {
    /// Whether this thread is in a function of Fortran's that starts requests: MPICH's call C's functions.
    static IS_STARTING: Cell<bool> = const { Cell::new(false) };
}

/// As long as it lives, this thread is in one; an error handler of the program's may throw.
struct Starting;

impl Starting {
    fn enter() -> Self {
        IS_STARTING.set(true);
        Self
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        IS_STARTING.set(false);
    }
}

/// Starts persistent requests of which some may be reductions of this library's: the library's code, or an error if one is under way.
///
/// # Safety
/// The requests are where the program has said.
#[inline(always)]
pub(super) unsafe fn start(
    requests: impl FnOnce() -> Requests,
    library: impl FnOnce() -> c_int,
) -> c_int {
    if flight::is_empty() {
        return library();
    }
    // SAFETY: this function's promise.
    unsafe { start_known(requests(), library) }
}

/// The same, where there are some.
///
/// # Safety
/// As [`start`].
#[inline(never)]
unsafe fn start_known(requests: Requests, library: impl FnOnce() -> c_int) -> c_int {
    if IS_STARTING.get() {
        return library();
    }
    // SAFETY: this function's promise.
    let words = unsafe { requests.words() };
    let (mut own, mut is_wrong) = (Vec::new(), false);
    for word in words {
        match flight::known(word) {
            Known::No => {}
            Known::Inactive => own.push(word),
            Known::UnderWay => is_wrong = true,
        }
    }
    if is_wrong {
        return refuse();
    }
    for &word in &own {
        flight::set_under_way(word, true);
    }
    let starting = Starting::enter();
    let code = library();
    drop(starting);
    if code != SUCCESS {
        for &word in &own {
            flight::set_under_way(word, false);
        }
    }
    code
}

/// Frees a request, unless it is a reduction of this library's that is under way.
///
/// # Safety
/// As [`start`].
#[inline]
pub(super) unsafe fn free(
    request: impl FnOnce() -> Requests,
    library: impl FnOnce() -> c_int,
) -> c_int {
    if flight::is_empty() {
        return library();
    }
    // SAFETY: this function's promise.
    let words = unsafe { request().words() };
    if is_under_way(&words) {
        return refuse();
    }
    let forgotten = words
        .first()
        .and_then(|&word| Some((word, flight::forget(word)?)));
    let code = library();
    if let Some((word, flight)) = forgotten.filter(|_| code != SUCCESS) {
        flight::put_back(word, flight);
    }
    code
}

/// Cancels a request, unless it is a reduction of this library's that is under way.
///
/// # Safety
/// As [`start`].
#[inline]
pub(super) unsafe fn cancel(
    request: impl FnOnce() -> Requests,
    library: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: this function's promise.
    if !flight::is_empty() && is_under_way(&unsafe { request().words() }) {
        return refuse();
    }
    library()
}

fn is_under_way(words: &[usize]) -> bool {
    words
        .iter()
        .any(|&word| flight::known(word) == Known::UnderWay)
}

/// An exported function: its parameters, what it does, and its requests.
macro_rules! export {
    ($name:ident $parameters:tt, $function:ident, $requests:expr) => {
        export_c!($name $parameters, |library| {
            // SAFETY: the caller's promise is MPI's.
            unsafe { $function(|| $requests, library) }
        });
    };
}

export!(
    MPI_Start(request: *mut c_void),
    start,
    Requests::in_c(1, request)
);
export!(
    MPI_Startall(count: c_int, requests: *mut c_void),
    start,
    Requests::in_c(count, requests)
);
export!(
    MPI_Request_free(request: *mut c_void),
    free,
    Requests::in_c(1, request)
);
export!(
    MPI_Cancel(request: *mut c_void),
    cancel,
    Requests::in_c(1, request)
);
