//! The MPI calls of messages and collectives.
//!
//! rsmpi's safe requests borrow their buffers and abort the process when a pending one is dropped. Here a
//! request owns its buffer, so that dropping one at any time is sound: a pending buffer is leaked rather
//! than freed under MPI's hands.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{c_char, c_int};
use std::mem::{self, MaybeUninit};
use std::ptr;

use super::ffi;
use mpi::raw::AsRaw;

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
    if code.unsigned_abs() == ffi::MPI_SUCCESS {
        Ok(())
    } else {
        Err(failure(call, code))
    }
}

#[cold]
fn failure(call: &'static str, code: c_int) -> Failure {
    let mut class = 0;
    // SAFETY: `class` is a live int to write to; any code may be asked about (MPI 4.1, 9.4).
    let known = unsafe { ffi::MPI_Error_class(code, &raw mut class) };
    let is_known = known.unsigned_abs() == ffi::MPI_SUCCESS;
    let mut buffer = [0_u8; ffi::MPI_MAX_ERROR_STRING as usize];
    let mut length = 0;
    // SAFETY: the buffer has the MPI_MAX_ERROR_STRING characters that the standard asks for.
    unsafe {
        ffi::MPI_Error_string(code, buffer.as_mut_ptr().cast::<c_char>(), &raw mut length);
    }
    let text = &buffer[..usize::try_from(length).unwrap_or(0).min(buffer.len())];
    Failure {
        call,
        code,
        text: String::from_utf8_lossy(text).into_owned(),
        truncated: is_known && class.unsigned_abs() == ffi::MPI_ERR_TRUNCATE,
        is_loss: is_known && ulfm::is_loss(class),
    }
}

/// A communicator's handle, which frees nothing when it is dropped: [`lifetime`](super::lifetime) frees our duplicates.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawCommunicator {
    handle: ffi::MPI_Comm,
}

impl RawCommunicator {
    /// A communicator of the caller's, for calls that leave it as it is.
    pub(super) fn of(comm: &impl AsRaw<Raw = ffi::MPI_Comm>) -> Self {
        Self {
            handle: comm.as_raw(),
        }
    }

    /// Duplicates a communicator, collectively, so that our messages match only each other. The duplicate returns errors.
    pub(super) fn duplicate(comm: &impl AsRaw<Raw = ffi::MPI_Comm>) -> Result<Self, Failure> {
        let mut duplicate = MaybeUninit::uninit();
        #[cfg(not(feature = "pmpi"))]
        {
            // SAFETY: rsmpi's communicators hold live handles: `AsRaw` is an unsafe trait that says so.
            // `duplicate` is room for one handle.
            let code = unsafe { ffi::MPI_Comm_dup(comm.as_raw(), duplicate.as_mut_ptr()) };
            check("MPI_Comm_dup", code)?;
        }
        // MPI_Comm_dup would call the program's functions that copy attributes, and the program did not ask for a copy. MPI_Comm_split of
        // Open MPI 4.1 may hang while an MPI_Comm_idup of the same communicator is under way.
        #[cfg(feature = "pmpi")]
        {
            let mut group = MaybeUninit::uninit();
            // SAFETY: as for MPI_Comm_dup; `group` is room for one handle.
            let code = unsafe { ffi::MPI_Comm_group(comm.as_raw(), group.as_mut_ptr()) };
            check("MPI_Comm_group", code)?;
            // SAFETY: MPI_Comm_group succeeded, so it has written the handle.
            let mut group = unsafe { group.assume_init() };
            // SAFETY: as for MPI_Comm_dup. The group is that of all its processes, in their order.
            let code =
                unsafe { ffi::MPI_Comm_create(comm.as_raw(), group, duplicate.as_mut_ptr()) };
            // SAFETY: the group is ours and live, and is not used afterwards.
            unsafe { ffi::MPI_Group_free(&raw mut group) };
            check("MPI_Comm_create", code)?;
        }
        let this = Self {
            // SAFETY: the call succeeded, so it has written the handle.
            handle: unsafe { duplicate.assume_init() },
        };
        this.return_errors()?;
        Ok(this)
    }

    /// A communicator of ours, by its handle.
    pub(super) fn from_handle(handle: ffi::MPI_Comm) -> Self {
        Self { handle }
    }

    /// Makes it return errors.
    pub(super) fn return_errors(&self) -> Result<(), Failure> {
        // SAFETY: a constant of the library, initialised before main.
        let errors_return = unsafe { ffi::RSMPI_ERRORS_RETURN };
        // SAFETY: the handle is live, the error handler is predefined.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(self.handle, errors_return) };
        check("MPI_Comm_set_errhandler", code)
    }

    /// The library's own, of all processes of this program.
    pub(super) fn world() -> Self {
        Self {
            // SAFETY: a constant of the library, initialised before main.
            handle: unsafe { ffi::RSMPI_COMM_WORLD },
        }
    }

    /// MPI's own name for it.
    pub(super) fn handle(&self) -> ffi::MPI_Comm {
        self.handle
    }

    pub(super) fn rank(&self) -> Result<usize, Failure> {
        let mut rank = 0;
        // SAFETY: the handle is live, `rank` is a live int.
        let code = unsafe { ffi::MPI_Comm_rank(self.handle, &raw mut rank) };
        check("MPI_Comm_rank", code).map(|()| index(rank))
    }

    pub(super) fn size(&self) -> Result<usize, Failure> {
        let mut size = 0;
        // SAFETY: the handle is live, `size` is a live int.
        let code = unsafe { ffi::MPI_Comm_size(self.handle, &raw mut size) };
        check("MPI_Comm_size", code).map(|()| index(size))
    }

    /// `MPI_Comm_split_type`: the processes of this process' node, in the order of their ranks. Collective.
    pub(super) fn split_by_node(&self) -> Result<Self, Failure> {
        let mut node = MaybeUninit::uninit();
        // SAFETY: a constant of the library, initialised before main.
        let info = unsafe { ffi::RSMPI_INFO_NULL };
        // SAFETY: as above.
        let shared = unsafe { ffi::RSMPI_COMM_TYPE_SHARED };
        // SAFETY: the handle is live, the info is predefined, `node` is room for one handle.
        let code =
            unsafe { ffi::MPI_Comm_split_type(self.handle, shared, 0, info, node.as_mut_ptr()) };
        check("MPI_Comm_split_type", code)?;
        Ok(Self {
            // SAFETY: MPI_Comm_split_type succeeded, so it has written the handle.
            handle: unsafe { node.assume_init() },
        })
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
        let mut request = MaybeUninit::uninit();
        // SAFETY: a constant of the library, initialised before main.
        let byte = unsafe { ffi::RSMPI_UINT8_T };
        // SAFETY: the buffer holds `count` bytes; the request below owns it, and lets go of it
        // only when MPI has (`PendingRequest::drop`), so it outlives MPI's request. The rest is live.
        let code = unsafe {
            ffi::MPI_Isend(
                buffer.as_ptr().cast(),
                count,
                byte,
                to,
                tag,
                self.handle,
                request.as_mut_ptr(),
            )
        };
        check("MPI_Isend", code)?;
        // SAFETY: MPI_Isend succeeded, so it has written the request.
        let request = unsafe { request.assume_init() };
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
        let mut request = MaybeUninit::uninit();
        // SAFETY: a constant of the library, initialised before main.
        let byte = unsafe { ffi::RSMPI_UINT8_T };
        // SAFETY: the buffer has room for `capacity` bytes; the request below owns it and does
        // not touch it before MPI is done with it. The rest is live.
        let code = unsafe {
            ffi::MPI_Irecv(
                buffer.as_mut_ptr().cast(),
                capacity,
                byte,
                from,
                tag,
                self.handle,
                request.as_mut_ptr(),
            )
        };
        check("MPI_Irecv", code)?;
        // SAFETY: MPI_Irecv succeeded, so it has written the request.
        let request = unsafe { request.assume_init() };
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
        let mut request = MaybeUninit::uninit();
        // SAFETY: the handle is live; `request` is room for one request.
        let code = unsafe { ffi::MPI_Ibarrier(self.handle, request.as_mut_ptr()) };
        check("MPI_Ibarrier", code)?;
        Ok(PendingRequest {
            // SAFETY: MPI_Ibarrier succeeded, so it has written the request.
            request: unsafe { request.assume_init() },
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
        // SAFETY: constants of the library, initialised before main.
        let (datatype, operation) = unsafe {
            match agreed {
                Agreed::Least => (ffi::RSMPI_INT64_T, ffi::RSMPI_MIN),
                Agreed::Greatest => (ffi::RSMPI_INT64_T, ffi::RSMPI_MAX),
                Agreed::Union => (ffi::RSMPI_UINT64_T, ffi::RSMPI_BOR),
            }
        };
        // SAFETY: both buffers hold `count` numbers, and are distinct.
        let code = unsafe {
            ffi::MPI_Allreduce(
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
        // SAFETY: constants of the library, initialised before main.
        let (datatype, operation) = unsafe { (ffi::RSMPI_INT64_T, ffi::RSMPI_SUM) };
        let mut sums = vec![0_i64; words.len().min(MOST)];
        for words in words.chunks_mut(MOST) {
            let count = c_int::try_from(words.len()).expect("a chunk is that short");
            let sums = &mut sums[..words.len()];
            let (from, to) = (words.as_ptr().cast(), sums.as_mut_ptr().cast());
            let (call, code) = match root {
                // SAFETY: both buffers hold `count` integers and are distinct.
                None => ("MPI_Allreduce", unsafe {
                    ffi::MPI_Allreduce(from, to, count, datatype, operation, self.handle)
                }),
                // SAFETY: as above; the second exists on every rank, though MPI writes the root's alone.
                Some(root) => ("MPI_Reduce", unsafe {
                    ffi::MPI_Reduce(from, to, count, datatype, operation, root, self.handle)
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
        // SAFETY: a constant of the library, initialised before main.
        let datatype = unsafe { ffi::RSMPI_UINT64_T };
        // SAFETY: the one is a live u64, the other as many as there are ranks.
        let code = unsafe {
            ffi::MPI_Allgather(
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
        let key = c_int::try_from(ffi::MPI_TAG_UB).expect("a key is an int");
        let bound = self.int_attribute(key)?;
        let bound = bound.and_then(|bound| u64::try_from(bound).ok());
        Ok(bound.unwrap_or(LEAST_TAG_UPPER_BOUND))
    }

    /// A predefined attribute that is an int; `None` if it is not set.
    pub(super) fn int_attribute(&self, key: c_int) -> Result<Option<c_int>, Failure> {
        let (mut value, mut is_set) = (ptr::null_mut::<c_int>(), 0);
        // SAFETY: the handle is live. The attribute's value is a pointer to an int (MPI 4.1, 9.1.2), which MPI writes to `value`.
        let code = unsafe {
            ffi::MPI_Comm_get_attr(self.handle, key, (&raw mut value).cast(), &raw mut is_set)
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
        // SAFETY: a constant of the library, initialised before main.
        let any = unsafe { ffi::RSMPI_ANY_SOURCE };
        let status = self.probe(any, tag)?;
        Ok(status.map(|status| status.MPI_SOURCE))
    }

    /// `MPI_Iprobe`: the tag of the oldest message that has arrived from a rank, and its bytes. Messages of one sender keep their order
    /// (MPI 4.1, 3.5).
    pub(super) fn oldest_from(&self, from: c_int) -> Result<Option<(c_int, c_int)>, Failure> {
        // SAFETY: constants of the library, initialised before main.
        let (any, byte) = unsafe { (ffi::RSMPI_ANY_TAG, ffi::RSMPI_UINT8_T) };
        let Some(status) = self.probe(from, any)? else {
            return Ok(None);
        };
        let mut bytes = 0;
        // SAFETY: MPI_Iprobe has written the status; `bytes` is a live int.
        let code = unsafe { ffi::MPI_Get_count(&raw const status, byte, &raw mut bytes) };
        check("MPI_Get_count", code)?;
        Ok(Some((status.MPI_TAG, bytes)))
    }

    fn probe(&self, from: c_int, tag: c_int) -> Result<Option<ffi::MPI_Status>, Failure> {
        let mut flag = 0;
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        // SAFETY: the handle is live, `flag` and `status` are room for one value each.
        let code =
            unsafe { ffi::MPI_Iprobe(from, tag, self.handle, &raw mut flag, status.as_mut_ptr()) };
        check("MPI_Iprobe", code)?;
        // SAFETY: MPI_Iprobe has written the status where it says that there is a message.
        Ok((flag != 0).then(|| unsafe { status.assume_init() }))
    }

    /// `MPI_Iprobe`, whose answer does not matter: the call lets MPI make progress on whatever is under way.
    pub(super) fn make_progress(&self) -> Result<(), Failure> {
        // SAFETY: constants of the library, initialised before main.
        let (source, tag) = unsafe { (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG) };
        self.probe(source, tag).map(drop)
    }

    /// Receives the messages that have arrived and that nobody has received, and drops them.
    pub(super) fn drain(&self) -> Result<(), Failure> {
        // SAFETY: constants of the library, initialised before main.
        let (source, tag, byte) = unsafe {
            (
                ffi::RSMPI_ANY_SOURCE,
                ffi::RSMPI_ANY_TAG,
                ffi::RSMPI_UINT8_T,
            )
        };
        loop {
            let (mut flag, mut bytes) = (0, 0);
            let mut message = MaybeUninit::uninit();
            let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
            // SAFETY: the handle is live; `flag`, `message` and `status` are room for one value each.
            let code = unsafe {
                ffi::MPI_Improbe(
                    source,
                    tag,
                    self.handle,
                    &raw mut flag,
                    message.as_mut_ptr(),
                    status.as_mut_ptr(),
                )
            };
            check("MPI_Improbe", code)?;
            if flag == 0 {
                return Ok(());
            }
            // SAFETY: MPI_Improbe has found a message, so it has written the status; `bytes` is a live int.
            let code = unsafe { ffi::MPI_Get_count(status.as_ptr(), byte, &raw mut bytes) };
            check("MPI_Get_count", code)?;
            let mut buffer = vec![0_u8; usize::try_from(bytes).unwrap_or_default()];
            // SAFETY: the buffer has the bytes of the message, which MPI_Improbe has written.
            let code = unsafe {
                ffi::MPI_Mrecv(
                    buffer.as_mut_ptr().cast(),
                    bytes,
                    byte,
                    message.as_mut_ptr(),
                    status.as_mut_ptr(),
                )
            };
            check("MPI_Mrecv", code)?;
        }
    }

    /// Frees it. Collective; no copy of the handle is used afterwards.
    pub(super) fn free(mut self) -> Result<(), Failure> {
        // SAFETY: the handle is ours and live; by this function's contract nothing uses it afterwards.
        let code = unsafe { ffi::MPI_Comm_free(&raw mut self.handle) };
        check("MPI_Comm_free", code)
    }
}

#[expect(unsafe_code, reason = "the trait is a promise")]
// SAFETY: the handle is live until `lifetime` frees it.
unsafe impl AsRaw for RawCommunicator {
    type Raw = ffi::MPI_Comm;

    fn as_raw(&self) -> Self::Raw {
        self.handle
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

/// Ends all processes of this program.
pub(super) fn abort(code: c_int) {
    let world = RawCommunicator::world();
    // SAFETY: the handle is live as long as MPI is. The call does not return where it succeeds.
    unsafe {
        ffi::MPI_Abort(world.handle, code);
    }
}

/// The request of a non-blocking send, receive or barrier, with its buffer.
#[derive(Debug)]
pub(super) struct PendingRequest {
    request: ffi::MPI_Request,
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
        let quiet_world = match self.receives {
            true => WorldReturnsErrors::where_needed()?,
            false => None,
        };
        let mut flag = 0;
        let mut status = MaybeUninit::uninit();
        // SAFETY: the request is live until MPI says it is complete, and after that this line is
        // not reached; `flag` and `status` are room for one value each.
        let code =
            unsafe { ffi::MPI_Test(&raw mut self.request, &raw mut flag, status.as_mut_ptr()) };
        drop(quiet_world);
        // A request that failed is over: MPI does not touch its buffer any more (MPI 4.1, 3.7.3).
        if code.unsigned_abs() != ffi::MPI_SUCCESS || flag != 0 {
            self.outcome = Some(code);
        }
        check("MPI_Test", code)?;
        if self.outcome.is_some() && self.receives {
            let mut count = 0;
            // SAFETY: a constant of the library, initialised before main.
            let byte = unsafe { ffi::RSMPI_UINT8_T };
            // SAFETY: MPI_Test has written the status, as the request is complete.
            let code = unsafe { ffi::MPI_Get_count(status.as_ptr(), byte, &raw mut count) };
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
        let code = unsafe { ffi::MPI_Cancel(&raw mut self.request) };
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
