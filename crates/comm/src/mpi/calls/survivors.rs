//! The ULFM calls with which the surviving processes continue after a process is lost.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_int;

use mpi_library::Comm;

use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::{Failure, check, written};
use crate::mpi::calls::processes::Processes;
use crate::mpi::calls::ulfm::Ulfm;

impl Ulfm {
    /// Revokes a communicator for all ranks, so that their calls on the communicator fail.
    pub(crate) fn revoke(&self, comm: RawCommunicator) -> Result<(), Failure> {
        // SAFETY: the function is the library's and takes a live communicator.
        let code = unsafe { (self.revoke)(comm.handle()) };
        check("MPIX_Comm_revoke", code)
    }

    /// Creates a communicator of the surviving processes, which returns errors instead of ending the job. Collective among the survivors.
    pub(crate) fn shrink(&self, comm: RawCommunicator) -> Result<RawCommunicator, Failure> {
        // SAFETY: as above; `shrunk` has room for one handle.
        let shrink = |shrunk| unsafe { (self.shrink)(comm.handle(), shrunk) };
        let shrunk = written("MPIX_Comm_shrink", Comm::UNSET, shrink)?;
        // SAFETY: MPIX_Comm_shrink succeeded, so it has written the handle of a new communicator.
        let shrunk = unsafe { RawCommunicator::from_handle(shrunk) };
        shrunk.return_errors()?;
        Ok(shrunk)
    }

    /// Returns the bitwise AND of the surviving processes' words, and true if no process is lost. Collective among the survivors; all get
    /// the same result.
    pub(crate) fn agree(
        &self,
        comm: RawCommunicator,
        word: c_int,
    ) -> Result<(c_int, bool), Failure> {
        let mut word = word;
        // SAFETY: as above; `word` is a live int.
        let code = unsafe { (self.agree)(comm.handle(), &raw mut word) };
        match check("MPIX_Comm_agree", code) {
            Ok(()) => Ok((word, true)),
            // Even after a loss, the survivors have agreed on the word.
            Err(failure) if failure.is_loss => Ok((word, false)),
            Err(failure) => Err(failure),
        }
    }

    /// The ranks of a communicator that this process knows to be lost, in ascending order.
    pub(crate) fn lost_ranks(&self, comm: RawCommunicator) -> Result<Vec<usize>, Failure> {
        // SAFETY: as above; `failed` has room for one handle.
        let failed = Processes::made("MPIX_Comm_get_failed", |failed| unsafe {
            (self.get_failed)(comm.handle(), failed)
        })?;
        let mut lost = failed.ranks_in(&comm.processes()?)?;
        lost.sort_unstable();
        Ok(lost)
    }
}

/// For each process of `after`, in order, its rank in `before`.
pub(crate) fn ranks_before(
    after: RawCommunicator,
    before: RawCommunicator,
) -> Result<Vec<usize>, Failure> {
    after.processes()?.ranks_in(&before.processes()?)
}
