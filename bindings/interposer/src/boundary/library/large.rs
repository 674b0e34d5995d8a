//! 64-bit counts for libraries without large-count functions.
//!
//! A program may test for `MPI_Allreduce_c` (mpi4py does, by a weak reference) and otherwise call `MPI_Allreduce`. With this library loaded
//! the test succeeds even if the MPI library lacks the function. So the count is passed on to `MPI_Allreduce` as an `int` if it fits.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::slice;
use std::sync::{Mutex, PoisonError};

use treefold::mpi::mpi_library::{Comm, Passed};

use crate::boundary::library::loaded::{Communicator, Mpi};

/// Converts a count to `int`.
pub(crate) fn one(count: i64) -> Option<c_int> {
    c_int::try_from(count).ok()
}

/// The counts of all ranks as `int`s, which are never freed: MPI may read them until a request is complete (MPI 4.1, 6.12), and this module
/// does not learn when it is complete. Equal lists are stored once.
///
/// # Safety
/// `counts` is NULL, or has a count for each rank of the communicator.
pub(crate) unsafe fn each(counts: *const i64, comm: Passed<Comm>) -> Option<*const c_int> {
    static KEPT: Mutex<BTreeSet<&'static [c_int]>> = Mutex::new(BTreeSet::new());
    let mpi = Mpi::find()?;
    let comm = mpi.take(comm);
    if counts.is_null() || mpi.is_null(comm) || !mpi.can_be_called() {
        return None;
    }
    let size = Communicator(comm).size();
    // SAFETY: the caller promises it.
    let counts = unsafe { slice::from_raw_parts(counts, size) };
    let counts: Option<Vec<c_int>> = counts.iter().map(|&count| one(count)).collect();
    let counts = counts?;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let found = kept.get(&counts[..]).copied();
    let counts = found.unwrap_or_else(|| {
        let counts: &'static [c_int] = counts.leak();
        kept.insert(counts);
        counts
    });
    Some(counts.as_ptr())
}
