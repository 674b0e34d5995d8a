//! The data that a check keeps for each reduction that the MPI library runs.

use std::ffi::c_void;
use std::slice;
use std::sync::Arc;

use treefold::mpi::mpi_library::{Comm, Request};

use crate::boundary::calls::arguments::Arguments;
use crate::boundary::check::digests::Digests;
use crate::boundary::process::site::site;
use crate::task::Task;

/// What a check keeps to compare the MPI library's result with treefold's reduction of the gathered contributions.
#[derive(Debug)]
pub(crate) struct Check {
    /// The program's communicator.
    pub(crate) comm: Comm,
    /// The request of the gather, and a copy of the contribution: the program may change its own buffer before the
    /// contribution is sent.
    pub(crate) request: Request,
    pub(crate) contribution: Vec<u64>,
    /// Where the result's digest is stored, and the number of the call; `None` unless all ranks get the same result.
    pub(crate) digests: Option<(Arc<Digests>, u64)>,
    /// The place in the program that started the reduction.
    pub(crate) site: Option<Arc<str>>,
    /// The MPI library's result, once it is complete.
    pub(crate) library: Option<Vec<u8>>,
    /// Whether the thread that completed the reduction had a non-default floating-point environment.
    pub(crate) other_environment: bool,
}

/// The gather that each start of a persistent reduction repeats.
#[derive(Debug)]
pub(crate) struct Repeat {
    /// The program's arguments, with the request's own communicator instead of the program's.
    pub(crate) arguments: Arguments,
    /// The program's communicator.
    pub(crate) comm: Comm,
    pub(crate) rows_bytes: usize,
}

// SAFETY: the program lends the memory behind the arguments' addresses until the request is freed.
unsafe impl Send for Repeat {}

impl Check {
    pub(crate) fn new(comm: Comm, contribution: Vec<u64>) -> Self {
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

    /// Copies a contribution, since the program may change its buffer before the contribution is sent.
    ///
    /// # Safety
    /// `send` has as many elements as the task says.
    pub(crate) unsafe fn of(task: &Task, send: *const c_void, comm: Comm) -> Self {
        // SAFETY: the caller promises that many elements.
        let bytes = unsafe { slice::from_raw_parts(send.cast::<u8>(), task.width_bytes()) };
        let mut contribution = vec![0_u64; bytes.len().div_ceil(size_of::<u64>())];
        bytemuck::cast_slice_mut(&mut contribution)[..bytes.len()].copy_from_slice(bytes);
        Self::new(comm, contribution)
    }
}
