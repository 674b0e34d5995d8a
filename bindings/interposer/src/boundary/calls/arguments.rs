//! The arguments and buffers of an MPI call, and the reasons for passing it on to the MPI library.

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Comm, Datatype, Op};

use crate::task::{Call, Form};

/// The arguments of a call from C or Fortran, as C passes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    pub(crate) call: Call,
    pub(crate) form: Form,
    pub(crate) send: *const c_void,
    pub(crate) recv: *mut c_void,
    pub(crate) count: Count,
    pub(crate) datatype: Datatype,
    pub(crate) op: Op,
    /// The root of a reduce; 0 for other calls.
    pub(crate) root: c_int,
    pub(crate) comm: Comm,
}

/// The count argument: one number for all ranks, or one for each rank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Of(i64),
    Each(*const c_int),
    EachLarge(*const i64),
}

impl From<c_int> for Count {
    #[inline]
    fn from(count: c_int) -> Self {
        Self::Of(count.into())
    }
}

impl From<i64> for Count {
    #[inline]
    fn from(count: i64) -> Self {
        Self::Of(count)
    }
}

impl From<*const c_int> for Count {
    #[inline]
    fn from(counts: *const c_int) -> Self {
        Self::Each(counts)
    }
}

impl From<*const i64> for Count {
    #[inline]
    fn from(counts: *const i64) -> Self {
        Self::EachLarge(counts)
    }
}

/// Why a call is passed on to the MPI library.
pub(crate) type Reason = &'static str;

/// Reasons that several functions use. [`has_no_order`] is true for a reason if the order of combining does not matter.
pub(crate) const ONE_RANK: Reason = "one rank";
pub(crate) const NO_ELEMENTS: Reason = "no elements";
pub(crate) const LOCAL: Reason = "local";
pub(crate) const IN_WINDOW: Reason = "into a window, in the order in which ranks arrive";
pub(crate) const WRONG: Reason = "invalid arguments, left to the MPI library";

/// An error that treefold raises itself, because Open MPI 4.1 would write to the address
/// MPI_IN_PLACE.
pub(crate) const EXSCAN_INTO_PLACE: Reason = "MPI_IN_PLACE for the results of MPI_Exscan";

/// Whether calls that are passed on for this reason have the same result in every order.
pub(crate) fn has_no_order(reason: Reason) -> bool {
    [ONE_RANK, NO_ELEMENTS, LOCAL, WRONG, EXSCAN_INTO_PLACE].contains(&reason)
}

/// A reason to which the report appends the size of an element.
pub(crate) const ANOTHER_DATATYPE: Reason = "another datatype";

/// The buffers of a call, according to this rank's role.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallBuffers {
    Apart(*const c_void, *mut c_void),
    /// This rank gets no result.
    Read(*const c_void),
    InPlace(*mut c_void),
}
