//! Finds the functions of User-Level Failure Mitigation (ULFM), with which ranks go on without processes that have died.
//!
//! These functions are not part of MPI 4.1. Open MPI has them from 5.0 on; they work in jobs that `mpirun --with-ft ulfm` has started.
//! MPICH has functions of these names, but no tested version of MPICH reports that a process has died.

use std::ffi::c_int;
use std::sync::OnceLock;

use mpi_library::{Comm, Family, Group};

use crate::mpi::calls::attribute;
use crate::mpi::calls::library::mpi;

type Revoke = unsafe extern "C-unwind" fn(Comm) -> c_int;
type Shrink = unsafe extern "C-unwind" fn(Comm, *mut Comm) -> c_int;
type Agree = unsafe extern "C-unwind" fn(Comm, *mut c_int) -> c_int;
type GetFailed = unsafe extern "C-unwind" fn(Comm, *mut Group) -> c_int;

/// The functions of ULFM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ulfm {
    pub(crate) revoke: Revoke,
    pub(crate) shrink: Shrink,
    pub(crate) agree: Agree,
    pub(crate) get_failed: GetFailed,
}

/// Why the functions are missing.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    /// The library's name and version.
    pub(crate) library: String,
    pub(crate) advice: &'static str,
}

impl Ulfm {
    /// The library's functions, if they work.
    pub(crate) fn find() -> Result<Self, Missing> {
        static FOUND: OnceLock<Result<Ulfm, Missing>> = OnceLock::new();
        FOUND.get_or_init(look_up).clone()
    }
}

fn look_up() -> Result<Ulfm, Missing> {
    let mpi = mpi();
    let missing = |advice| Missing {
        library: mpi.choice().version.clone(),
        advice,
    };
    let functions = || {
        Some(Ulfm {
            revoke: mpi.MPIX_Comm_revoke()?,
            shrink: mpi.MPIX_Comm_shrink()?,
            agree: mpi.MPIX_Comm_agree()?,
            get_failed: mpi.MPIX_Comm_get_failed()?,
        })
    };
    let functions = functions().filter(|_| mpi.family() == Family::OpenMpi);
    let Some(functions) = functions else {
        return Err(missing(
            "; Open MPI from 5.0 on does, if `mpirun --with-ft ulfm` starts the job",
        ));
    };
    let is_on = mpi
        .constants
        .MPIX_FT
        .map(|key| attribute::int(mpi.handles.MPI_COMM_WORLD, key));
    match is_on {
        Some(Ok(Some(1..))) => Ok(functions),
        _ => Err(missing("; it does if started by `mpirun --with-ft ulfm`")),
    }
}
