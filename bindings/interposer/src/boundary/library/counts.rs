//! The count arguments of C's functions, and 64-bit counts for libraries without large-count functions.
//!
//! A program may test for `MPI_Allreduce_c` (mpi4py does, by a weak reference) and call `MPI_Allreduce` if it is missing. With this library
//! loaded, the test succeeds even if the MPI library lacks the function. So the count is passed on to `MPI_Allreduce` if it fits an int.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::slice;
use std::sync::{Mutex, PoisonError};

use treefold::mpi::mpi_library::{Comm, Passed};

use crate::boundary::library::loaded::{Communicator, Mpi};

/// The type of a count argument: one number, or the address of a list with a number for each rank. MPI_Count has 64 bits in every family.
pub(crate) trait CountArgument {
    /// The type of this argument in the function with small counts.
    type Small;

    /// The argument as `int`s, if all counts fit.
    ///
    /// # Safety
    /// An address is NULL, or has a count for each rank of the communicator.
    unsafe fn small(self, comm: Passed<Comm>) -> Option<Self::Small>;
}

impl CountArgument for c_int {
    type Small = Self;

    unsafe fn small(self, _comm: Passed<Comm>) -> Option<Self> {
        Some(self)
    }
}

impl CountArgument for *const c_int {
    type Small = Self;

    unsafe fn small(self, _comm: Passed<Comm>) -> Option<Self> {
        Some(self)
    }
}

impl CountArgument for i64 {
    type Small = c_int;

    unsafe fn small(self, _comm: Passed<Comm>) -> Option<c_int> {
        c_int::try_from(self).ok()
    }
}

impl CountArgument for *const i64 {
    type Small = *const c_int;

    /// The converted list is never freed: MPI may read it until a request is complete (MPI 4.1, 6.12), and this module does not learn when
    /// a request is complete. Equal lists are stored once.
    unsafe fn small(self, comm: Passed<Comm>) -> Option<*const c_int> {
        static KEPT: Mutex<BTreeSet<&'static [c_int]>> = Mutex::new(BTreeSet::new());
        let mpi = Mpi::find()?;
        let comm = mpi.take(comm);
        if self.is_null() || mpi.is_null(comm) || !mpi.can_be_called() {
            return None;
        }
        let size = Communicator(comm).size();
        // SAFETY: the caller promises a count for each rank, as the address is not NULL.
        let counts = unsafe { slice::from_raw_parts(self, size) };
        let counts = counts.iter().map(|&count| c_int::try_from(count).ok());
        let counts = counts.collect::<Option<Vec<c_int>>>()?;
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.get(&counts[..]).copied();
        let counts = found.unwrap_or_else(|| {
            let counts: &'static [c_int] = counts.leak();
            kept.insert(counts);
            counts
        });
        Some(counts.as_ptr())
    }
}

/// A count argument that Fortran passes as an address.
pub(crate) trait FortranCount {
    /// # Safety
    /// The address points to an INTEGER, or to one for each rank.
    unsafe fn at(address: *const c_int) -> Self;
}

impl FortranCount for c_int {
    unsafe fn at(address: *const c_int) -> Self {
        // SAFETY: the caller promises the address of an INTEGER.
        unsafe { *address }
    }
}

impl FortranCount for *const c_int {
    unsafe fn at(address: *const c_int) -> Self {
        address
    }
}
