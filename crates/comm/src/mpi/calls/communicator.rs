//! The MPI calls that find a communicator's ranks, exchange messages, and duplicate or free the communicator.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_int;
use std::process;

use mpi_library::{Comm, Message, Request, Status};

use crate::mpi::calls::attribute;
use crate::mpi::calls::failure::{Failure, check, failure, written};
use crate::mpi::calls::library::{chosen, is_beneath, mpi};
use crate::mpi::calls::pending::{PendingRequest, count_bytes, index};
use crate::mpi::calls::processes::Processes;

/// A communicator's handle. Dropping a handle frees nothing: [`lifetime`](crate::mpi::channels::lifetime) frees our duplicates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawCommunicator {
    handle: Comm,
}

impl RawCommunicator {
    /// # Safety
    /// The handle is that of a live communicator of the [library](crate::mpi::calls::library), and MPI is initialised.
    pub(crate) unsafe fn from_handle(handle: Comm) -> Self {
        Self { handle }
    }

    /// Duplicates the communicator, so that our messages match only each other. The duplicate returns errors, and never aborts. Collective.
    pub(crate) fn duplicate(&self) -> Result<Self, Failure> {
        let handle = if is_beneath() {
            self.duplicate_alone()?
        } else {
            self.duplicate_with_attributes()?
        };
        let this = Self { handle };
        this.return_errors()?;
        Ok(this)
    }

    fn duplicate_with_attributes(&self) -> Result<Comm, Failure> {
        // SAFETY: the handle is live; `duplicate` has room for one handle.
        written("MPI_Comm_dup", Comm::UNSET, |duplicate| unsafe {
            mpi().MPI_Comm_dup(self.handle, duplicate)
        })
    }

    /// Duplicates the communicator without its attributes. `MPI_Comm_dup` would call the program's functions that copy attributes,
    /// although the program did not ask for a copy. `MPI_Comm_split` would not call them, but in Open MPI 4.1 it may hang while an
    /// `MPI_Comm_idup` of the same communicator is under way.
    fn duplicate_alone(&self) -> Result<Comm, Failure> {
        let group = self.processes()?;
        // SAFETY: the handle is live, `duplicate` has room for one handle. The group has all processes of the communicator, in their order.
        written("MPI_Comm_create", Comm::UNSET, |duplicate| unsafe {
            mpi().MPI_Comm_create(self.handle, group.handle(), duplicate)
        })
    }

    /// Makes the communicator return errors instead of aborting.
    pub(crate) fn return_errors(&self) -> Result<(), Failure> {
        let errors_return = mpi().handles.MPI_ERRORS_RETURN;
        // SAFETY: the handle is live, the error handler is predefined.
        let code = unsafe { mpi().MPI_Comm_set_errhandler(self.handle, errors_return) };
        check("MPI_Comm_set_errhandler", code)
    }

    /// `MPI_COMM_WORLD`.
    pub(crate) fn world() -> Self {
        Self {
            handle: mpi().handles.MPI_COMM_WORLD,
        }
    }

    /// MPI's handle of the communicator.
    pub(crate) fn handle(&self) -> Comm {
        self.handle
    }

    pub(crate) fn processes(&self) -> Result<Processes, Failure> {
        // SAFETY: the handle is live, `group` has room for one handle.
        Processes::made("MPI_Comm_group", |group| unsafe {
            mpi().MPI_Comm_group(self.handle, group)
        })
    }

    pub(crate) fn rank(&self) -> Result<usize, Failure> {
        // SAFETY: the handle is live, `rank` is a live int.
        let rank = |rank| unsafe { mpi().MPI_Comm_rank(self.handle, rank) };
        written("MPI_Comm_rank", 0, rank).map(index)
    }

    pub(crate) fn size(&self) -> Result<usize, Failure> {
        // SAFETY: the handle is live, `size` is a live int.
        let size = |size| unsafe { mpi().MPI_Comm_size(self.handle, size) };
        written("MPI_Comm_size", 0, size).map(index)
    }

    /// `MPI_Comm_split_type`: the processes of this process' node, in the order of their ranks. Collective.
    pub(crate) fn split_by_node(&self) -> Result<Self, Failure> {
        let info = mpi().handles.MPI_INFO_NULL;
        let shared = mpi().constants.MPI_COMM_TYPE_SHARED;
        // SAFETY: the handle is live, the info is predefined, `node` has room for one handle.
        let handle = written("MPI_Comm_split_type", Comm::UNSET, |node| unsafe {
            mpi().MPI_Comm_split_type(self.handle, shared, 0, info, node)
        })?;
        Ok(Self { handle })
    }

    /// Starts sending the whole buffer, whose length is `count`.
    pub(crate) fn start_send(
        &self,
        buffer: Vec<u8>,
        count: c_int,
        to: c_int,
        tag: c_int,
    ) -> Result<PendingRequest, Failure> {
        assert_eq!(usize::try_from(count), Ok(buffer.len()));
        let (from, byte) = (buffer.as_ptr().cast(), mpi().handles.MPI_UINT8_T);
        // SAFETY: the buffer holds `count` bytes; the request below owns it, and frees it only when MPI is done with it
        // (`PendingRequest::drop`). The handle is live; `request` has room for one request.
        let request = written("MPI_Isend", Request::UNSET, |request| unsafe {
            mpi().MPI_Isend(from, count, byte, to, tag, self.handle, request)
        })?;
        Ok(PendingRequest::of_send(request, buffer, to))
    }

    /// Starts receiving into the whole buffer, whose length is `capacity`.
    pub(crate) fn start_receive(
        &self,
        mut buffer: Vec<u8>,
        capacity: c_int,
        from: c_int,
        tag: c_int,
    ) -> Result<PendingRequest, Failure> {
        assert_eq!(usize::try_from(capacity), Ok(buffer.len()));
        let (to, byte) = (buffer.as_mut_ptr().cast(), mpi().handles.MPI_UINT8_T);
        // SAFETY: the buffer has room for `capacity` bytes; the request below owns it, and does not touch it before MPI is done with
        // it. The handle is live; `request` has room for one request.
        let request = written("MPI_Irecv", Request::UNSET, |request| unsafe {
            mpi().MPI_Irecv(to, capacity, byte, from, tag, self.handle, request)
        })?;
        Ok(PendingRequest::of_receive(request, buffer, from))
    }

    /// Starts a barrier.
    pub(crate) fn start_barrier(&self) -> Result<PendingRequest, Failure> {
        // SAFETY: the handle is live; `request` has room for one request.
        let barrier = |request| unsafe { mpi().MPI_Ibarrier(self.handle, request) };
        let request = written("MPI_Ibarrier", Request::UNSET, barrier)?;
        Ok(PendingRequest::of_send(request, Vec::new(), 0))
    }

    /// The greatest tag that the library supports, its attribute `MPI_TAG_UB`.
    pub(crate) fn tag_upper_bound(&self) -> Result<u64, Failure> {
        let bound = self.int_attribute(mpi().constants.MPI_TAG_UB)?;
        let bound = bound.and_then(|bound| u64::try_from(bound).ok());
        Ok(bound.unwrap_or(LEAST_TAG_UPPER_BOUND))
    }

    /// A predefined attribute that is an int; `None` if it is not set.
    pub(crate) fn int_attribute(&self, key: c_int) -> Result<Option<c_int>, Failure> {
        attribute::int(self.handle, key).map_err(|code| failure("MPI_Comm_get_attr", code))
    }

    /// `MPI_Iprobe`: whether a message with this tag has arrived, and from which rank.
    pub(crate) fn probe_for(&self, tag: c_int) -> Result<Option<c_int>, Failure> {
        let any = mpi().constants.MPI_ANY_SOURCE;
        let status = self.probe(any, tag)?;
        Ok(status.map(|status| status.source(mpi().constants)))
    }

    /// `MPI_Iprobe`: the tag and the length in bytes of the oldest message that has arrived from a rank. Messages of one sender keep their
    /// order (MPI 4.1, 3.5).
    pub(crate) fn oldest_from(&self, from: c_int) -> Result<Option<(c_int, c_int)>, Failure> {
        let Some(status) = self.probe(from, mpi().constants.MPI_ANY_TAG)? else {
            return Ok(None);
        };
        // SAFETY: MPI_Iprobe has written the status.
        let bytes = unsafe { count_bytes(&status) }?;
        Ok(Some((status.tag(mpi().constants), bytes)))
    }

    fn probe(&self, from: c_int, tag: c_int) -> Result<Option<Status>, Failure> {
        let mut status = Status::UNSET;
        let place = &raw mut status;
        // SAFETY: the handle is live, `flag` and `status` have room for one value each.
        let flag = written("MPI_Iprobe", 0, |flag| unsafe {
            mpi().MPI_Iprobe(from, tag, self.handle, flag, place)
        })?;
        Ok((flag != 0).then_some(status))
    }

    /// Lets MPI make progress on whatever is under way, by an `MPI_Iprobe` whose answer does not matter.
    pub(crate) fn make_progress(&self) -> Result<(), Failure> {
        let constants = mpi().constants;
        let (source, tag) = (constants.MPI_ANY_SOURCE, constants.MPI_ANY_TAG);
        self.probe(source, tag).map(drop)
    }

    /// Receives and drops all messages that have arrived and match no receive.
    pub(crate) fn drain(&self) -> Result<(), Failure> {
        let constants = mpi().constants;
        let (source, tag) = (constants.MPI_ANY_SOURCE, constants.MPI_ANY_TAG);
        let byte = mpi().handles.MPI_UINT8_T;
        loop {
            let mut flag = 0;
            let mut message = Message::UNSET;
            let mut status = Status::UNSET;
            // SAFETY: the handle is live; `flag`, `message` and `status` have room for one value each.
            let code = unsafe {
                mpi().MPI_Improbe(
                    source,
                    tag,
                    self.handle,
                    &raw mut flag,
                    &raw mut message,
                    &raw mut status,
                )
            };
            check("MPI_Improbe", code)?;
            if flag == 0 {
                return Ok(());
            }
            // SAFETY: MPI_Improbe has found a message, so it has written the status.
            let bytes = unsafe { count_bytes(&status) }?;
            let mut buffer = vec![0_u8; usize::try_from(bytes).unwrap_or_default()];
            // SAFETY: the buffer has the bytes of the message, which MPI_Improbe has written.
            let code = unsafe {
                mpi().MPI_Mrecv(
                    buffer.as_mut_ptr().cast(),
                    bytes,
                    byte,
                    &raw mut message,
                    &raw mut status,
                )
            };
            check("MPI_Mrecv", code)?;
        }
    }

    /// Frees the communicator. Collective. No copy of the handle may be used afterwards.
    pub(crate) fn free(mut self) -> Result<(), Failure> {
        // SAFETY: the handle is ours and live; by this function's contract nothing uses it afterwards.
        let code = unsafe { mpi().MPI_Comm_free(&raw mut self.handle) };
        check("MPI_Comm_free", code)
    }
}

/// `MPI_TAG_UB` is at least this (MPI 4.1, 9.1.2).
const LEAST_TAG_UPPER_BOUND: u64 = 32767;

/// Ends all processes of this program by `MPI_Abort`, or only this process if it has chosen no MPI library.
pub(crate) fn abort(code: c_int) {
    let Some(mpi) = chosen() else {
        process::exit(code);
    };
    // SAFETY: the handle is live as long as MPI is. If the call succeeds, it does not return.
    unsafe { mpi.MPI_Abort(mpi.handles.MPI_COMM_WORLD, code) };
}
