//! Reads attributes of communicators.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{c_int, c_void};
use std::ptr;

use mpi_library::{Comm, MPI_SUCCESS};

use crate::mpi::calls::library::mpi;

/// A predefined `int` attribute of a live communicator; `None` if it is not set.
///
/// # Errors
/// The error code that `MPI_Comm_get_attr` returned.
pub(crate) fn int(comm: Comm, key: c_int) -> Result<Option<c_int>, c_int> {
    let value = address(comm, key)?.filter(|value| !value.is_null());
    // SAFETY: the attribute is set. Its value is a pointer to an int (MPI 4.1, 9.1.2) that lives as long as MPI does.
    Ok(value.map(|value| unsafe { *value.cast::<c_int>() }))
}

/// The value of an attribute of a live communicator; `None` if it is not set.
///
/// # Errors
/// Those of [`int`].
pub(crate) fn address(comm: Comm, key: c_int) -> Result<Option<*mut c_void>, c_int> {
    let (mut value, mut is_set) = (ptr::null_mut::<c_void>(), 0);
    // SAFETY: the handle is live; MPI writes the attribute's value, a pointer, to `value`.
    let code =
        unsafe { mpi().MPI_Comm_get_attr(comm, key, (&raw mut value).cast(), &raw mut is_set) };
    match code {
        MPI_SUCCESS => Ok((is_set != 0).then_some(value)),
        code => Err(code),
    }
}
