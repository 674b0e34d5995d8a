//! Communicators of a program's own, on duplicates of them.

#![expect(unsafe_code, reason = "a handle is what its caller says that it is")]

use mpi_library::Comm;

use super::communicator::MpiCommunicator;
use super::library::library;
use super::lifetime::{self, Lifetime};
use super::raw::{Failure, RawCommunicator};
use crate::error::Error;

/// The library's communicator of an [`MpiCommunicator`], by a name that outlives it.
#[derive(Clone, Copy, Debug)]
pub struct Duplicate {
    number: u64,
}

impl Duplicate {
    /// Frees it, if all ranks have dropped the [`MpiCommunicator`] and all that used it. Collective, and called by the thread that calls
    /// MPI. After `MPI_Finalize`, which frees what is left, this does nothing.
    ///
    /// # Errors
    /// An MPI call failed.
    pub fn free(self) -> Result<(), Error> {
        let freed = lifetime::free_together(self.number);
        freed.map_err(|failure| failure.on(0))
    }
}

impl MpiCommunicator {
    /// Duplicates a communicator of the caller's, so that messages of the two never meet. Collective.
    ///
    /// # Errors
    /// An MPI call failed, or an environment variable has a value that it cannot have.
    ///
    /// # Safety
    /// It is a live communicator of [`library()`]'s, and no intercommunicator; MPI is initialised, and this thread may call it.
    pub unsafe fn duplicate(comm: Comm) -> Result<Self, Error> {
        // SAFETY: the caller's promise.
        unsafe { Self::duplicate_where(comm, true) }
    }

    /// The same; messages go through memory that the ranks of a node share only if all ranks want that.
    ///
    /// # Errors
    /// As [`duplicate`](Self::duplicate).
    ///
    /// # Safety
    /// As [`duplicate`](Self::duplicate).
    pub unsafe fn duplicate_where(comm: Comm, wants_memory: bool) -> Result<Self, Error> {
        library()?;
        // SAFETY: the caller's promise.
        let comm = unsafe { RawCommunicator::from_handle(comm) };
        // Where even this fails, there is no rank to name. A duplicate has the ranks of its parent.
        let rank = comm.rank().map_err(|failure| failure.on(0))?;
        let failed = |failure: Failure| failure.on(rank);
        let raw = comm.duplicate().map_err(failed)?;
        let lifetime = Lifetime::register(comm, raw).map_err(failed)?;
        Self::on(raw, lifetime, wants_memory)
    }

    /// The library's communicator, by a name that can free it when this one is gone.
    pub fn library_communicator(&self) -> Duplicate {
        Duplicate {
            number: self.first_number,
        }
    }
}
