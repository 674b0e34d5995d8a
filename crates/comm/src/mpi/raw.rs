//! The MPI calls of messages and collectives.
//!
//! A request owns its buffer, so that dropping one at any time is sound: a pending buffer is leaked rather than freed under MPI's hands.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{c_char, c_int};
use std::mem;
use std::process;
use std::ptr;

use mpi_library::{Comm, Group, MAX_ERROR_STRING, MPI_SUCCESS, Message, Request, Status};

use super::library::{chosen, is_beneath, mpi};
use super::misdirected::WorldReturnsErrors;
use super::ulfm;
use crate::error::Error;

/// The top bit: with it flipped, unsigned numbers have the order of signed ones.
const SIGN: u64 = 1 << 63;

/// An MPI function that returned something else than `MPI_SUCCESS`.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) call: &'static str,
    pub(super) code: i32,
    pub(super) text: String,
    /// Whether the error class is `MPI_ERR_TRUNCATE`.
    pub(super) truncated: bool,
    /// Whether a process has died, or the communicator is revoked.
    pub(super) is_loss: bool,
}

impl Failure {
    /// The failure as an error of `rank`.
    pub(super) fn on(self, rank: usize) -> Error {
        if self.is_loss {
            // Whoever knows the communicator says which.
            return Error::Revoked { rank };
        }
        Error::Mpi {
            rank,
            call: self.call,
            code: self.code,
            text: self.text,
        }
    }
}

/// Turns a return value into a result, with the library's own words.
#[inline]
pub(super) fn check(call: &'static str, code: c_int) -> Result<(), Failure> {
    if code == MPI_SUCCESS {
        Ok(())
    } else {
        Err(failure(call, code))
    }
}

#[cold]
fn failure(call: &'static str, code: c_int) -> Failure {
    let mut class = 0;
    // SAFETY: `class` is a live int to write to; any code may be asked about (MPI 4.1, 9.4).
    let known = unsafe { mpi().MPI_Error_class(code, &raw mut class) };
    let is_known = known == MPI_SUCCESS;
    let mut buffer = [0_u8; MAX_ERROR_STRING];
    let mut length = 0;
    // SAFETY: the buffer has the MPI_MAX_ERROR_STRING characters that the standard asks for.
    unsafe {
        mpi().MPI_Error_string(code, buffer.as_mut_ptr().cast::<c_char>(), &raw mut length);
    }
    let text = &buffer[..usize::try_from(length).unwrap_or(0).min(buffer.len())];
    Failure {
        call,
        code,
        text: String::from_utf8_lossy(text).into_owned(),
        truncated: is_known && class == mpi().constants.MPI_ERR_TRUNCATE,
        is_loss: is_known && ulfm::is_loss(class),
    }
}

/// A communicator's handle, which frees nothing when it is dropped: [`lifetime`](super::lifetime) frees our duplicates.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawCommunicator {
    handle: Comm,
}

impl RawCommunicator {
    /// A communicator by its handle.
    ///
    /// # Safety
    /// It is a live one of the [library](super::library)'s, and MPI is initialised.
    pub(super) unsafe fn from_handle(handle: Comm) -> Self {
        Self { handle }
    }

    /// Duplicates it, collectively, so that our messages match only each other. The duplicate returns errors.
    pub(super) fn duplicate(&self) -> Result<Self, Failure> {
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
        let mut duplicate = Comm::UNSET;
        // SAFETY: the handle is live; `duplicate` is room for one handle.
        let code = unsafe { mpi().MPI_Comm_dup(self.handle, &raw mut duplicate) };
        check("MPI_Comm_dup", code).map(|()| duplicate)
    }

    /// `MPI_Comm_dup` would call the program's functions that copy attributes, and the program did not ask for a copy. `MPI_Comm_split` of
    /// Open MPI 4.1 may hang while an `MPI_Comm_idup` of the same communicator is under way.
    fn duplicate_alone(&self) -> Result<Comm, Failure> {
        let (mut group, mut duplicate) = (Group::UNSET, Comm::UNSET);
        // SAFETY: the handle is live; `group` is room for one handle.
        let code = unsafe { mpi().MPI_Comm_group(self.handle, &raw mut group) };
        check("MPI_Comm_group", code)?;
        // SAFETY: the handle is live, `duplicate` is room for one. The group is that of all its processes, in their order.
        let code = unsafe { mpi().MPI_Comm_create(self.handle, group, &raw mut duplicate) };
        // SAFETY: the group is ours and live, and is not used afterwards.
        unsafe { mpi().MPI_Group_free(&raw mut group) };
        check("MPI_Comm_create", code).map(|()| duplicate)
    }

    /// Makes it return errors.
    pub(super) fn return_errors(&self) -> Result<(), Failure> {
        let errors_return = mpi().handles.MPI_ERRORS_RETURN;
        // SAFETY: the handle is live, the error handler is predefined.
        let code = unsafe { mpi().MPI_Comm_set_errhandler(self.handle, errors_return) };
        check("MPI_Comm_set_errhandler", code)
    }

    /// The library's own, of all processes of this program.
    pub(super) fn world() -> Self {
        Self {
            handle: mpi().handles.MPI_COMM_WORLD,
        }
    }

    /// MPI's own name for it.
    pub(super) fn handle(&self) -> Comm {
        self.handle
    }

    pub(super) fn rank(&self) -> Result<usize, Failure> {
        let mut rank = 0;
        // SAFETY: the handle is live, `rank` is a live int.
        let code = unsafe { mpi().MPI_Comm_rank(self.handle, &raw mut rank) };
        check("MPI_Comm_rank", code).map(|()| index(rank))
    }

    pub(super) fn size(&self) -> Result<usize, Failure> {
        let mut size = 0;
        // SAFETY: the handle is live, `size` is a live int.
        let code = unsafe { mpi().MPI_Comm_size(self.handle, &raw mut size) };
        check("MPI_Comm_size", code).map(|()| index(size))
    }

    /// `MPI_Comm_split_type`: the processes of this process' node, in the order of their ranks. Collective.
    pub(super) fn split_by_node(&self) -> Result<Self, Failure> {
        let mut node = Comm::UNSET;
        let info = mpi().handles.MPI_INFO_NULL;
        let shared = mpi().constants.MPI_COMM_TYPE_SHARED;
        // SAFETY: the handle is live, the info is predefined, `node` is room for one handle.
        let code =
            unsafe { mpi().MPI_Comm_split_type(self.handle, shared, 0, info, &raw mut node) };
        check("MPI_Comm_split_type", code)?;
        Ok(Self { handle: node })
    }

    /// Starts sending the whole buffer, whose length is `count`.
    pub(super) fn start_send(
        &self,
        buffer: Vec<u8>,
        count: c_int,
        to: c_int,
        tag: c_int,
    ) -> Result<PendingRequest, Failure> {
        assert_eq!(usize::try_from(count), Ok(buffer.len()));
        let mut request = Request::UNSET;
        let byte = mpi().handles.MPI_UINT8_T;
        // SAFETY: the buffer holds `count` bytes; the request below owns it, and lets go of it
        // only when MPI has (`PendingRequest::drop`), so it outlives MPI's request. The rest is live.
        let code = unsafe {
            mpi().MPI_Isend(
                buffer.as_ptr().cast(),
                count,
                byte,
                to,
                tag,
                self.handle,
                &raw mut request,
            )
        };
        check("MPI_Isend", code)?;
        Ok(PendingRequest {
            request,
            buffer,
            peer: to,
            receives: false,
            outcome: None,
        })
    }

    /// Starts receiving into the whole buffer, whose length is `capacity`.
    pub(super) fn start_receive(
        &self,
        mut buffer: Vec<u8>,
        capacity: c_int,
        from: c_int,
        tag: c_int,
    ) -> Result<PendingRequest, Failure> {
        assert_eq!(usize::try_from(capacity), Ok(buffer.len()));
        let mut request = Request::UNSET;
        let byte = mpi().handles.MPI_UINT8_T;
        // SAFETY: the buffer has room for `capacity` bytes; the request below owns it and does
        // not touch it before MPI is done with it. The rest is live.
        let code = unsafe {
            mpi().MPI_Irecv(
                buffer.as_mut_ptr().cast(),
                capacity,
                byte,
                from,
                tag,
                self.handle,
                &raw mut request,
            )
        };
        check("MPI_Irecv", code)?;
        Ok(PendingRequest {
            request,
            buffer,
            peer: from,
            receives: true,
            outcome: None,
        })
    }

    /// Starts a barrier.
    pub(super) fn start_barrier(&self) -> Result<PendingRequest, Failure> {
        let mut request = Request::UNSET;
        // SAFETY: the handle is live; `request` is room for one request.
        let code = unsafe { mpi().MPI_Ibarrier(self.handle, &raw mut request) };
        check("MPI_Ibarrier", code)?;
        Ok(PendingRequest {
            request,
            buffer: Vec::new(),
            peer: 0,
            receives: false,
            outcome: None,
        })
    }

    /// `MPI_Allreduce`, element by element, on slices of the same length.
    ///
    /// Minima and maxima are taken of signed integers with the top bit flipped: MPICH 4.0.2 compares MPI_UINT64_T as if it were signed.
    pub(super) fn allreduce_u64s(
        &self,
        numbers: &[u64],
        agreed: Agreed,
    ) -> Result<Vec<u64>, Failure> {
        let flipped = match agreed {
            Agreed::Least | Agreed::Greatest => SIGN,
            Agreed::Union => 0,
        };
        let numbers: Vec<u64> = numbers.iter().map(|number| number ^ flipped).collect();
        let mut result = vec![0_u64; numbers.len()];
        let count = c_int::try_from(numbers.len()).expect("ranks agree on few numbers");
        let handles = &mpi().handles;
        let (datatype, operation) = match agreed {
            Agreed::Least => (handles.MPI_INT64_T, handles.MPI_MIN),
            Agreed::Greatest => (handles.MPI_INT64_T, handles.MPI_MAX),
            Agreed::Union => (handles.MPI_UINT64_T, handles.MPI_BOR),
        };
        // SAFETY: both buffers hold `count` numbers, and are distinct.
        let code = unsafe {
            mpi().MPI_Allreduce(
                numbers.as_ptr().cast(),
                result.as_mut_ptr().cast(),
                count,
                datatype,
                operation,
                self.handle,
            )
        };
        check("MPI_Allreduce", code)?;
        result.iter_mut().for_each(|number| *number ^= flipped);
        Ok(result)
    }

    /// As [`allreduce_u64s`](RawCommunicator::allreduce_u64s), of one number.
    pub(super) fn allreduce_u64(&self, number: u64, agreed: Agreed) -> Result<u64, Failure> {
        Ok(self.allreduce_u64s(&[number], agreed)?[0])
    }

    /// `MPI_Reduce` to `root`, or `MPI_Allreduce`, by `MPI_SUM`, in place; at most 2^31 - 1 integers a call.
    pub(super) fn add_integers(
        &self,
        root: Option<c_int>,
        words: &mut [i64],
    ) -> Result<(), Failure> {
        const MOST: usize = c_int::MAX as usize;
        let (datatype, operation) = (mpi().handles.MPI_INT64_T, mpi().handles.MPI_SUM);
        let mut sums = vec![0_i64; words.len().min(MOST)];
        for words in words.chunks_mut(MOST) {
            let count = c_int::try_from(words.len()).expect("a chunk is that short");
            let sums = &mut sums[..words.len()];
            let (from, to) = (words.as_ptr().cast(), sums.as_mut_ptr().cast());
            let (call, code) = match root {
                // SAFETY: both buffers hold `count` integers and are distinct.
                None => ("MPI_Allreduce", unsafe {
                    mpi().MPI_Allreduce(from, to, count, datatype, operation, self.handle)
                }),
                // SAFETY: as above; the second exists on every rank, though MPI writes the root's alone.
                Some(root) => ("MPI_Reduce", unsafe {
                    mpi().MPI_Reduce(from, to, count, datatype, operation, root, self.handle)
                }),
            };
            check(call, code)?;
            words.copy_from_slice(sums);
        }
        Ok(())
    }

    /// `MPI_Allgather`: a number of every rank. Collective.
    pub(super) fn allgather_u64(&self, number: u64) -> Result<Vec<u64>, Failure> {
        let mut numbers = vec![0_u64; self.size()?];
        let datatype = mpi().handles.MPI_UINT64_T;
        // SAFETY: the one is a live u64, the other as many as there are ranks.
        let code = unsafe {
            mpi().MPI_Allgather(
                (&raw const number).cast(),
                1,
                datatype,
                numbers.as_mut_ptr().cast(),
                1,
                datatype,
                self.handle,
            )
        };
        check("MPI_Allgather", code).map(|()| numbers)
    }

    /// The greatest tag of the library's, its attribute `MPI_TAG_UB`.
    pub(super) fn tag_upper_bound(&self) -> Result<u64, Failure> {
        let bound = self.int_attribute(mpi().constants.MPI_TAG_UB)?;
        let bound = bound.and_then(|bound| u64::try_from(bound).ok());
        Ok(bound.unwrap_or(LEAST_TAG_UPPER_BOUND))
    }

    /// A predefined attribute that is an int; `None` if it is not set.
    pub(super) fn int_attribute(&self, key: c_int) -> Result<Option<c_int>, Failure> {
        let (mut value, mut is_set) = (ptr::null_mut::<c_int>(), 0);
        // SAFETY: the handle is live. The attribute's value is a pointer to an int (MPI 4.1, 9.1.2), which MPI writes to `value`.
        let code = unsafe {
            mpi().MPI_Comm_get_attr(self.handle, key, (&raw mut value).cast(), &raw mut is_set)
        };
        check("MPI_Comm_get_attr", code)?;
        if is_set == 0 || value.is_null() {
            return Ok(None);
        }
        // SAFETY: the attribute is set, so MPI has written a pointer to an int that lives as long as MPI does.
        Ok(Some(unsafe { *value }))
    }

    /// `MPI_Iprobe`: whether a message with this tag has arrived, and from which rank.
    pub(super) fn probe_for(&self, tag: c_int) -> Result<Option<c_int>, Failure> {
        let any = mpi().constants.MPI_ANY_SOURCE;
        let status = self.probe(any, tag)?;
        Ok(status.map(|status| status.source(mpi().constants)))
    }

    /// `MPI_Iprobe`: the tag of the oldest message that has arrived from a rank, and its bytes. Messages of one sender keep their order
    /// (MPI 4.1, 3.5).
    pub(super) fn oldest_from(&self, from: c_int) -> Result<Option<(c_int, c_int)>, Failure> {
        let (any, byte) = (mpi().constants.MPI_ANY_TAG, mpi().handles.MPI_UINT8_T);
        let Some(status) = self.probe(from, any)? else {
            return Ok(None);
        };
        let mut bytes = 0;
        // SAFETY: MPI_Iprobe has written the status; `bytes` is a live int.
        let code = unsafe { mpi().MPI_Get_count(&raw const status, byte, &raw mut bytes) };
        check("MPI_Get_count", code)?;
        Ok(Some((status.tag(mpi().constants), bytes)))
    }

    fn probe(&self, from: c_int, tag: c_int) -> Result<Option<Status>, Failure> {
        let mut flag = 0;
        let mut status = Status::UNSET;
        // SAFETY: the handle is live, `flag` and `status` are room for one value each.
        let code =
            unsafe { mpi().MPI_Iprobe(from, tag, self.handle, &raw mut flag, &raw mut status) };
        check("MPI_Iprobe", code)?;
        Ok((flag != 0).then_some(status))
    }

    /// `MPI_Iprobe`, whose answer does not matter: the call lets MPI make progress on whatever is under way.
    pub(super) fn make_progress(&self) -> Result<(), Failure> {
        let constants = mpi().constants;
        let (source, tag) = (constants.MPI_ANY_SOURCE, constants.MPI_ANY_TAG);
        self.probe(source, tag).map(drop)
    }

    /// Receives the messages that have arrived and that nobody has received, and drops them.
    pub(super) fn drain(&self) -> Result<(), Failure> {
        let constants = mpi().constants;
        let (source, tag) = (constants.MPI_ANY_SOURCE, constants.MPI_ANY_TAG);
        let byte = mpi().handles.MPI_UINT8_T;
        loop {
            let (mut flag, mut bytes) = (0, 0);
            let mut message = Message::UNSET;
            let mut status = Status::UNSET;
            // SAFETY: the handle is live; `flag`, `message` and `status` are room for one value each.
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
            // SAFETY: MPI_Improbe has found a message, so it has written the status; `bytes` is a live int.
            let code = unsafe { mpi().MPI_Get_count(&raw const status, byte, &raw mut bytes) };
            check("MPI_Get_count", code)?;
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

    /// Frees it. Collective; no copy of the handle is used afterwards.
    pub(super) fn free(mut self) -> Result<(), Failure> {
        // SAFETY: the handle is ours and live; by this function's contract nothing uses it afterwards.
        let code = unsafe { mpi().MPI_Comm_free(&raw mut self.handle) };
        check("MPI_Comm_free", code)
    }
}

/// A rank or a size, as MPI returns it.
fn index(number: c_int) -> usize {
    usize::try_from(number).expect("MPI counts from 0")
}

/// `MPI_TAG_UB` is at least this (MPI 4.1, 9.1.2).
const LEAST_TAG_UPPER_BOUND: u64 = 32767;

/// What an allreduce makes of all ranks' numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Agreed {
    Least,
    Greatest,
    /// Every bit that one of them has.
    Union,
}

/// Ends all processes of this program; this one alone, where it has no MPI library.
pub(super) fn abort(code: c_int) {
    let Some(mpi) = chosen() else {
        process::exit(code);
    };
    // SAFETY: the handle is live as long as MPI is. The call does not return where it succeeds.
    unsafe { mpi.MPI_Abort(mpi.handles.MPI_COMM_WORLD, code) };
}

/// The request of a non-blocking send, receive or barrier, with its buffer.
#[derive(Debug)]
pub(super) struct PendingRequest {
    request: Request,
    buffer: Vec<u8>,
    /// The receiver or the sender; 0 for a barrier.
    peer: c_int,
    receives: bool,
    /// What `MPI_Test` returned when it ended the request; `None` while MPI still works on it.
    outcome: Option<c_int>,
}

impl PendingRequest {
    /// Whether it is a receive that MPI still works on.
    pub(super) fn is_receiving(&self) -> bool {
        self.receives && self.outcome.is_none()
    }

    /// Whether it is a receive that is over.
    #[inline]
    pub(super) fn is_received(&self) -> bool {
        self.receives && self.outcome.is_some()
    }

    /// Whether MPI still works on it.
    pub(super) fn is_pending(&self) -> bool {
        self.outcome.is_none()
    }

    /// The receiver or the sender; 0 for a barrier.
    pub(super) fn peer(&self) -> usize {
        index(self.peer)
    }

    /// The bytes of its message, or at most of it.
    pub(super) fn capacity_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Whether MPI is done with it; a received message is then cut to its length.
    pub(super) fn test(&mut self) -> Result<bool, Failure> {
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
        // not reached; `flag` and `status` are room for one value each.
        let code = unsafe { mpi().MPI_Test(&raw mut self.request, &raw mut flag, &raw mut status) };
        drop(quiet_world);
        // A request that failed is over: MPI does not touch its buffer any more (MPI 4.1, 3.7.3).
        if code != MPI_SUCCESS || flag != 0 {
            self.outcome = Some(code);
        }
        check("MPI_Test", code)?;
        if self.outcome.is_some() && self.receives {
            let mut count = 0;
            let byte = mpi().handles.MPI_UINT8_T;
            // SAFETY: MPI_Test has written the status, as the request is complete.
            let code = unsafe { mpi().MPI_Get_count(&raw const status, byte, &raw mut count) };
            check("MPI_Get_count", code)?;
            // A cancelled receive may report no count.
            self.buffer.truncate(usize::try_from(count).unwrap_or(0));
        }
        Ok(self.outcome.is_some())
    }

    /// Asks MPI to give up a receive; [`test`](PendingRequest::test) then completes without the sender.
    pub(super) fn cancel_receive(&mut self) -> Result<(), Failure> {
        if self.outcome.is_some() || !self.receives {
            return Ok(());
        }
        // SAFETY: the request is live, as it is pending.
        let code = unsafe { mpi().MPI_Cancel(&raw mut self.request) };
        check("MPI_Cancel", code)
    }

    /// The buffer of a complete request.
    pub(super) fn into_buffer(mut self) -> Vec<u8> {
        assert!(
            self.outcome.is_some(),
            "the buffer is MPI's until the request is complete"
        );
        mem::take(&mut self.buffer)
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if self.outcome.is_none() {
            // MPI may still read or write it.
            mem::forget(mem::take(&mut self.buffer));
        }
    }
}
