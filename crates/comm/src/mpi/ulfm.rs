//! Going on without processes that have died: the functions of User-Level Failure Mitigation (ULFM), where the library has them.
//!
//! They are not part of MPI 4.1 yet. Open MPI has them from 5.0 on, and they work where `mpirun --with-ft ulfm` has started it. MPICH has functions of these names, but no MPICH that was tried
//! reports that a process has died.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_int;
use std::sync::OnceLock;

use mpi_library::{Comm, Family, Group};

use super::library::mpi;
use super::raw::{Failure, RawCommunicator, check};

type Revoke = unsafe extern "C-unwind" fn(Comm) -> c_int;
type Shrink = unsafe extern "C-unwind" fn(Comm, *mut Comm) -> c_int;
type Agree = unsafe extern "C-unwind" fn(Comm, *mut c_int) -> c_int;
type GetFailed = unsafe extern "C-unwind" fn(Comm, *mut Group) -> c_int;

/// The functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ulfm {
    revoke: Revoke,
    shrink: Shrink,
    agree: Agree,
    get_failed: GetFailed,
}

/// Why there are none.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    /// The library's name and version.
    pub(super) library: String,
    pub(super) advice: &'static str,
}

impl Ulfm {
    /// The library's, if they work.
    pub(super) fn find() -> Result<Self, Missing> {
        static FOUND: OnceLock<Result<Ulfm, Missing>> = OnceLock::new();
        FOUND.get_or_init(look_up).clone()
    }

    /// Ends a communicator for all ranks: their calls on it fail.
    pub(super) fn revoke(&self, comm: RawCommunicator) -> Result<(), Failure> {
        // SAFETY: the function is the library's and takes a live communicator.
        let code = unsafe { (self.revoke)(comm.handle()) };
        check("MPIX_Comm_revoke", code)
    }

    /// The communicator of the processes that are left, which returns errors. Collective among them.
    pub(super) fn shrink(&self, comm: RawCommunicator) -> Result<RawCommunicator, Failure> {
        let mut shrunk = Comm::UNSET;
        // SAFETY: as above; `shrunk` is room for one handle.
        let code = unsafe { (self.shrink)(comm.handle(), &raw mut shrunk) };
        check("MPIX_Comm_shrink", code)?;
        // SAFETY: MPIX_Comm_shrink succeeded, so it has written the handle of a communicator that it has made.
        let shrunk = unsafe { RawCommunicator::from_handle(shrunk) };
        shrunk.return_errors()?;
        Ok(shrunk)
    }

    /// The bits that all processes that are left have in their words, and whether no process is lost. Collective among them, and the same
    /// on all of them.
    pub(super) fn agree(
        &self,
        comm: RawCommunicator,
        word: c_int,
    ) -> Result<(c_int, bool), Failure> {
        let mut word = word;
        // SAFETY: as above; `word` is a live int.
        let code = unsafe { (self.agree)(comm.handle(), &raw mut word) };
        match check("MPIX_Comm_agree", code) {
            Ok(()) => Ok((word, true)),
            // The word is agreed on all the same.
            Err(failure) if failure.is_loss => Ok((word, false)),
            Err(failure) => Err(failure),
        }
    }

    /// The ranks of a communicator that this process knows to be lost, in ascending order.
    pub(super) fn lost_ranks(&self, comm: RawCommunicator) -> Result<Vec<usize>, Failure> {
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

/// Whether an error class of the library's says that a process has died, or that a communicator is revoked.
pub(super) fn is_loss(class: c_int) -> bool {
    let constants = mpi().constants;
    let losses = [
        constants.MPIX_ERR_PROC_FAILED,
        constants.MPIX_ERR_PROC_FAILED_PENDING,
        constants.MPIX_ERR_REVOKED,
    ];
    losses.contains(&Some(class)) && Ulfm::find().is_ok()
}

/// The ranks in `before` of the processes of `after`, in their order there.
pub(super) fn ranks_before(
    after: RawCommunicator,
    before: RawCommunicator,
) -> Result<Vec<usize>, Failure> {
    Processes::of(after)?.ranks_in(&Processes::of(before)?)
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
            "; Open MPI from 5.0 on does, started by `mpirun --with-ft ulfm`",
        ));
    };
    let is_on = mpi
        .constants
        .MPIX_FT
        .map(|key| RawCommunicator::world().int_attribute(key));
    match is_on {
        Some(Ok(Some(1..))) => Ok(functions),
        _ => Err(missing("; it does, started by `mpirun --with-ft ulfm`")),
    }
}

/// Processes of a communicator; freed when it is dropped.
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

    /// The ranks that its processes have in another group, which has all of them.
    fn ranks_in(&self, other: &Self) -> Result<Vec<usize>, Failure> {
        let mut size = 0;
        // SAFETY: the group is live, `size` is a live int.
        let code = unsafe { mpi().MPI_Group_size(self.0, &raw mut size) };
        check("MPI_Group_size", code)?;
        let own: Vec<c_int> = (0..size).collect();
        let mut others = own.clone();
        if size == 0 {
            // The group may be the predefined one, of which there is nothing to translate.
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
        // MPI_UNDEFINED, which is negative, would be no rank of the other group.
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
