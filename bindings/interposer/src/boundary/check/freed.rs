//! Wraps MPI_Comm_free and MPI_Comm_disconnect for a check. All ranks make these calls together, so they compare their results here. MPI
//! may delete the communicator's attributes only later, when ranks cannot wait for each other.

use std::ffi::c_void;

use treefold::mpi::mpi_library::Comm;

use crate::boundary::calls::intercept::is_callable;
use crate::boundary::check::deferred;
use crate::boundary::check::digests;
use crate::boundary::library::fortran::comm_of;
use crate::boundary::library::loaded::Mpi;
use crate::boundary::library::next::{export_c, export_fortran};
use crate::boundary::process::inside::Inside;
use crate::settings::{Mode, Settings};

/// Whether there is anything to compare.
fn is_check() -> bool {
    Settings::get().mode == Mode::Check && is_callable()
}

/// Compares the digests and pending results of a communicator.
fn compare(comm: Comm) {
    let _inside = Inside::enter();
    deferred::wait(|other| other == comm);
    digests::compare(comm);
}

/// Defines a function that frees a communicator, in C and in Fortran.
macro_rules! export {
    ($name:ident, $small:literal, $capitals:literal) => {
        export_c!($name(comm: *mut c_void), |library| {
            if is_check() && !comm.is_null() {
                // SAFETY: the program promises a communicator's address.
                compare(unsafe { Mpi::get().library.family().read(comm, 0) });
            }
            library()
        });

        export_fortran!($small, $capitals, (comm), |library| {
            if is_check() {
                // SAFETY: the address points to a handle, and MPI can be called.
                compare(unsafe { comm_of(Mpi::get(), comm) });
            }
            library()
        });
    };
}

export!(MPI_Comm_free, "mpi_comm_free", "MPI_COMM_FREE");
export!(
    MPI_Comm_disconnect,
    "mpi_comm_disconnect",
    "MPI_COMM_DISCONNECT"
);
