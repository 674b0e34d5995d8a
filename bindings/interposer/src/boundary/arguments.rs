//! What a program passes, where its elements are, and why a call is passed on.

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Comm, Datatype, Op};

use crate::task::Call;

/// What a program passes, in C's terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments {
    pub(super) call: Call,
    pub(super) send: *const c_void,
    pub(super) recv: *mut c_void,
    pub(super) count: Count,
    pub(super) datatype: Datatype,
    pub(super) op: Op,
    /// Of a reduce; 0 for other calls.
    pub(super) root: c_int,
    pub(super) comm: Comm,
}

/// The elements of a rank, or of each.
#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    Of(i64),
    Each(*const c_int),
    EachLarge(*const i64),
}

/// Why a call is passed on.
pub(super) type Reason = &'static str;

/// What the report adds the size of an element to.
pub(super) const ANOTHER_DATATYPE: Reason = "another datatype";

/// Where the elements are, as this rank's part in the call makes it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Places {
    Apart(*const c_void, *mut c_void),
    /// Nothing is left here.
    Read(*const c_void),
    InPlace(*mut c_void),
}
