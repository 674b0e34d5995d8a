//! Calls that read or write arrays, wherever these are.

use std::ffi::c_int;
use std::ptr;
use std::rc::Rc;

use treefold::Operation;
#[cfg(feature = "cuda")]
use treefold::cuda::may_have_arrays;
use treefold_c::boundary::{guard, treefold_keyed};
use treefold_c::failure::{Code, Failure, Status};

use super::collectives::{self, Input, Output, check_told, tell};
#[cfg(feature = "cuda")]
use super::device;
use super::handles::{read_handle, write_handle};
use super::started;
use crate::handle;
use crate::plan::treefold_plan;
use crate::run::{Run, treefold_run};

/// A blocking operation other than a broadcast. Leaves in `is_mine`, if that is not NULL, whether this rank gets a result.
///
/// # Safety
/// `local` and `result` are so many elements of the plan's type, or NULL; `is_mine` is one int, or NULL.
#[inline(always)]
pub(super) unsafe fn run(
    plan: *const treefold_plan,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    let may_fold = operation == Operation::Allreduce && is_mine.is_null() && are_here();
    // Nothing in it panics: the operator is one of treefold's.
    // SAFETY: the caller's promise is this function's.
    if may_fold && unsafe { collectives::fold_here(plan, local, result) }.is_some() {
        return Code::Ok as Status;
    }
    // SAFETY: the caller's promise is this function's.
    unsafe { run_object(plan, operation, local, result, is_mine) }
}

/// Whether all arrays are in ordinary memory.
#[inline]
fn are_here() -> bool {
    #[cfg(feature = "cuda")]
    return !may_have_arrays();
    #[cfg(not(feature = "cuda"))]
    true
}

/// # Safety
/// As [`run`].
#[inline(never)]
unsafe fn run_object(
    plan: *const treefold_plan,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller's promise is this function's.
            return unsafe { device::run(&plan, operation, local, result, is_mine) }.map(drop);
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { collectives::run_here(&plan, operation, local, result, is_mine) }.map(drop)
    })
}

/// A blocking operation on pairs of items.
///
/// # Safety
/// As [`run`].
pub(super) unsafe fn run_pairs(
    plan: *const treefold_plan,
    operation: Operation,
    local: [Input; 2],
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller's promise is this function's.
            return unsafe { device::run_pairs(&plan, operation, local, result, is_mine) }
                .map(drop);
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { collectives::run_pairs_here(&plan, operation, local, result, is_mine) }.map(drop)
    })
}

/// Copies the root's row.
///
/// # Safety
/// `row` is so many elements of the plan's type, or NULL.
pub(super) unsafe fn broadcast(plan: *const treefold_plan, row: Output) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller's promise is this function's.
            return unsafe { device::broadcast(&plan, row) };
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { collectives::broadcast_here(&plan, row) }
    })
}

/// Starts an operation.
///
/// # Safety
/// `local` is so many elements of the plan's type, or NULL; `run` is room for a handle, or NULL.
pub(super) unsafe fn start(
    name: *const treefold_plan,
    operation: Operation,
    local: Input,
    run: *mut *mut treefold_run,
) -> Status {
    guard(|| {
        let plan = handle::object(name)?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller's promise is this function's.
            return unsafe { device::start(&plan, name, operation, local, run) };
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { started::start_here(&plan, name, operation, local, run) }
    })
}

/// Starts an operation on pairs of items.
///
/// # Safety
/// `x` and `y` are so many elements of the plan's type, or NULL; `run` is room for a handle, or NULL.
pub(super) unsafe fn start_pairs(
    name: *const treefold_plan,
    operation: Operation,
    pairs: [Input; 2],
    run: *mut *mut treefold_run,
) -> Status {
    guard(|| {
        let plan = handle::object(name)?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller's promise is this function's.
            return unsafe { device::start_pairs(&plan, name, operation, pairs, run) };
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { started::start_pairs_here(&plan, name, operation, pairs, run) }
    })
}

/// Ends the handle of a run that is waited for.
///
/// # Safety
/// `run` is a handle, or NULL.
unsafe fn take_run(run: *mut *mut treefold_run) -> Result<Rc<Run>, Failure> {
    // SAFETY: the caller promises a handle, or NULL.
    let name = unsafe { read_handle("run", run) }?;
    let object = handle::take(name)?;
    // SAFETY: the caller promises a handle.
    unsafe { write_handle("run", run, ptr::null_mut()) }?;
    Ok(object)
}

/// `treefold_wait_keyed`. Ends the handle.
///
/// # Safety
/// `run` is a handle, or NULL; `is_mine` is one int, or NULL.
pub(super) unsafe fn wait_keyed(
    run: *mut *mut treefold_run,
    keyed: *const treefold_keyed,
    is_mine: *mut c_int,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises a handle, or NULL.
        let object = unsafe { take_run(run) }?;
        if let Err(failure) = check_told(is_mine, &[]) {
            object.wait_without_arrays()?;
            return Err(failure);
        }
        let outcome = object.wait_keyed(keyed)?;
        // SAFETY: the caller promises an int, or NULL.
        unsafe { tell(is_mine, outcome) }
    })
}

/// `treefold_wait`. Ends the handle.
///
/// # Safety
/// `run` is a handle, or NULL; `result` is so many elements of the plan's type, or NULL; `is_mine` is one int, or NULL.
pub(super) unsafe fn wait(
    run: *mut *mut treefold_run,
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises a handle, or NULL.
        let object = unsafe { take_run(run) }?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller's promise is this function's.
            return unsafe { device::wait(&object, result, is_mine) }.map(drop);
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { started::wait_here(&object, result, is_mine) }.map(drop)
    })
}
