//! The return codes of MPI's functions, as results.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{c_char, c_int};

use mpi_library::{MAX_ERROR_STRING, MPI_SUCCESS};

use crate::error::Error;
use crate::mpi::calls::library::mpi;
use crate::mpi::calls::ulfm::Ulfm;

/// An MPI function that did not return `MPI_SUCCESS`.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) code: i32,
    pub(crate) text: String,
    /// Whether the error class is `MPI_ERR_TRUNCATE`.
    pub(crate) truncated: bool,
    /// Whether a process has died, or the communicator is revoked.
    pub(crate) is_loss: bool,
}

impl Failure {
    /// The failure as an error of `rank`.
    pub(crate) fn on(self, rank: usize) -> Error {
        if self.is_loss {
            // The caller, which knows the communicator, adds the lost ranks.
            return Error::Revoked { rank };
        }
        Error::Mpi {
            rank,
            call: self.call,
            code: self.code,
            text: self.text,
        }
    }
}

/// Converts a return code to a result. A failure has the library's error text.
#[inline]
pub(crate) fn check(call: &'static str, code: c_int) -> Result<(), Failure> {
    if code == MPI_SUCCESS {
        Ok(())
    } else {
        Err(failure(call, code))
    }
}

/// Returns the value that an MPI function writes, or the function's failure. `value` is the variable's initial value.
#[inline]
pub(crate) fn written<T>(
    call: &'static str,
    mut value: T,
    write: impl FnOnce(*mut T) -> c_int,
) -> Result<T, Failure> {
    check(call, write(&raw mut value)).map(|()| value)
}

/// Makes the failure of a call from its return code.
#[cold]
pub(crate) fn failure(call: &'static str, code: c_int) -> Failure {
    let mut class = 0;
    // SAFETY: `class` is a live int to write to; the function accepts any code (MPI 4.1, 9.4).
    let known = unsafe { mpi().MPI_Error_class(code, &raw mut class) };
    let is_known = known == MPI_SUCCESS;
    let mut buffer = [0_u8; MAX_ERROR_STRING];
    let mut length = 0;
    // SAFETY: the buffer has the MPI_MAX_ERROR_STRING characters that the standard requires.
    unsafe {
        mpi().MPI_Error_string(code, buffer.as_mut_ptr().cast::<c_char>(), &raw mut length);
    }
    let text = &buffer[..usize::try_from(length).unwrap_or(0).min(buffer.len())];
    Failure {
        call,
        code,
        text: String::from_utf8_lossy(text).into_owned(),
        truncated: is_known && class == mpi().constants.MPI_ERR_TRUNCATE,
        is_loss: is_known && is_loss(class),
    }
}

/// Whether an error class says that a process has died, or that a communicator is revoked.
fn is_loss(class: c_int) -> bool {
    let constants = mpi().constants;
    let losses = [
        constants.MPIX_ERR_PROC_FAILED,
        constants.MPIX_ERR_PROC_FAILED_PENDING,
        constants.MPIX_ERR_REVOKED,
    ];
    losses.contains(&Some(class)) && Ulfm::find().is_ok()
}
