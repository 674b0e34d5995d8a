//! Reads the arguments of Fortran calls. They are addresses of integers, and some of these integers are handles.

use std::ffi::c_int;

use treefold::mpi::mpi_library::{Comm, Datatype, Op};

use crate::boundary::library::loaded::Mpi;

/// # Safety
/// The address points to an INTEGER.
pub(crate) unsafe fn integer(address: *const c_int) -> c_int {
    // SAFETY: the caller promises the address of an INTEGER.
    unsafe { *address }
}

/// # Safety
/// The address points to a Fortran handle, and MPI is initialised.
pub(crate) unsafe fn datatype_of(mpi: &Mpi, address: *const c_int) -> Datatype {
    // SAFETY: the caller promises the address of a handle.
    let number = unsafe { *address };
    // SAFETY: the caller promises that MPI is initialised, and the program promises a datatype's number.
    let datatype = unsafe { mpi.library.type_from_fortran(number) };
    // A library that converts no handles has no Fortran.
    datatype.unwrap_or(mpi.library.handles.MPI_DATATYPE_NULL)
}

/// # Safety
/// As for [`datatype_of`].
pub(crate) unsafe fn op_of(mpi: &Mpi, address: *const c_int) -> Op {
    // SAFETY: the caller promises the address of a handle.
    let number = unsafe { *address };
    // SAFETY: the caller promises that MPI is initialised, and the program promises that the number is an operator's.
    let op = unsafe { mpi.library.op_from_fortran(number) };
    op.unwrap_or(mpi.library.handles.MPI_OP_NULL)
}

/// # Safety
/// As for [`datatype_of`].
pub(crate) unsafe fn comm_of(mpi: &Mpi, address: *const c_int) -> Comm {
    // SAFETY: the caller promises the address of a handle.
    let number = unsafe { *address };
    // SAFETY: the caller promises that MPI is initialised, and the program promises a communicator's number.
    let comm = unsafe { mpi.library.comm_from_fortran(number) };
    comm.unwrap_or(mpi.library.handles.MPI_COMM_NULL)
}

/// # Safety
/// The address points to an INTEGER, or is NULL.
pub(crate) unsafe fn leave(ierr: *mut c_int, code: c_int) {
    if !ierr.is_null() {
        // SAFETY: the caller promises the address of an INTEGER, as it is not NULL.
        unsafe { *ierr = code };
    }
}
