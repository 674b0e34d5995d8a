//! Decides whether treefold or the MPI library runs a blocking reduction.

use std::ffi::c_int;
use std::time::Instant;

use treefold::mpi::mpi_library::Comm;

use crate::boundary::calls::arguments::{Arguments, EXSCAN_INTO_PLACE, Reason};
use crate::boundary::calls::count::count_passed;
use crate::boundary::calls::perform::perform;
use crate::boundary::calls::prepare::prepare;
use crate::boundary::calls::repeated;
use crate::boundary::library::loaded::{Communicator, Mpi, SUCCESS};
use crate::boundary::process::finish;
use crate::boundary::process::inside::is_inside;
use crate::settings::{Mode, Settings};

/// Runs the reduction with treefold, or passes the call on to the MPI library. Returns the error code for the program.
///
/// # Safety
/// The arguments are those of an MPI call: handles are valid, and buffers are as the standard requires for the call. `library` makes the
/// same call to the MPI library. If `arguments` returns `None`, the call is passed on.
#[inline]
pub(crate) unsafe fn intercept(
    arguments: impl FnOnce(&Mpi) -> Option<Arguments>,
    library: impl Fn() -> c_int,
) -> c_int {
    let Some((settings, mpi)) = looked_at() else {
        return library();
    };
    let Some(arguments) = arguments(mpi) else {
        return library();
    };
    // SAFETY: the caller promises valid arguments.
    if let Some(code) = unsafe { repeated::perform(&arguments, mpi) } {
        return code;
    }
    // SAFETY: as above.
    unsafe { take_or_pass(arguments, mpi, settings, &library) }
}

/// [`intercept`] for a kind of call that this thread does not remember. It is a separate function that gets the arguments by value, so that
/// `intercept` keeps the arguments of remembered kinds in registers.
///
/// # Safety
/// As for [`intercept`].
#[inline(never)]
unsafe fn take_or_pass(
    arguments: Arguments,
    mpi: &Mpi,
    settings: &Settings,
    library: &dyn Fn() -> c_int,
) -> c_int {
    // SAFETY: the caller promises valid arguments.
    match unsafe { prepare(&arguments, mpi, settings) } {
        Ok((task, places, state)) => {
            let comm = Communicator(arguments.comm);
            // SAFETY: the caller promises valid arguments, from which `prepare` has made the task and the places.
            let code = unsafe { perform(&task, places, state, comm, library) };
            // After a failure, the program's error handler may have freed the communicator.
            if code == SUCCESS && settings.mode == Mode::On && settings.stats.is_none() {
                repeated::remember(&arguments, mpi, &task, state);
            }
            code
        }
        Err(reason) => {
            let begin = Instant::now();
            let code = pass(reason, arguments.comm, library);
            if settings.stats.is_some() {
                let (name, count) = (arguments.call.name(arguments.form), arguments.count);
                count_passed(name, reason, count, arguments.datatype, arguments.op, begin);
            }
            code
        }
    }
}

/// Passes a call on to the MPI library, unless the reason is an error that treefold raises itself. Returns the code for the program.
pub(crate) fn pass(reason: Reason, comm: Comm, library: &dyn Fn() -> c_int) -> c_int {
    if reason != EXSCAN_INTO_PLACE {
        return library();
    }
    let code = Mpi::get().library.constants.MPI_ERR_BUFFER;
    Communicator(comm).call_error_handler(code);
    code
}

/// The settings and the MPI library; `None` if the interposer is off, if the call comes from treefold itself, or if MPI cannot be called.
#[inline(always)]
pub(crate) fn looked_at() -> Option<(&'static Settings, &'static Mpi)> {
    let settings = Settings::get();
    let is_passed = settings.mode == Mode::Off || is_inside() || !is_callable();
    (!is_passed).then(|| (settings, Mpi::get()))
}

/// Whether MPI is initialised and the MPI library is of a known family.
#[inline]
pub(crate) fn is_callable() -> bool {
    finish::register()
}
