//! What a program passes, where its elements are, and why a call is passed on.

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Comm, Datatype, Op};

use crate::task::{Call, Form};

/// What a program passes, in C's terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    pub(crate) call: Call,
    pub(crate) form: Form,
    pub(crate) send: *const c_void,
    pub(crate) recv: *mut c_void,
    pub(crate) count: Count,
    pub(crate) datatype: Datatype,
    pub(crate) op: Op,
    /// Of a reduce; 0 for other calls.
    pub(crate) root: c_int,
    pub(crate) comm: Comm,
}

/// The elements of a rank, or of each.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Of(i64),
    Each(*const c_int),
    EachLarge(*const i64),
}

/// Why a call is passed on.
pub(crate) type Reason = &'static str;

/// Where the library has nothing to order, or makes an error of it.
pub(crate) const ONE_RANK: Reason = "one rank";
pub(crate) const NO_ELEMENTS: Reason = "no elements";
pub(crate) const LOCAL: Reason = "local";
pub(crate) const IN_WINDOW: Reason = "into a window, in the order in which ranks come";
pub(crate) const WRONG: Reason = "its arguments are for the library to judge";

/// What is an error here, as Open MPI 4.1 writes to the address MPI_IN_PLACE.
pub(crate) const EXSCAN_INTO_PLACE: Reason = "MPI_IN_PLACE for the results of MPI_Exscan";

/// Whether calls that are passed on for this reason have the same result in every order.
pub(crate) fn has_no_order(reason: Reason) -> bool {
    [ONE_RANK, NO_ELEMENTS, LOCAL, WRONG, EXSCAN_INTO_PLACE].contains(&reason)
}

/// What the report adds the size of an element to.
pub(crate) const ANOTHER_DATATYPE: Reason = "another datatype";

/// Where the elements are, as this rank's part in the call makes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Places {
    Apart(*const c_void, *mut c_void),
    /// Nothing is left here.
    Read(*const c_void),
    InPlace(*mut c_void),
}
