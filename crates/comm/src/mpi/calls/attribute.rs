//! Reads predefined attributes of communicators.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_int;
use std::ptr;

use mpi_library::{Comm, MPI_SUCCESS};

use crate::mpi::calls::library::mpi;

/// A predefined `int` attribute of a live communicator; `None` if it is not set.
///
/// # Errors
/// The error code that `MPI_Comm_get_attr` returned.
pub(crate) fn int(comm: Comm, key: c_int) -> Result<Option<c_int>, c_int> {
    let (mut value, mut is_set) = (ptr::null_mut::<c_int>(), 0);
    // SAFETY: the handle is live. The attribute's value is a pointer to an int (MPI 4.1, 9.1.2), which MPI writes to `value`.
    let code =
        unsafe { mpi().MPI_Comm_get_attr(comm, key, (&raw mut value).cast(), &raw mut is_set) };
    if code != MPI_SUCCESS {
        return Err(code);
    }
    if is_set == 0 || value.is_null() {
        return Ok(None);
    }
    // SAFETY: the attribute is set, so MPI has written a pointer to an int that lives as long as MPI does.
    Ok(Some(unsafe { *value }))
}
