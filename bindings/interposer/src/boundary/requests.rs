//! The functions that start and end persistent requests, and those that no non-blocking collective may be passed to, as C calls them.

#![allow(non_snake_case, reason = "MPI's names")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Handle, Request};

use super::flight::{self, Known};
use super::library::{self, SUCCESS, mpi};
use super::next::next;

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
pub(super) fn start(words: &[usize], library: impl FnOnce() -> c_int) -> c_int {
    if IS_STARTING.get() {
        return library();
    }
    let (mut own, mut is_wrong) = (Vec::new(), false);
    for &word in words {
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
pub(super) fn free(word: usize, library: impl FnOnce() -> c_int) -> c_int {
    if flight::known(word) == Known::UnderWay {
        return refuse();
    }
    let forgotten = flight::forget(word);
    let code = library();
    if let Some(flight) = forgotten.filter(|_| code != SUCCESS) {
        flight::put_back(word, flight);
    }
    code
}

/// Cancels a request, unless it is a reduction of this library's that is under way.
pub(super) fn cancel(word: usize, library: impl FnOnce() -> c_int) -> c_int {
    match flight::known(word) {
        Known::UnderWay => refuse(),
        _ => library(),
    }
}

/// The word of a request in C.
///
/// # Safety
/// There are more than `place` requests.
unsafe fn word(requests: *const c_void, place: usize) -> usize {
    // SAFETY: this function's promise.
    let request: Request = unsafe { mpi().family().read(requests, place) };
    request.word()
}

/// An exported function of one request, and what is done where there may be reductions of this library's.
macro_rules! export {
    ($name:ident, $instead:ident) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(request: *mut c_void) -> c_int {
            let library = || {
                let next = next!(
                    stringify!($name),
                    concat!("P", stringify!($name));
                    unsafe extern "C-unwind" fn(*mut c_void) -> c_int
                );
                match next {
                    // SAFETY: it is the call that the program makes.
                    Ok(next) => unsafe { next(request) },
                    Err(missing) => missing.code(|_| None),
                }
            };
            if flight::is_empty() || request.is_null() {
                return library();
            }
            // SAFETY: the program promises a request.
            let word = unsafe { word(request, 0) };
            $instead(word, library)
        }
    };
}

fn start_one(word: usize, library: impl FnOnce() -> c_int) -> c_int {
    start(&[word], library)
}

export!(MPI_Start, start_one);
export!(MPI_Request_free, free);
export!(MPI_Cancel, cancel);

/// `MPI_Startall`.
///
/// # Safety
/// As MPI's standard says.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn MPI_Startall(count: c_int, requests: *mut c_void) -> c_int {
    let library = || {
        let next = next!(
            "MPI_Startall", "PMPI_Startall";
            unsafe extern "C-unwind" fn(c_int, *mut c_void) -> c_int
        );
        match next {
            // SAFETY: it is the call that the program makes.
            Ok(next) => unsafe { next(count, requests) },
            Err(missing) => missing.code(|_| None),
        }
    };
    if flight::is_empty() || requests.is_null() {
        return library();
    }
    let places = 0..usize::try_from(count).unwrap_or(0);
    // SAFETY: the program promises so many requests.
    let words: Vec<usize> = places
        .map(|place| unsafe { word(requests, place) })
        .collect();
    start(&words, library)
}
