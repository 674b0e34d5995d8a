//! The ULFM calls with which the surviving processes continue after a process is lost.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_int;

use mpi_library::{Comm, Group};

use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::{Failure, check};
use crate::mpi::calls::library::mpi;
use crate::mpi::calls::ulfm::Ulfm;

impl Ulfm {
    /// Revokes a communicator for all ranks: their calls on it fail.
    pub(crate) fn revoke(&self, comm: RawCommunicator) -> Result<(), Failure> {
        // SAFETY: the function is the library's and takes a live communicator.
        let code = unsafe { (self.revoke)(comm.handle()) };
        check("MPIX_Comm_revoke", code)
    }

    /// Creates a communicator of the surviving processes, which returns errors instead of ending the job. Collective among the survivors.
    pub(crate) fn shrink(&self, comm: RawCommunicator) -> Result<RawCommunicator, Failure> {
        let mut shrunk = Comm::UNSET;
        // SAFETY: as above; `shrunk` is room for one handle.
        let code = unsafe { (self.shrink)(comm.handle(), &raw mut shrunk) };
        check("MPIX_Comm_shrink", code)?;
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
            // After a loss, too, the survivors have agreed on the word.
            Err(failure) if failure.is_loss => Ok((word, false)),
            Err(failure) => Err(failure),
        }
    }

    /// The ranks of a communicator that this process knows to be lost, in ascending order.
    pub(crate) fn lost_ranks(&self, comm: RawCommunicator) -> Result<Vec<usize>, Failure> {
        let mut failed = Group::UNSET;
        // SAFETY: as above; `failed` is room for one handle.
        let code = unsafe { (self.get_failed)(comm.handle(), &raw mut failed) };
        check("MPIX_Comm_get_failed", code)?;
        let failed = Processes(failed);
        let mut lost = failed.ranks_in(&Processes::of(comm)?)?;
        lost.sort_unstable();
        Ok(lost)
    }
}

/// For each process of `after`, in order, its rank in `before`.
pub(crate) fn ranks_before(
    after: RawCommunicator,
    before: RawCommunicator,
) -> Result<Vec<usize>, Failure> {
    Processes::of(after)?.ranks_in(&Processes::of(before)?)
}

/// A group of processes, which is freed when this is dropped.
#[derive(Debug)]
struct Processes(Group);

impl Processes {
    fn of(comm: RawCommunicator) -> Result<Self, Failure> {
        let mut group = Group::UNSET;
        // SAFETY: the communicator is live, `group` is room for one handle.
        let code = unsafe { mpi().MPI_Comm_group(comm.handle(), &raw mut group) };
        check("MPI_Comm_group", code)?;
        Ok(Self(group))
    }

    /// The ranks of these processes in another group, which contains all of them.
    fn ranks_in(&self, other: &Self) -> Result<Vec<usize>, Failure> {
        let mut size = 0;
        // SAFETY: the group is live, `size` is a live int.
        let code = unsafe { mpi().MPI_Group_size(self.0, &raw mut size) };
        check("MPI_Group_size", code)?;
        let own: Vec<c_int> = (0..size).collect();
        let mut others = own.clone();
        if size == 0 {
            // An empty group may be the predefined one, which cannot be translated.
            return Ok(Vec::new());
        }
        // SAFETY: both groups are live, and both lists hold `size` numbers.
        let code = unsafe {
            mpi().MPI_Group_translate_ranks(
                self.0,
                size,
                own.as_ptr(),
                other.0,
                others.as_mut_ptr(),
            )
        };
        check("MPI_Group_translate_ranks", code)?;
        // MPI_UNDEFINED, which is negative, would mean that a process is not in the other group.
        let ranks = others
            .into_iter()
            .filter_map(|rank| usize::try_from(rank).ok());
        Ok(ranks.collect())
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let empty = mpi().handles.MPI_GROUP_EMPTY;
        if self.0 != empty {
            // SAFETY: the group is ours and live, and is not used afterwards.
            unsafe { mpi().MPI_Group_free(&raw mut self.0) };
        }
    }
}
