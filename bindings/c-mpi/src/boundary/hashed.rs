//! The functions of `treefold_mpi.h` for sums by 64-bit keys.

use std::ffi::{c_int, c_void};

use treefold::Operation;
use treefold_c::boundary::guard;
use treefold_c::failure::{Failure, Status};
use treefold_c::raw::{Bytes, disjoint, place, write};

use super::arrays::Input;
use super::handles::{destroy, write_handle};
use crate::builder::treefold_comm;
use crate::handle;
use crate::hashed::{AnyHashed, KEY_BYTES, build};
use crate::operands::{OF_KEYS, operation_of_code};

pub use crate::hashed::treefold_hashed;

/// Builds a plan. Collective.
///
/// # Safety
/// `result` points to room for a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_hashed_create(
    comm: *const treefold_comm,
    key_type: i32,
    element_type: i32,
    root: c_int,
    result: *mut *mut treefold_hashed,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        place("result", result)?;
        let plan = build(&world, key_type, element_type, root)?;
        // SAFETY: the caller promises that there is room for a handle.
        unsafe { write_handle("result", result, handle::name(plan)?) }
    })
}

/// Destroys a plan.
///
/// # Safety
/// `hashed` points to a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_hashed_destroy(hashed: *mut *mut treefold_hashed) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { destroy("hashed", hashed) }
}

/// Sums the items that all ranks have for each key. Writes the number of keys in this rank's result. Collective.
///
/// # Safety
/// `keys` points to k numbers, `items` to n elements, and `count` to one number; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_hashed_run(
    hashed: *const treefold_hashed,
    operation: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    count: *mut usize,
) -> Status {
    guard(|| {
        let plan = handle::object(hashed)?;
        let operation = operation_of_code(operation, OF_KEYS)
            .inspect_err(|_| plan.refuse(Operation::Allreduce))?;
        // SAFETY: the caller promises what the callee requires.
        let arrays = unsafe { arrays(&*plan, (keys, k), (items, n), count) };
        let (keys, items) = arrays.inspect_err(|_| plan.refuse(operation))?;
        let found = plan.run(operation, keys, items)?;
        // SAFETY: the caller promises that the pointer points to a number.
        unsafe { write("count", count, found) }
    })
}

/// Writes the keys and sums of the last run.
///
/// # Safety
/// `keys` has room for k numbers, and `sums` for m elements; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_hashed_result(
    hashed: *const treefold_hashed,
    keys: *mut c_void,
    k: usize,
    sums: *mut c_void,
    m: usize,
) -> Status {
    guard(|| {
        let plan = handle::object(hashed)?;
        let keys_array = Bytes::of("keys", keys, k, KEY_BYTES)?;
        let sums_array = Bytes::of("sums", sums, m, plan.element_bytes())?;
        disjoint(keys_array, sums_array)?;
        // SAFETY: the caller promises that there is room for k numbers.
        let keys = unsafe { keys_array.write(keys) };
        // SAFETY: the caller promises that there is room for m elements. They do not overlap the keys, as was just checked.
        let sums = unsafe { sums_array.write(sums) };
        plan.write(keys, sums)
    })
}

/// The input of an operation, after checking that it does not overlap the output.
///
/// # Safety
/// The same as for [`treefold_hashed_run`].
unsafe fn arrays<'a>(
    plan: &dyn AnyHashed,
    (keys, k): Input,
    (items, n): Input,
    count: *mut usize,
) -> Result<(&'a [u8], &'a [u8]), Failure> {
    let place = Bytes::of_place("count", count)?;
    let keys_array = Bytes::of("keys", keys, k, KEY_BYTES)?;
    let items_array = Bytes::of("items", items, n, plan.element_bytes())?;
    disjoint(keys_array, place)?;
    disjoint(items_array, place)?;
    // SAFETY: the caller promises that there are k numbers.
    let keys = unsafe { keys_array.read(keys) };
    // SAFETY: the caller promises that there are n elements.
    Ok((keys, unsafe { items_array.read(items) }))
}
