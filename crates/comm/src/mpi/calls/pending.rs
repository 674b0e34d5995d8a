//! Requests of messages under way.
//!
//! A request owns its buffer, so dropping a request at any time is sound: a buffer that MPI still uses is leaked.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_int;
use std::mem;

use mpi_library::{MPI_SUCCESS, Request, Status};

use crate::mpi::calls::failure::{Failure, check, written};
use crate::mpi::calls::library::mpi;
use crate::mpi::calls::misdirected::WorldReturnsErrors;

/// The request of a non-blocking send, receive or barrier, with its buffer.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    request: Request,
    buffer: Vec<u8>,
    /// The receiver or the sender; 0 for a barrier.
    peer: c_int,
    receives: bool,
    /// The code that `MPI_Test` returned when it ended the request; `None` while MPI still works on the request.
    outcome: Option<c_int>,
}

impl PendingRequest {
    /// The request of a send, with its buffer, or of a barrier.
    pub(crate) fn of_send(request: Request, buffer: Vec<u8>, peer: c_int) -> Self {
        Self {
            request,
            buffer,
            peer,
            receives: false,
            outcome: None,
        }
    }

    /// The request of a receive, with its buffer.
    pub(crate) fn of_receive(request: Request, buffer: Vec<u8>, peer: c_int) -> Self {
        let mut this = Self::of_send(request, buffer, peer);
        this.receives = true;
        this
    }

    /// Whether the request is a receive that MPI still works on.
    pub(crate) fn is_receiving(&self) -> bool {
        self.receives && self.outcome.is_none()
    }

    /// Whether the request is a receive that has ended.
    #[inline]
    pub(crate) fn is_received(&self) -> bool {
        self.receives && self.outcome.is_some()
    }

    /// Whether MPI still works on the request.
    pub(crate) fn is_pending(&self) -> bool {
        self.outcome.is_none()
    }

    /// The receiver or the sender; 0 for a barrier.
    pub(crate) fn peer(&self) -> usize {
        index(self.peer)
    }

    /// The length of the message in bytes; for a pending receive, the maximum.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Tests whether MPI is done with the request. If so, truncates the buffer of a receive to the message's length.
    pub(crate) fn test(&mut self) -> Result<bool, Failure> {
        if let Some(code) = self.outcome {
            return check("MPI_Test", code).map(|()| true);
        }
        let quiet_world = if self.receives {
            WorldReturnsErrors::where_needed()?
        } else {
            None
        };
        let mut flag = 0;
        let mut status = Status::UNSET;
        // SAFETY: the request is live until MPI says it is complete, and after that this line is
        // not reached; `flag` and `status` have room for one value each.
        let code = unsafe { mpi().MPI_Test(&raw mut self.request, &raw mut flag, &raw mut status) };
        drop(quiet_world);
        // A request that failed is over: MPI no longer touches the request's buffer (MPI 4.1, 3.7.3).
        if code != MPI_SUCCESS || flag != 0 {
            self.outcome = Some(code);
        }
        check("MPI_Test", code)?;
        if self.outcome.is_some() && self.receives {
            // SAFETY: MPI_Test has written the status, as the request is complete.
            let bytes = unsafe { count_bytes(&status) }?;
            // A cancelled receive may report no count.
            self.buffer.truncate(usize::try_from(bytes).unwrap_or(0));
        }
        Ok(self.outcome.is_some())
    }

    /// Cancels a receive, so that [`test`](PendingRequest::test) completes it without the sender.
    pub(crate) fn cancel_receive(&mut self) -> Result<(), Failure> {
        if self.outcome.is_some() || !self.receives {
            return Ok(());
        }
        // SAFETY: the request is live, as it is pending.
        let code = unsafe { mpi().MPI_Cancel(&raw mut self.request) };
        check("MPI_Cancel", code)
    }

    /// The buffer of a complete request.
    pub(crate) fn into_buffer(mut self) -> Vec<u8> {
        assert!(
            self.outcome.is_some(),
            "MPI owns the buffer until the request is complete"
        );
        mem::take(&mut self.buffer)
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if self.outcome.is_none() {
            // MPI may still read or write the buffer, so it is leaked.
            mem::forget(mem::take(&mut self.buffer));
        }
    }
}

/// `MPI_Get_count`: the number of bytes of a message.
///
/// # Safety
/// MPI has written the status.
pub(crate) unsafe fn count_bytes(status: &Status) -> Result<c_int, Failure> {
    let byte = mpi().handles.MPI_UINT8_T;
    // SAFETY: the caller promises that MPI has written the status; `bytes` is a live int.
    written("MPI_Get_count", 0, |bytes| unsafe {
        mpi().MPI_Get_count(status, byte, bytes)
    })
}

/// Converts a rank or a size that MPI has returned.
pub(crate) fn index(number: c_int) -> usize {
    usize::try_from(number).expect("MPI counts from 0")
}
