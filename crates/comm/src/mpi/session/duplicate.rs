//! Duplicates of a program's own communicators.

#![expect(unsafe_code, reason = "only the caller knows whether a handle is live")]

use mpi_library::Comm;

use crate::error::Error;
use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::Failure;
use crate::mpi::calls::library::library;
use crate::mpi::channels::lifetime::{self, Lifetime};
use crate::mpi::communicator::MpiCommunicator;

/// Names the MPI library's communicator behind an [`MpiCommunicator`], even after the [`MpiCommunicator`] was dropped.
#[derive(Clone, Copy, Debug)]
pub struct Duplicate {
    number: u64,
}

impl Duplicate {
    /// Frees the library's communicator, if all ranks have dropped the [`MpiCommunicator`] and everything that used it. Collective; the
    /// caller is the thread that calls MPI. After `MPI_Finalize`, which frees what is left, this does nothing.
    ///
    /// # Errors
    /// An MPI call failed.
    pub fn free(self) -> Result<(), Error> {
        let freed = lifetime::free_together(self.number);
        freed.map_err(|failure| failure.on(0))
    }
}

impl MpiCommunicator {
    /// Duplicates the communicator of all processes, for a program that has initialised MPI itself. Collective.
    ///
    /// # Errors
    /// Those of [`library()`] and [`duplicate`](Self::duplicate).
    pub fn world() -> Result<Self, Error> {
        let world = library()?.handles.MPI_COMM_WORLD;
        // SAFETY: the handle is the library's own; `duplicate` checks that MPI can be called.
        unsafe { Self::duplicate(world) }
    }

    /// Duplicates a communicator of the caller, so that messages of the two communicators never match. Collective.
    ///
    /// # Errors
    /// There is no MPI library, MPI is not initialised or is finalised, an MPI call failed, or an environment variable has an invalid
    /// value.
    ///
    /// # Safety
    /// `comm` is a live communicator of [`library()`], not an intercommunicator, and this thread may call MPI.
    pub unsafe fn duplicate(comm: Comm) -> Result<Self, Error> {
        // SAFETY: the caller keeps this function's contract, which `duplicate_where` shares.
        unsafe { Self::duplicate_where(comm, true) }
    }

    /// Like [`duplicate`](Self::duplicate), but messages go through a node's shared memory only if all ranks pass `true`.
    ///
    /// # Errors
    /// Those of [`duplicate`](Self::duplicate).
    ///
    /// # Safety
    /// As for [`duplicate`](Self::duplicate).
    pub unsafe fn duplicate_where(comm: Comm, wants_memory: bool) -> Result<Self, Error> {
        check_running()?;
        // SAFETY: the caller promises a live communicator, and MPI can be called, as was just checked.
        let comm = unsafe { RawCommunicator::from_handle(comm) };
        // If this call fails, the rank is not known, so the error names rank 0. A duplicate has the ranks of its parent.
        let rank = comm.rank().map_err(|failure| failure.on(0))?;
        let failed = |failure: Failure| failure.on(rank);
        let raw = comm.duplicate().map_err(failed)?;
        let lifetime = Lifetime::register(comm, raw).map_err(failed)?;
        Self::on(raw, lifetime, wants_memory)
    }

    /// MPI's handle of the duplicate, for calls that do not change it, such as `MPI_Comm_dup`. The program must not send messages on the
    /// duplicate: they could match this communicator's receives.
    pub fn handle(&self) -> Comm {
        self.raw.handle()
    }

    /// Names the MPI library's communicator, so that it can be freed after `self` was dropped.
    pub fn library_communicator(&self) -> Duplicate {
        Duplicate {
            number: self.first_number,
        }
    }
}

/// Checks that MPI can be called: it is initialised, and not finalised.
///
/// # Errors
/// MPI cannot be called, or [`library()`] fails.
pub fn check_running() -> Result<(), Error> {
    let mpi = library()?;
    let (mut is_initialised, mut is_finalised) = (0, 0);
    // SAFETY: the function may be called at any time, and writes one int (MPI 4.1, 11.4.1).
    unsafe { mpi.MPI_Initialized(&raw mut is_initialised) };
    // SAFETY: as above.
    unsafe { mpi.MPI_Finalized(&raw mut is_finalised) };
    let state = match (is_initialised != 0, is_finalised != 0) {
        (true, false) => return Ok(()),
        (false, _) => "not initialised",
        (true, true) => "finalised",
    };
    Err(Error::NotRunning { state })
}
