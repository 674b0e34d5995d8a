//! Calls on items with keys, and on states by key.

use std::ffi::c_int;

use treefold::Operation;
use treefold_c::boundary::{KeysInput, guard, keys_of, treefold_keyed};
use treefold_c::failure::{Failure, Status};
use treefold_c::keyed::Keys;
use treefold_c::raw::{Bytes, disjoint};

use super::collectives::{Input, Output, check_told, room, tell};
use super::started::{check_start, write_run};
use crate::handle;
use crate::operands::Given;
use crate::plan::{Shaped, treefold_plan};
use crate::run::treefold_run;

/// A blocking operation. Leaves in `is_mine`, if that is not NULL, whether this rank gets a result.
///
/// # Safety
/// `keys` are so many numbers of their type, `items` and `result` so many elements of the plan's, or NULL; `is_mine` is one int, or NULL.
pub(super) unsafe fn run(
    plan: *const treefold_plan,
    operation: Operation,
    keys: KeysInput,
    items: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        // SAFETY: the caller's promise is this function's.
        let arrays = unsafe { arrays(&plan, operation, keys, items, result, is_mine) };
        let (keys, items, result) = arrays.inspect_err(|_| plan.refuse(operation))?;
        let outcome = plan.run(operation, Given::ByKey(keys, items), result)?;
        // SAFETY: the caller promises an int, or NULL.
        unsafe { tell(is_mine, outcome) }
    })
}

/// What an operation reads and writes.
///
/// # Safety
/// As [`run`].
unsafe fn arrays<'a>(
    plan: &Shaped,
    operation: Operation,
    keys: KeysInput,
    (items, n): Input,
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<(Keys<'a>, &'a [u8], &'a mut [u8]), Failure> {
    let m = room(plan, operation, (result, m))?;
    // SAFETY: the caller promises such keys.
    let (keys, keys_array) = unsafe { keys_of(keys) }?;
    let items_array = Bytes::of("items", items, n, plan.items.bytes)?;
    let result_array = Bytes::of("result", result, m, plan.items.bytes)?;
    disjoint(keys_array, result_array)?;
    disjoint(items_array, result_array)?;
    check_told(is_mine, &[keys_array, items_array, result_array])?;
    // SAFETY: the caller promises n elements.
    let items = unsafe { items_array.read(items) };
    // SAFETY: the caller promises m elements, which are neither keys nor items, as was just found.
    let result = unsafe { result_array.write(result) };
    Ok((keys, items, result))
}

/// Starts an operation.
///
/// # Safety
/// As [`run`]; `run` is room for a handle, or NULL.
pub(super) unsafe fn start(
    name: *const treefold_plan,
    operation: Operation,
    keys: KeysInput,
    items: Input,
    run: *mut *mut treefold_run,
) -> Status {
    guard(|| {
        let plan = handle::object(name)?;
        // SAFETY: the caller's promise is this function's.
        let arrays = unsafe { start_arrays(&plan, keys, items, run) };
        let (keys, items) = arrays.inspect_err(|_| plan.refuse_to_start(operation))?;
        let started = plan.start(name, operation, Given::ByKey(keys, items))?;
        // SAFETY: the caller promises room for a handle.
        unsafe { write_run(run, started) }
    })
}

/// What a start reads, which is apart from the place of the run.
///
/// # Safety
/// As [`start`].
unsafe fn start_arrays<'a>(
    plan: &Shaped,
    keys: KeysInput,
    items: Input,
    run: *mut *mut treefold_run,
) -> Result<(Keys<'a>, &'a [u8]), Failure> {
    let items_array = check_start(plan, run, "items", items)?;
    // SAFETY: the caller promises such keys.
    let (keys, keys_array) = unsafe { keys_of(keys) }?;
    disjoint(keys_array, Bytes::of_place("run", run)?)?;
    // SAFETY: the caller promises n elements.
    Ok((keys, unsafe { items_array.read(items.0) }))
}

/// Adds up the ranks' states by key; every rank's becomes that of all. Collective.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_allreduce_keyed(
    plan: *const treefold_plan,
    keyed: *mut treefold_keyed,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        plan.run(Operation::Allreduce, Given::Keyed(keyed), &mut [])
            .map(drop)
    })
}

/// The same for the root's state. Collective.
///
/// # Safety
/// `is_mine` is one int, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reduce_keyed(
    plan: *const treefold_plan,
    keyed: *mut treefold_keyed,
    is_mine: *mut c_int,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        check_told(is_mine, &[]).inspect_err(|_| plan.refuse(Operation::Reduce))?;
        let outcome = plan.run(Operation::Reduce, Given::Keyed(keyed), &mut [])?;
        // SAFETY: the caller promises an int, or NULL.
        unsafe { tell(is_mine, outcome) }
    })
}

/// The same; every rank's state becomes that of its own keys. Collective.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reduce_scatter_keyed(
    plan: *const treefold_plan,
    keyed: *mut treefold_keyed,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        plan.run(Operation::ReduceScatter, Given::Keyed(keyed), &mut [])
            .map(drop)
    })
}
