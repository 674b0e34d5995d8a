//! The end of a communicator, where ranks compare what a check has kept for it: the program frees it on all of them. Its attributes may go later, when
//! nothing is under way on it any more, and nobody can wait there.

#![allow(non_snake_case, reason = "MPI's names, and Fortran compilers'")]

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::Comm;

use super::deferred;
use super::digests;
use super::fortran::{comm_of, leave};
use super::inside::Inside;
use super::intercept::is_callable;
use super::library::{Mpi, SUCCESS};
use super::next::next;
use crate::settings::{Mode, Settings};

/// Whether there is something to compare.
fn is_check() -> bool {
    Settings::get().mode == Mode::Check && is_callable()
}

/// Compares what was kept for a communicator.
fn compare(comm: Comm) {
    let _inside = Inside::enter();
    deferred::wait(|other| other == comm);
    digests::compare(comm);
}

/// Functions that free a communicator, in C and in Fortran.
macro_rules! export {
    ($name:ident, [$($fortran:ident)+]) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(comm: *mut c_void) -> c_int {
            if is_check() && !comm.is_null() {
                // SAFETY: the program promises a communicator's address.
                compare(unsafe { Mpi::get().library.family().read(comm, 0) });
            }
            let next = next!(
                stringify!($name),
                concat!("P", stringify!($name));
                unsafe extern "C-unwind" fn(*mut c_void) -> c_int
            );
            match next {
                // SAFETY: it is the call that the program makes.
                Ok(next) => unsafe { next(comm) },
                Err(missing) => missing.code(|_| None),
            }
        }

        $(
            #[doc = concat!("`", stringify!($fortran), "`.")]
            ///
            /// # Safety
            /// As MPI's standard says.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C-unwind" fn $fortran(comm: *mut c_int, ierr: *mut c_int) {
                if is_check() {
                    // SAFETY: the address is that of a handle, and MPI can be called.
                    compare(unsafe { comm_of(Mpi::get(), comm) });
                }
                let next = next!(
                    stringify!($fortran),
                    concat!("p", stringify!($fortran));
                    unsafe extern "C-unwind" fn(*mut c_int, *mut c_int)
                );
                let mut code = SUCCESS;
                match next {
                    // SAFETY: it is the call that the program makes, with an error code.
                    Ok(next) => unsafe { next(comm, &raw mut code) },
                    Err(missing) => code = missing.code(|_| None),
                }
                // SAFETY: the address is that of an INTEGER, or NULL.
                unsafe { leave(ierr, code) };
            }
        )+
    };
}

export!(
    MPI_Comm_free,
    [mpi_comm_free_ mpi_comm_free__ mpi_comm_free MPI_COMM_FREE mpi_comm_free_f08_]
);
export!(
    MPI_Comm_disconnect,
    [mpi_comm_disconnect_ mpi_comm_disconnect__ mpi_comm_disconnect MPI_COMM_DISCONNECT mpi_comm_disconnect_f08_]
);
