//! What a check keeps beside the library's own reduction.

use std::ffi::c_void;
use std::slice;
use std::sync::Arc;

use treefold::mpi::mpi_library::{Comm, Request};

use super::arguments::Arguments;
use super::digests::Digests;
use super::site::site;
use crate::task::Task;

/// What is compared with a result of the library's.
#[derive(Debug)]
pub(super) struct Check {
    /// The program's.
    pub(super) comm: Comm,
    /// What gathers, and what it sends: the program may change its own buffer before.
    pub(super) request: Request,
    pub(super) contribution: Vec<u64>,
    /// Where the digest goes, and the number of the call, if all ranks get the result.
    pub(super) digests: Option<(Arc<Digests>, u64)>,
    /// Where the program has started it.
    pub(super) site: Option<Arc<str>>,
    /// The library's result, once it is there.
    pub(super) library: Option<Vec<u8>>,
    /// Of the thread that has completed it.
    pub(super) other_environment: bool,
}

/// What each start of a persistent reduction gathers.
#[derive(Debug)]
pub(super) struct Repeat {
    /// The program's, on a communicator of the request's own.
    pub(super) arguments: Arguments,
    /// The program's.
    pub(super) comm: Comm,
    pub(super) rows_bytes: usize,
}

// SAFETY: the arguments' addresses are the program's, which lends what they lead to until the request is freed.
unsafe impl Send for Repeat {}

impl Check {
    pub(super) fn new(comm: Comm, contribution: Vec<u64>) -> Self {
        Self {
            comm,
            request: Request::UNSET,
            contribution,
            digests: None,
            site: site(),
            library: None,
            other_environment: false,
        }
    }

    /// Of a contribution that the program may change before it is sent.
    ///
    /// # Safety
    /// There are as many elements as the task says.
    pub(super) unsafe fn of(task: &Task, send: *const c_void, comm: Comm) -> Self {
        // SAFETY: this function's promise.
        let bytes = unsafe { slice::from_raw_parts(send.cast::<u8>(), task.width_bytes()) };
        let mut contribution = vec![0_u64; bytes.len().div_ceil(size_of::<u64>())];
        bytemuck::cast_slice_mut(&mut contribution)[..bytes.len()].copy_from_slice(bytes);
        Self::new(comm, contribution)
    }
}
