//! Wraps MPI_Init and MPI_Init_thread. After them, each process compares settings and registers for the report, even if it never reduces.

use std::ffi::{c_char, c_int};

use crate::boundary::calls::intercept::is_callable;
use crate::boundary::check::alike;
use crate::boundary::library::loaded::SUCCESS;
use crate::boundary::library::next::{export_c, export_fortran};
use crate::boundary::process::phase::set_init;
use crate::settings::Settings;

/// Initialises the MPI library. Then registers for the report, if any, and ends the job if a setting is wrong or differs between ranks.
fn init(library: impl FnOnce() -> c_int) -> c_int {
    let code = library();
    if code != SUCCESS {
        return code;
    }
    set_init();
    let settings = Settings::get();
    if settings.stats.is_some() || !settings.wrong.is_empty() {
        is_callable();
    }
    alike::compare(settings);
    code
}

export_c!(MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char), |library| init(library));
export_c!(
    MPI_Init_thread(argc: *mut c_int, argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int),
    |library| init(library)
);

// The MPI library's Fortran functions may call the C functions above; settings are still compared only once.
export_fortran!("mpi_init", "MPI_INIT", (), |library| init(library));
export_fortran!(
    "mpi_init_thread",
    "MPI_INIT_THREAD",
    (required, provided),
    |library| init(library)
);
