//! MPI's own reductions with our operations, which MPI calls through a C callback.
//!
//! MPI passes the callback no pointer of ours, and the callback must neither unwind nor report an error. So a thread-local
//! variable holds the operation while MPI runs on the thread, and a panic is caught, stored, and resumed when MPI returns.

#![expect(unsafe_code, reason = "MPI calls back with C pointers")]

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::slice;

use mpi_library::{Datatype, Op};

use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::{Failure, check, written};
use crate::mpi::calls::library::mpi;
use crate::native::CombineSlots;

/// The operation that the callback executes on this thread.
#[derive(Clone, Copy)]
struct Current {
    /// Valid while `UserOperation::reduce` is on this thread's stack.
    combine: *const CombineSlots<'static>,
    slot_bytes: usize,
}

thread_local! {
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

/// The operations of a communicator, one for each slot length that was used.
#[derive(Debug, Default)]
pub(crate) struct UserOperations {
    made: RefCell<Vec<UserOperation>>,
    /// The buffer for results, which is reused.
    reduced: RefCell<Vec<u8>>,
}

impl UserOperations {
    /// Reduces slots of `slot_bytes` in place, to `root` or to all ranks. A new operation is passed to `register`, and must be
    /// freed with the communicator.
    pub(crate) fn reduce(
        &self,
        comm: &RawCommunicator,
        root: Option<c_int>,
        slots: &mut [u8],
        slot_bytes: c_int,
        combine: &CombineSlots<'_>,
        register: impl FnOnce(RawOperation),
    ) -> Result<(), Failure> {
        let mut made = self.made.borrow_mut();
        let is_it =
            |operation: &UserOperation| c_int::try_from(operation.slot_bytes) == Ok(slot_bytes);
        let index = match made.iter().position(is_it) {
            Some(index) => index,
            None => {
                let new = UserOperation::new(slot_bytes)?;
                register(new.raw);
                made.push(new);
                made.len() - 1
            }
        };
        let mut reduced = self.reduced.borrow_mut();
        reduced.resize(slots.len(), 0);
        made[index].reduce(comm, root, slots, &mut reduced, combine)?;
        slots.copy_from_slice(&reduced);
        Ok(())
    }
}

/// An associative, non-commutative operation on slots of one length. It is freed with its communicator.
#[derive(Debug)]
struct UserOperation {
    raw: RawOperation,
    slot_bytes: usize,
}

/// MPI's handles of an operation and of the datatype that it combines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawOperation {
    operation: Op,
    datatype: Datatype,
}

impl RawOperation {
    /// Frees both handles, which nothing may use afterwards. Not collective.
    pub(crate) fn free(mut self) -> Result<(), Failure> {
        // SAFETY: the handle is ours, and live as long as MPI is.
        let code = unsafe { mpi().MPI_Op_free(&raw mut self.operation) };
        check("MPI_Op_free", code)?;
        // SAFETY: as above.
        let code = unsafe { mpi().MPI_Type_free(&raw mut self.datatype) };
        check("MPI_Type_free", code)
    }
}

impl UserOperation {
    /// An operation on slots of `count` bytes.
    fn new(count: c_int) -> Result<Self, Failure> {
        let byte = mpi().handles.MPI_UINT8_T;
        // SAFETY: `datatype` has room for one handle.
        let datatype = |datatype| unsafe { mpi().MPI_Type_contiguous(count, byte, datatype) };
        let mut datatype = written("MPI_Type_contiguous", Datatype::UNSET, datatype)?;
        // SAFETY: the handle is live.
        let code = unsafe { mpi().MPI_Type_commit(&raw mut datatype) };
        check("MPI_Type_commit", code)?;
        // SAFETY: the function has the signature of MPI_User_function and lives forever; 0 says that the operation does not commute.
        let operation = |operation| unsafe { mpi().MPI_Op_create(Some(call_back), 0, operation) };
        let operation = written("MPI_Op_create", Op::UNSET, operation)?;
        let raw = RawOperation {
            operation,
            datatype,
        };
        Ok(Self {
            raw,
            slot_bytes: usize::try_from(count).unwrap_or(0),
        })
    }

    /// `MPI_Reduce` to `root`, or `MPI_Allreduce`, of the slots in `input` into `output`.
    ///
    /// If `combine` panics, the panic resumes here.
    fn reduce(
        &self,
        comm: &RawCommunicator,
        root: Option<c_int>,
        input: &[u8],
        output: &mut [u8],
        combine: &CombineSlots<'_>,
    ) -> Result<(), Failure> {
        assert_eq!(input.len(), output.len());
        let count = c_int::try_from(input.len() / self.slot_bytes)
            .expect("there are at most 2^31 slots, one per column");
        let combine: *const CombineSlots<'_> = combine;
        // SAFETY: only the lifetime changes. The callback dereferences the pointer while this function is on the stack,
        // because `CURRENT` is cleared before this function returns; until then, `combine` is borrowed.
        let combine = unsafe {
            std::mem::transmute::<*const CombineSlots<'_>, *const CombineSlots<'static>>(combine)
        };
        CURRENT.set(Some(Current {
            combine,
            slot_bytes: self.slot_bytes,
        }));
        let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        let (call, code) = match root {
            // SAFETY: both buffers hold `count` slots of the datatype and are distinct, as Rust's borrows are; all handles
            // are live.
            None => ("MPI_Allreduce", unsafe {
                mpi().MPI_Allreduce(
                    from,
                    to,
                    count,
                    self.raw.datatype,
                    self.raw.operation,
                    comm.handle(),
                )
            }),
            // SAFETY: as above; the output exists on every rank, though MPI writes only the root's.
            Some(root) => ("MPI_Reduce", unsafe {
                mpi().MPI_Reduce(
                    from,
                    to,
                    count,
                    self.raw.datatype,
                    self.raw.operation,
                    root,
                    comm.handle(),
                )
            }),
        };
        CURRENT.set(None);
        if let Some(payload) = PANIC.take() {
            panic::resume_unwind(payload);
        }
        check(call, code)
    }
}

/// MPI's callback: each operand is `*length` slots, and the left operand comes from lower ranks.
unsafe extern "C" fn call_back(
    left: *mut c_void,
    right: *mut c_void,
    length: *mut c_int,
    _datatype: *mut c_void,
) {
    let Some(Current {
        combine,
        slot_bytes,
    }) = CURRENT.get()
    else {
        return;
    };
    // SAFETY: MPI passes a pointer to the number of elements (MPI 4.1, 6.9.5).
    let count = usize::try_from(unsafe { *length }).unwrap_or(0);
    // SAFETY: MPI passes `count` elements of our datatype in each operand, and the two do not overlap.
    let left = unsafe { slice::from_raw_parts(left.cast::<u8>(), count * slot_bytes) };
    // SAFETY: as above; the right operand is for us to write.
    let right = unsafe { slice::from_raw_parts_mut(right.cast::<u8>(), count * slot_bytes) };
    // SAFETY: `CURRENT` is set, so `UserOperation::reduce` is on this thread's stack and borrows `combine`.
    let combine = unsafe { &*combine };
    let slots = left
        .chunks_exact(slot_bytes)
        .zip(right.chunks_exact_mut(slot_bytes));
    for (left, right) in slots {
        // Nothing may unwind into C. After a panic the other slots are still combined, since the library may pass them to ranks that do
        // not panic.
        let combined = panic::catch_unwind(AssertUnwindSafe(|| combine(left, right)));
        if let Err(payload) = combined {
            PANIC.with_borrow_mut(|panic| {
                panic.get_or_insert(payload);
            });
        }
    }
}
