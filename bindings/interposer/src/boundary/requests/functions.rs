//! The functions that start, free and cancel requests. A non-blocking collective that is under way must not be freed or cancelled.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::time::Instant;

use treefold::mpi::mpi_library::Handle;

use crate::boundary::calls::count::{count_taken, elapsed_ns};
use crate::boundary::library::fortran::integer;
use crate::boundary::library::loaded::{self, SUCCESS, mpi};
use crate::boundary::library::next::{export_c, export_fortran, next};
use crate::boundary::requests::flight::{self, RequestState};
use crate::boundary::requests::persistent;
use crate::boundary::requests::taken::{Handles, Requests, requests};
use crate::settings::{Mode, Settings};
use crate::statistics::Counts;

/// Raises MPI_ERR_REQUEST for a request that the program must not pass to this function, and returns the error's code. Calls the error
/// handler of MPI_COMM_WORLD, since the request's communicator may have been freed.
#[cold]
fn refuse() -> c_int {
    let code = mpi().constants.MPI_ERR_REQUEST;
    loaded::world().call_error_handler(code);
    code
}

thread_local! {
    /// Whether this thread is already starting requests: MPICH's Fortran functions call the C functions.
    static IS_STARTING: Cell<bool> = const { Cell::new(false) };
}

/// While this value lives, the thread is in a function that starts requests. It is a guard, since the program's error handler may throw.
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

/// Starts persistent requests, some of which may be treefold's. Returns the library's code, or an error if a request is under way.
///
/// # Safety
/// The requests are where the program's arguments point.
#[inline(always)]
unsafe fn start(requests: impl FnOnce() -> Requests, library: impl FnOnce() -> c_int) -> c_int {
    if flight::is_empty() {
        return library();
    }
    // SAFETY: the caller promises requests where the arguments point.
    unsafe { start_known(requests(), library) }
}

/// [`start`] if some requests are treefold's. Starts each request separately, which is equivalent (MPI 4.1, 3.9), to know which requests
/// are under way if the library fails.
///
/// # Safety
/// As for [`start`].
#[inline(never)]
unsafe fn start_known(requests: Requests, library: impl FnOnce() -> c_int) -> c_int {
    if IS_STARTING.get() {
        return library();
    }
    // SAFETY: the caller promises requests where the arguments point.
    let words = unsafe { requests.words() };
    let known: Vec<RequestState> = words.iter().map(|&word| flight::known(word)).collect();
    if known.contains(&RequestState::UnderWay) {
        return refuse();
    }
    let null = mpi().handles.MPI_REQUEST_NULL.word();
    // A list with an invalid request goes to the library, which reports the error before it starts any request.
    if !known.contains(&RequestState::Inactive) || words.contains(&null) {
        return library();
    }
    if let &[word] = &words[..] {
        return start_one(word, library);
    }
    for (place, &word) in words.iter().enumerate() {
        if flight::known(word) == RequestState::UnderWay {
            return refuse();
        }
        // SAFETY: the caller promises requests, and `place` is less than their number.
        let code = start_one(word, || unsafe { start_at(requests, place) });
        if code != SUCCESS {
            return code;
        }
    }
    SUCCESS
}

/// A request that is about to be started. If the library fails, `drop` marks the request as inactive, even if an error handler throws.
struct Begun {
    word: usize,
    is_started: bool,
}

impl Drop for Begun {
    fn drop(&mut self) {
        if !self.is_started {
            flight::set_under_way(self.word, false);
            persistent::abandon(self.word);
        }
    }
}

/// Starts a request, which may be a treefold reduction.
fn start_one(word: usize, library: impl FnOnce() -> c_int) -> c_int {
    let settings = Settings::get();
    let begin = settings.stats.as_ref().map(|_| Instant::now());
    if settings.mode == Mode::Check {
        persistent::begin(word);
    }
    flight::set_under_way(word, true);
    let mut begun = Begun {
        word,
        is_started: false,
    };
    let starting = Starting::enter();
    let code = library();
    drop(starting);
    begun.is_started = code == SUCCESS;
    if !begun.is_started {
        return code;
    }
    if let Some((begin, task)) = begin.zip(flight::task_of(word)) {
        let counts = Counts {
            treefold_ns: elapsed_ns(begin),
            ..Counts::default()
        };
        count_taken(&task, counts);
    }
    code
}

/// Calls the library to start one of several requests.
///
/// # Safety
/// The requests are where the program's arguments point, and `place` is less than their number.
unsafe fn start_at(requests: Requests, place: usize) -> c_int {
    let next = next!(
        "MPI_Start";
        unsafe extern "C-unwind" fn(*mut c_void) -> c_int
    );
    let next = match next {
        Ok(next) => next,
        Err(missing) => return missing.code(&|_| None),
    };
    let family = mpi().family();
    match requests.handles {
        Handles::C(handles) => {
            let handle = handles.wrapping_byte_add(place * family.handle_bytes());
            // SAFETY: the caller promises a request at `place`.
            unsafe { next(handle.cast_mut()) }
        }
        Handles::Fortran(numbers) => {
            // SAFETY: the caller promises a request at `place`.
            let mut request = unsafe { requests.request(place) };
            let handle = (&raw mut request).cast::<c_void>();
            // SAFETY: `request` has room for a handle of any family.
            unsafe { family.write(handle, 0, request) };
            // SAFETY: this is the program's request.
            let code = unsafe { next(handle) };
            // SAFETY: the library has left a handle there.
            let request = unsafe { family.read(handle, 0) };
            // SAFETY: this is the program's request, whose handle the library may have changed.
            let number = unsafe { mpi().request_to_fortran(request) };
            if let Some(number) = number {
                // SAFETY: the caller promises a request at `place`.
                unsafe { *numbers.wrapping_add(place).cast_mut() = number };
            }
            code
        }
    }
}

/// Frees a request, unless it is a treefold reduction under way.
///
/// # Safety
/// As for [`start`].
#[inline]
unsafe fn free(request: impl FnOnce() -> Requests, library: impl FnOnce() -> c_int) -> c_int {
    if flight::is_empty() {
        return library();
    }
    // SAFETY: the caller promises a request where the argument points.
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

/// Cancels a request, unless it is a treefold reduction under way.
///
/// # Safety
/// As for [`start`].
#[inline]
unsafe fn cancel(request: impl FnOnce() -> Requests, library: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller promises a request where the argument points.
    if !flight::is_empty() && is_under_way(&unsafe { request().words() }) {
        return refuse();
    }
    library()
}

fn is_under_way(words: &[usize]) -> bool {
    words
        .iter()
        .any(|&word| flight::known(word) == RequestState::UnderWay)
}

/// Defines a function in C and in Fortran. Arguments: its parameters, its requests, and the function above that it calls.
macro_rules! export {
    (
        $name:ident($($parameter:ident: $type:ty),+), $requests:tt, $function:ident, $small:literal, $capitals:literal
    ) => {
        export_c!($name($($parameter: $type),+), |library| {
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { $function(|| requests!(c $requests), library) }
        });
        export_fortran!($small, $capitals, ($($parameter),+), |library| {
            let requests = || requests!(fortran $requests);
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { $function(requests, library) }
        });
    };
}

export!(MPI_Start(request: *mut c_void), [request], start, "mpi_start", "MPI_START");
export!(
    MPI_Startall(count: c_int, requests: *mut c_void), [count, requests], start,
    "mpi_startall", "MPI_STARTALL"
);
export!(
    MPI_Request_free(request: *mut c_void), [request], free,
    "mpi_request_free", "MPI_REQUEST_FREE"
);
export!(MPI_Cancel(request: *mut c_void), [request], cancel, "mpi_cancel", "MPI_CANCEL");
