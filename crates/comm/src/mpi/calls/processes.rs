//! Groups of processes.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_int;

use mpi_library::Group;

use crate::mpi::calls::failure::{Failure, check, written};
use crate::mpi::calls::library::mpi;

/// A group of processes. Dropping this value frees the group.
#[derive(Debug)]
pub(crate) struct Processes(Group);

impl Processes {
    /// The group that an MPI function makes.
    pub(crate) fn made(
        call: &'static str,
        make: impl FnOnce(*mut Group) -> c_int,
    ) -> Result<Self, Failure> {
        written(call, Group::UNSET, make).map(Self)
    }

    /// MPI's handle of the group.
    pub(crate) fn handle(&self) -> Group {
        self.0
    }

    /// The ranks of these processes in another group, which contains all of them.
    pub(crate) fn ranks_in(&self, other: &Self) -> Result<Vec<usize>, Failure> {
        // SAFETY: the group is live, `size` is a live int.
        let size = |size| unsafe { mpi().MPI_Group_size(self.0, size) };
        let size = written("MPI_Group_size", 0, size)?;
        if size == 0 {
            // An empty group may be the predefined one, whose ranks cannot be translated.
            return Ok(Vec::new());
        }
        let own: Vec<c_int> = (0..size).collect();
        let mut others = own.clone();
        let (from, to) = (own.as_ptr(), others.as_mut_ptr());
        // SAFETY: both groups are live, and both lists hold `size` numbers.
        let code = unsafe { mpi().MPI_Group_translate_ranks(self.0, size, from, other.0, to) };
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
        if self.0 != mpi().handles.MPI_GROUP_EMPTY {
            // SAFETY: the group is ours and live, and is not used afterwards.
            unsafe { mpi().MPI_Group_free(&raw mut self.0) };
        }
    }
}
