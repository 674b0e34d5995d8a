//! MPI_Init and MPI_Init_thread. After them, ranks compare their settings, so the report also covers processes that never reduce.

#![allow(non_snake_case, reason = "MPI's names")]

use std::ffi::{c_char, c_int};

use crate::boundary::calls::intercept::is_callable;
use crate::boundary::check::alike;
use crate::boundary::library::fortran::leave;
use crate::boundary::library::next::next;
use crate::boundary::process::phase::set_init;
use crate::settings::Settings;

/// Registers for the report, if there is one. Ends the job if a setting is wrong or differs between ranks.
fn take_part() {
    set_init();
    let settings = Settings::get();
    if settings.stats.is_some() || !settings.wrong.is_empty() {
        is_callable();
    }
    alike::compare(settings);
}

/// `MPI_Init`.
///
/// # Safety
/// As the MPI standard requires.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    let next = next!(
        "MPI_Init", "PMPI_Init";
        unsafe extern "C-unwind" fn(*mut c_int, *mut *mut *mut c_char) -> c_int
    );
    let code = match next {
        // SAFETY: it is the call that the program makes.
        Ok(next) => unsafe { next(argc, argv) },
        Err(missing) => return missing.code(&|_| None),
    };
    take_part();
    code
}

/// `MPI_Init_thread`.
///
/// # Safety
/// As the MPI standard requires.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn MPI_Init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    let next = next!(
        "MPI_Init_thread", "PMPI_Init_thread";
        unsafe extern "C-unwind" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int
    );
    let code = match next {
        // SAFETY: it is the call that the program makes.
        Ok(next) => unsafe { next(argc, argv, required, provided) },
        Err(missing) => return missing.code(&|_| None),
    };
    take_part();
    code
}

/// The Fortran names. If they call the C functions above, nothing is done twice.
macro_rules! fortran {
    ([$($init:ident)+], [$($init_thread:ident)+]) => {
        $(
            #[doc = concat!("`", stringify!($init), "`.")]
            ///
            /// # Safety
            /// As the MPI standard requires.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C-unwind" fn $init(ierr: *mut c_int) {
                let next = next!(
                    stringify!($init),
                    concat!("p", stringify!($init));
                    unsafe extern "C-unwind" fn(*mut c_int)
                );
                match next {
                    // SAFETY: it is the call that the program makes.
                    Ok(next) => unsafe { next(ierr) },
                    // SAFETY: the address points to an INTEGER, or NULL.
                    Err(missing) => return unsafe { leave(ierr, missing.code(&|_| None)) },
                }
                take_part();
            }
        )+
        $(
            #[doc = concat!("`", stringify!($init_thread), "`.")]
            ///
            /// # Safety
            /// As the MPI standard requires.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C-unwind" fn $init_thread(
                required: *mut c_int,
                provided: *mut c_int,
                ierr: *mut c_int,
            ) {
                let next = next!(
                    stringify!($init_thread),
                    concat!("p", stringify!($init_thread));
                    unsafe extern "C-unwind" fn(*mut c_int, *mut c_int, *mut c_int)
                );
                match next {
                    // SAFETY: it is the call that the program makes.
                    Ok(next) => unsafe { next(required, provided, ierr) },
                    // SAFETY: the address points to an INTEGER, or NULL.
                    Err(missing) => return unsafe { leave(ierr, missing.code(&|_| None)) },
                }
                take_part();
            }
        )+
    };
}

fortran!(
    [mpi_init_ mpi_init__ mpi_init MPI_INIT mpi_init_f08_],
    [mpi_init_thread_ mpi_init_thread__ mpi_init_thread MPI_INIT_THREAD mpi_init_thread_f08_]
);
