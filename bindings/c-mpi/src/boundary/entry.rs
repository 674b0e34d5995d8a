//! Calls that read or write arrays in host or GPU memory.

use std::any::Any;
use std::ffi::c_int;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::rc::Rc;
use std::slice;

use treefold::Operation;
#[cfg(feature = "cuda")]
use treefold::cuda::may_have_arrays;
use treefold_c::boundary::{guard, treefold_keyed};
use treefold_c::failure::{Code, Failure, Status};
use treefold_c::raw::{Bytes, disjoint};

use super::arrays::{Arrays, Input, Output, places, start_places, tell};
#[cfg(feature = "cuda")]
use super::device;
use super::handles::{read_handle, write_handle};
use crate::handle;
use crate::operands::{Takes, operation_of_code};
use crate::plan::{Shaped, treefold_plan};
use crate::run::{Run, treefold_run};

/// Runs a blocking operation on items. Unless `is_mine` is NULL, writes there whether this rank gets a result.
///
/// # Safety
/// `local` and `result` have the given numbers of elements of the plan's type, and `is_mine` points to one int; each may be NULL.
#[inline(always)]
pub(super) unsafe fn run(
    plan: *const treefold_plan,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    let may_fold = operation == Operation::Allreduce && is_mine.is_null() && are_here();
    // Built-in operators do not panic, so this path needs no `guard`.
    // SAFETY: the caller promises what the callee requires.
    if may_fold && unsafe { fold_here(plan, local, result) }.is_some() {
        return Code::Ok as Status;
    }
    // SAFETY: the caller promises what the callee requires.
    unsafe { run_items(plan, operation, local, result, is_mine) }
}

/// # Safety
/// The same as for [`run`].
#[inline(never)]
unsafe fn run_items(
    plan: *const treefold_plan,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        if plan.takes == Takes::InTree && is_mine.is_null() && are_here() {
            // SAFETY: the caller promises what the callee requires.
            if let Some((local, result)) = unsafe { slices(&plan, local, result) } {
                return plan.run_items(operation, local, result).map(drop);
            }
        }
        // SAFETY: the caller promises what the callee requires.
        unsafe { run_object(&plan, operation, Arrays::Items(local), result, is_mine) }
    })
}

/// Runs the blocking operation with this code. The call offers only the first `among` operations.
///
/// # Safety
/// The arrays are as [`Arrays`] describes them; `result` and `is_mine` are as in [`run`].
pub(super) unsafe fn run_code(
    plan: *const treefold_plan,
    (code, among): (i32, usize),
    arrays: Arrays,
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        let refuse = |_: &Failure| plan.refuse(Operation::Allreduce);
        let operation = operation_of_code(code, among).inspect_err(refuse)?;
        // SAFETY: the caller promises what the callee requires.
        unsafe { run_object(&plan, operation, arrays, result, is_mine) }
    })
}

/// Whether all arrays are in host memory.
#[inline]
fn are_here() -> bool {
    #[cfg(feature = "cuda")]
    return !may_have_arrays();
    #[cfg(not(feature = "cuda"))]
    true
}

/// The short path: an allreduce that only folds this rank's items by a built-in operator. Does nothing and returns `None` for any other
/// call, or if anything is wrong. The less memory a short call touches, the less time it takes, and this path touches little memory.
///
/// # Safety
/// The same as for [`run`].
#[inline(always)]
unsafe fn fold_here(plan: *const treefold_plan, local: Input, result: Output) -> Option<()> {
    handle::look(plan, |plan| {
        if !plan.plan.is_fold() {
            return None;
        }
        // SAFETY: the caller of `fold_here` promises the same as that of `slices`.
        let (local, result) = unsafe { slices(plan, local, result) }?;
        plan.plan.fold(local, result)
    })
}

/// The arrays as slices. `None` if one is NULL, the result is empty, or the plan cannot use them in place: they overlap, are misaligned, or
/// have another layout than the plan's items.
///
/// # Safety
/// The same as for [`run`].
#[inline(always)]
unsafe fn slices<'a>(
    plan: &Shaped,
    (local, n): Input,
    (result, m): Output,
) -> Option<(&'a [u8], &'a mut [u8])> {
    let bytes_of = |count: usize| {
        let bytes = count.checked_mul(plan.items.bytes);
        bytes.filter(|&bytes| isize::try_from(bytes).is_ok())
    };
    let (local_bytes, result_bytes) = (bytes_of(n)?, bytes_of(m)?);
    let (begin, place) = (local.addr(), result.addr());
    let are_apart =
        place >= begin.checked_add(local_bytes)? || place.checked_add(result_bytes)? <= begin;
    let are_usable = begin != 0 && place != 0 && m != 0 && plan.items.lie_right(begin, place);
    if !(are_usable && are_apart) {
        return None;
    }
    // SAFETY: `local` is not NULL. The caller promises n elements there, which have `local_bytes` bytes: no more than a slice can have.
    let local = unsafe { slice::from_raw_parts(local.cast(), local_bytes) };
    // SAFETY: `result` is not NULL. The caller promises m elements there, which do not overlap the items, as was just checked.
    let result = unsafe { slice::from_raw_parts_mut(result.cast(), result_bytes) };
    Some((local, result))
}

/// # Safety
/// The same as for [`run_code`].
#[inline(never)]
unsafe fn run_object(
    plan: &Shaped,
    operation: Operation,
    arrays: Arrays,
    result: Output,
    is_mine: *mut c_int,
) -> Result<(), Failure> {
    #[cfg(feature = "cuda")]
    if may_have_arrays() {
        // SAFETY: the caller promises what the callee requires.
        return unsafe { device::run(plan, operation, arrays, result, is_mine) }.map(drop);
    }
    // SAFETY: the caller promises what the callee requires.
    unsafe { run_here(plan, operation, arrays, result, is_mine) }.map(drop)
}

/// Like [`run`] and [`run_code`], but on arrays in host memory. Returns whether this rank gets a result.
///
/// # Safety
/// The same as for [`run_code`].
#[inline(always)]
pub(super) unsafe fn run_here(
    plan: &Shaped,
    operation: Operation,
    arrays: Arrays,
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    let refuse = |_: &Failure| plan.refuse(operation);
    let mut kept = Vec::new();
    let written = places(plan, operation, result, is_mine).inspect_err(refuse)?;
    // SAFETY: the caller promises what the callee requires.
    let given = unsafe { arrays.given(plan.items.bytes, &written, &mut kept) };
    let given = given.inspect_err(refuse)?;
    // SAFETY: the caller promises that there are m elements. The call does not read them, as was just checked.
    let result = unsafe { written[0].write(result.0) };
    let outcome = plan.run(operation, given, result)?;
    // SAFETY: the caller promises that the pointer points to an int or is NULL.
    unsafe { tell(is_mine, outcome) }?;
    Ok(outcome)
}

/// Starts the operation with this code, one of the first `among` operations. The wait writes to `result`, unless `result` is NULL.
///
/// # Safety
/// The arrays are as [`Arrays`] describes them. Until the run ends, `result` has the given number of elements of the plan's type. `run`
/// points to room for a handle. Each may be NULL.
pub(super) unsafe fn start(
    name: *const treefold_plan,
    (code, among): (i32, usize),
    arrays: Arrays,
    result: Output,
    run: *mut *mut treefold_run,
) -> Status {
    guard(|| {
        let plan = handle::object(name)?;
        let operation = operation_of_code(code, among)
            .inspect_err(|_| plan.refuse_to_start(Operation::Allreduce))?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller promises what the callee requires.
            return unsafe { device::start(&plan, name, operation, arrays, result, run) };
        }
        // SAFETY: the caller promises what the callee requires.
        unsafe { start_here(&plan, name, operation, arrays, result, run) }
    })
}

/// Like [`start`], but on arrays in host memory.
///
/// # Safety
/// The same as for [`start`].
pub(super) unsafe fn start_here(
    plan: &Shaped,
    name: *const treefold_plan,
    operation: Operation,
    arrays: Arrays,
    result: Output,
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    let refuse = |_: &Failure| plan.refuse_to_start(operation);
    let mut kept = Vec::new();
    let written = start_places(plan, operation, result, run).inspect_err(refuse)?;
    // SAFETY: the caller promises what the callee requires.
    let given = unsafe { arrays.given(plan.items.bytes, &written, &mut kept) };
    let given = given.inspect_err(refuse)?;
    let started = plan.start(name, operation, given, result)?;
    // SAFETY: the caller promises that there is room for a handle.
    unsafe { write_run(run, started) }
}

/// Writes the handle of a run.
///
/// # Safety
/// `place` points to room for a handle, or is NULL.
pub(super) unsafe fn write_run(place: *mut *mut treefold_run, run: Rc<Run>) -> Result<(), Failure> {
    let name = handle::name::<treefold_run>(run)?;
    // SAFETY: the caller promises what the callee requires.
    unsafe { write_handle("run", place, name) }
}

/// Destroys the handle of a run, and returns the run.
///
/// # Safety
/// `run` points to a handle, or is NULL.
unsafe fn take_run(run: *mut *mut treefold_run) -> Result<Rc<Run>, Failure> {
    // SAFETY: the caller promises that the pointer points to a handle or is NULL.
    let name = unsafe { read_handle("run", run) }?;
    let object = handle::take(name)?;
    // SAFETY: the caller promises that the pointer points to a handle.
    unsafe { write_handle("run", run, ptr::null_mut()) }?;
    Ok(object)
}

/// Waits for a run, and destroys its handle.
///
/// # Safety
/// `run` points to a handle, `result` to the given number of elements of the plan's type, and `is_mine` to one int; each may be NULL.
pub(super) unsafe fn wait(
    run: *mut *mut treefold_run,
    result: Output,
    is_mine: *mut c_int,
) -> Result<(), Failure> {
    // SAFETY: the caller promises that the pointer points to a handle or is NULL.
    let object = unsafe { take_run(run) }?;
    let result = object.or_end(object.place(result))?;
    #[cfg(feature = "cuda")]
    if may_have_arrays() {
        // SAFETY: the caller promises what the callee requires.
        return unsafe { device::wait(&object, result, is_mine) };
    }
    // SAFETY: the caller promises what the callee requires.
    unsafe { wait_here(&object, result, is_mine) }.map(drop)
}

/// Like [`wait`], but for a result in host memory. Returns whether this rank gets a result.
///
/// # Safety
/// The same as for [`wait`].
pub(super) unsafe fn wait_here(
    run: &Run,
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    let array = run.or_end(check_result(run, result, is_mine))?;
    // SAFETY: the caller promises that there are m elements.
    let outcome = run.wait(unsafe { array.write(result.0) })?;
    // SAFETY: the caller promises that the pointer points to an int or is NULL.
    unsafe { tell(is_mine, outcome) }?;
    Ok(outcome)
}

/// Checks the outputs of a wait. Returns the address range of the result.
pub(super) fn check_result(
    run: &Run,
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<Bytes, Failure> {
    let is_absent = run.may_lack_result() && result.is_null();
    let m = if is_absent { 0 } else { m };
    let array = Bytes::of("result", result, m, run.items.bytes)?;
    let is_mine_place = Bytes::of_optional_place("is_mine", is_mine)?;
    disjoint(is_mine_place, array)?;
    Ok(array)
}

/// Waits for runs that were started with result buffers, and destroys all handles.
///
/// # Safety
/// `runs` points to n handles, or is NULL.
pub(super) unsafe fn wait_all(runs: *mut *mut treefold_run, n: usize) -> Result<(), Failure> {
    let list = Bytes::of("runs", runs.cast(), n, size_of::<*mut treefold_run>())?;
    list.aligned(align_of::<*mut treefold_run>())?;
    let mut outcome: Result<Result<(), Failure>, Box<dyn Any + Send>> = Ok(Ok(()));
    for place in (0..n).map(|index| runs.wrapping_add(index)) {
        // SAFETY: the caller promises that there are n handles.
        if unsafe { read_handle("runs", place) }?.is_null() {
            continue;
        }
        // A failing operator unwinds, but the other runs must still be waited for.
        // SAFETY: as above.
        let wait = || unsafe { wait(place, (ptr::null_mut(), 0), ptr::null_mut()) };
        let waited = panic::catch_unwind(AssertUnwindSafe(wait));
        if matches!(outcome, Ok(Ok(()))) {
            outcome = waited;
        }
    }
    outcome.unwrap_or_else(|payload| panic::resume_unwind(payload))
}

/// Waits for a run by key, replaces a state with the run's result, and destroys the run's handle.
///
/// # Safety
/// `run` points to a handle, and `is_mine` to one int; each may be NULL.
pub(super) unsafe fn wait_keyed(
    run: *mut *mut treefold_run,
    keyed: *const treefold_keyed,
    is_mine: *mut c_int,
) -> Result<(), Failure> {
    // SAFETY: the caller promises that the pointer points to a handle or is NULL.
    let object = unsafe { take_run(run) }?;
    object.or_end(Bytes::of_optional_place("is_mine", is_mine).map(drop))?;
    let outcome = object.wait_keyed(keyed)?;
    // SAFETY: the caller promises that the pointer points to an int or is NULL.
    unsafe { tell(is_mine, outcome) }
}
