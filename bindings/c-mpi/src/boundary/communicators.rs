//! The functions of `treefold_mpi.h` for communicators and the MPI library.

use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use treefold::transport::{Error, Interruption};
use treefold_c::boundary::guard;
use treefold_c::failure::{Failure, Status};
use treefold_c::raw::{place, text, write};

use super::exports::duration;
use super::handles::{destroy, read_handle, take_handle, write_handle};
use super::library;
use crate::failure::of_transport;
use crate::handle;

pub use crate::builder::treefold_comm;

/// Writes the address of a line that describes the MPI library in use.
///
/// # Safety
/// `text` points to room for a pointer, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_mpi_library(text: *mut *const c_char) -> Status {
    guard(|| {
        place("text", text)?;
        let description = library::description()?;
        // SAFETY: `text` is aligned and not NULL, as was just checked; the caller promises that there is room for an address.
        unsafe { text.write(description.as_ptr()) };
        Ok(())
    })
}

/// Duplicates a communicator, given by the address and size in bytes of its handle, the family of its `mpi.h`, and a function of its library.
/// Collective.
///
/// # Safety
/// `comm` points to a communicator of the MPI library that the program was compiled with, `family` points to a string, `function` is the
/// program's `MPI_Comm_size`, and `result` points to room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_duplicate_checked(
    comm: *const c_void,
    comm_bytes: usize,
    family: *const c_char,
    function: Option<unsafe extern "C" fn()>,
    result: *mut *mut treefold_comm,
) -> Status {
    guard(|| {
        place("result", result)?;
        // SAFETY: the caller promises that the pointer points to a string or is NULL.
        let family = unsafe { text("family", family) }?;
        // SAFETY: the caller promises that the handle is a communicator.
        let duplicate = unsafe { library::duplicate(comm, comm_bytes, family, function) }?;
        // SAFETY: the caller promises that there is room for a handle.
        unsafe { write_handle("result", result, handle::name(Rc::new(duplicate))?) }
    })
}

/// Duplicates a Fortran communicator. Collective.
///
/// # Safety
/// `comm` and `world` are communicators of the program's MPI library, and `result` points to room for a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_duplicate_f(
    comm: i32,
    world: i32,
    result: *mut *mut treefold_comm,
) -> Status {
    guard(|| {
        place("result", result)?;
        // SAFETY: the caller promises that the handle is a communicator.
        let duplicate = unsafe { library::duplicate_fortran(comm, world) }?;
        // SAFETY: the caller promises that there is room for a handle.
        unsafe { write_handle("result", result, handle::name(Rc::new(duplicate))?) }
    })
}

/// Writes a rank, or a number of ranks.
///
/// # Safety
/// `place` points to one int, or is NULL.
unsafe fn write_rank(name: &'static str, place: *mut c_int, number: usize) -> Result<(), Failure> {
    let number = c_int::try_from(number).expect("MPI counts ranks in an int");
    // SAFETY: the caller promises that the pointer points to an int or is NULL.
    unsafe { write(name, place, number) }
}

/// Writes this rank.
///
/// # Safety
/// `rank` points to one int, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_rank(
    comm: *const treefold_comm,
    rank: *mut c_int,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        // SAFETY: the caller promises that the pointer points to an int or is NULL.
        unsafe { write_rank("rank", rank, world.rank()) }
    })
}

/// Writes the number of ranks.
///
/// # Safety
/// `size` points to one int, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_size(
    comm: *const treefold_comm,
    size: *mut c_int,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        // SAFETY: the caller promises that the pointer points to an int or is NULL.
        unsafe { write_rank("size", size, world.size()) }
    })
}

/// Sets the time after which a wait for a silent rank fails.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_comm_silence_limit(comm: *mut treefold_comm, seconds: f64) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        world.set_silence_limit(duration(seconds)?);
        Ok(())
    })
}

/// Measures the cost of a message. Collective.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_comm_measure_link(comm: *mut treefold_comm) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        let measured = world.measure_link();
        measured.map(drop).map_err(|error| of_transport(&error))
    })
}

/// Destroys the handle of a communicator.
///
/// # Safety
/// `comm` points to a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_destroy(comm: *mut *mut treefold_comm) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { destroy("comm", comm) }
}

/// Destroys the handle of a communicator, and frees the MPI communicator unless some rank still uses it. Collective.
///
/// # Safety
/// `comm` points to a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_free(comm: *mut *mut treefold_comm) -> Status {
    guard(|| {
        // SAFETY: the caller promises that the pointer points to a handle or is NULL.
        let name = unsafe { read_handle("comm", comm) }?;
        if !name.is_null() {
            let world = &handle::object(name)?.world;
            if world.is_in_operator() {
                let rank = world.rank();
                return Err(of_transport(&Error::Nested { rank }));
            }
        }
        // SAFETY: as above.
        let Some(object) = unsafe { take_handle("comm", comm) }? else {
            return Ok(());
        };
        let duplicate = object.duplicate;
        drop(object);
        duplicate.free().map_err(|error| of_transport(&error))
    })
}

/// The type of a callback, `treefold_interrupted` in C.
pub type Interrupted = Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>;

/// Sets the callback that can interrupt waits.
///
/// # Safety
/// This thread may call the function with this context while plans of this communicator live. The function calls this library only to
/// destroy handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_interruption(
    comm: *mut treefold_comm,
    interrupted: Interrupted,
    context: *mut c_void,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        world.set_interruption(interrupted.map(|interrupted| -> Interruption {
            // SAFETY: the caller promises that this thread may call the function.
            Rc::new(move || unsafe { interrupted(context) } != 0)
        }));
        Ok(())
    })
}
