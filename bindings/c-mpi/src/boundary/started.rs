//! Runs between start and end, on arrays of the program's in ordinary memory, as bytes.

use std::ffi::c_int;
use std::ptr;
use std::rc::Rc;
use std::time::Duration;

use treefold::Operation;
use treefold_c::boundary::guard;
use treefold_c::failure::{Failure, Status};
use treefold_c::raw::{Bytes, disjoint, place, write};

use super::collectives::{Input, Output, check_told, each_pair, tell};
use super::handles::write_handle;
use crate::handle;
use crate::operands::Given;
use crate::plan::{Shaped, treefold_plan};
use crate::run::{Run, treefold_run};

/// Starts an operation.
///
/// # Safety
/// `local` is so many elements of the plan's type, or NULL; `run` is room for a handle, or NULL.
pub(super) unsafe fn start_here(
    plan: &Shaped,
    name: *const treefold_plan,
    operation: Operation,
    local: Input,
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    // SAFETY: the caller promises n elements.
    let checked = unsafe { start_array(plan, run, "local", local) };
    let local = checked.inspect_err(|_| plan.refuse_to_start(operation))?;
    let started = plan.start(name, operation, Given::Items(local))?;
    // SAFETY: the caller promises room for a handle.
    unsafe { write_run(run, started) }
}

/// Leaves the handle of a run where a pointer says.
///
/// # Safety
/// `place` is room for a handle, or NULL.
pub(super) unsafe fn write_run(place: *mut *mut treefold_run, run: Rc<Run>) -> Result<(), Failure> {
    let name = handle::name::<treefold_run>(run)?;
    // SAFETY: the caller's promise is this function's.
    unsafe { write_handle("run", place, name) }
}

/// Starts an operation on pairs of items.
///
/// # Safety
/// `x` and `y` are so many elements of the plan's type, or NULL; `run` is room for a handle, or NULL.
pub(super) unsafe fn start_pairs_here(
    plan: &Shaped,
    name: *const treefold_plan,
    operation: Operation,
    [x, y]: [Input; 2],
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    // SAFETY: the caller promises n elements.
    let x = unsafe { start_array(plan, run, "x", x) };
    // SAFETY: the caller promises k elements.
    let y = unsafe { start_array(plan, run, "y", y) };
    let checked = x.and_then(|x| Ok([x, y?]));
    let local = checked.inspect_err(|_| plan.refuse_to_start(operation))?;
    let started = plan.start(name, operation, Given::Pair(local))?;
    // SAFETY: the caller promises room for a handle.
    unsafe { write_run(run, started) }
}

/// Starts several dot products of arrays that lie apart.
///
/// # Safety
/// Each array is so many elements of the plan's type, or NULL; `run` is room for a handle, or NULL.
pub(super) unsafe fn start_dots_here(
    plan: &Shaped,
    name: *const treefold_plan,
    pairs: &[[Input; 2]],
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    let operation = Operation::Allreduce;
    let checked = check_dot_starts(plan, pairs, run);
    let arrays = checked.inspect_err(|_| plan.refuse_to_start(operation))?;
    // SAFETY: the caller promises the elements.
    let arrays = unsafe { each_pair(&arrays, pairs) };
    let started = plan.start(name, operation, Given::Pairs(&arrays))?;
    // SAFETY: the caller promises room for a handle.
    unsafe { write_run(run, started) }
}

/// Where the arrays are that a start reads.
pub(super) fn check_dot_starts(
    plan: &Shaped,
    pairs: &[[Input; 2]],
    run: *mut *mut treefold_run,
) -> Result<Vec<[Bytes; 2]>, Failure> {
    // That of the run is checked without arrays, too.
    Bytes::of_place("run", run)?;
    let array = |name, array| check_start(plan, run, name, array);
    let pair = |&[x, y]: &[Input; 2]| Ok([array("x", x)?, array("y", y)?]);
    pairs.iter().map(pair).collect()
}

/// An array that a start reads, which is apart from the place of the run.
///
/// # Safety
/// The array is so many elements of the plan's type, or NULL.
unsafe fn start_array<'a>(
    plan: &Shaped,
    run: *mut *mut treefold_run,
    name: &'static str,
    items: Input,
) -> Result<&'a [u8], Failure> {
    let array = check_start(plan, run, name, items)?;
    // SAFETY: the caller promises n elements.
    Ok(unsafe { array.read(items.0) })
}

/// Where an array is that a start reads.
pub(super) fn check_start(
    plan: &Shaped,
    run: *mut *mut treefold_run,
    name: &'static str,
    (items, n): Input,
) -> Result<Bytes, Failure> {
    let place = Bytes::of_place("run", run)?;
    let array = Bytes::of(name, items, n, plan.items.bytes)?;
    disjoint(array, place)?;
    Ok(array)
}

/// `treefold_plan_pending`.
///
/// # Safety
/// `pending` is one int, or NULL.
pub(super) unsafe fn pending(plan: *const treefold_plan, pending: *mut c_int) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        // SAFETY: the caller promises an int.
        unsafe { write("pending", pending, c_int::from(plan.is_pending())) }
    })
}

/// `treefold_run_plan`.
///
/// # Safety
/// `plan` is room for a handle, or NULL.
pub(super) unsafe fn plan_of(run: *const treefold_run, plan: *mut *const treefold_plan) -> Status {
    guard(|| {
        let name: *const treefold_plan = handle::object(run)?.origin.plan.cast();
        place("plan", plan)?;
        let is_there = handle::object(name).is_ok();
        let found = if is_there { name } else { ptr::null() };
        // SAFETY: not NULL and aligned, as was just found; the caller promises room for a handle.
        unsafe { plan.write(found) };
        Ok(())
    })
}

/// `treefold_test`.
///
/// # Safety
/// `done` is one int, or NULL.
pub(super) unsafe fn test(run: *const treefold_run, done: *mut c_int) -> Status {
    guard(|| {
        let run = handle::object(run)?;
        place("done", done)?;
        let is_done = run.test()?;
        // SAFETY: the caller promises an int.
        unsafe { write("done", done, c_int::from(is_done)) }
    })
}

/// `treefold_wait_timeout`.
pub(super) fn wait_timeout(run: *const treefold_run, seconds: f64) -> Status {
    guard(|| {
        let run = handle::object(run)?;
        run.wait_timeout(duration(seconds)?)
    })
}

/// For ever, as a time that clocks can add to the present one: more than a century.
const FOR_EVER: Duration = Duration::from_secs(1 << 32);

/// A time of the program's.
pub(super) fn duration(seconds: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) => Ok(duration.min(FOR_EVER)),
        // Infinity, or more than a duration holds.
        Err(_) if seconds > 0.0 => Ok(FOR_EVER),
        Err(_) => {
            let reason = format_args!("{seconds} is not a number of seconds from 0 on");
            Err(Failure::argument("seconds", reason))
        }
    }
}

/// Waits for a result; says whether this rank gets one.
///
/// # Safety
/// `result` is so many elements of the plan's type, or NULL; `is_mine` is one int, or NULL.
pub(super) unsafe fn wait_here(
    run: &Run,
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    let array = match check_result(run, result, is_mine) {
        Ok((array, _)) => array,
        Err(failure) => {
            run.wait_without_arrays()?;
            return Err(failure);
        }
    };
    // SAFETY: the caller promises m elements.
    let result = unsafe { array.write(result.0) };
    let outcome = run.wait(result)?;
    // SAFETY: the caller promises an int, or NULL.
    unsafe { tell(is_mine, outcome) }?;
    Ok(outcome)
}

/// Where the result of a wait goes, and its elements.
pub(super) fn check_result(
    run: &Run,
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<(Bytes, usize), Failure> {
    let m = if run.may_lack_result() && result.is_null() {
        0
    } else {
        m
    };
    let result_array = Bytes::of("result", result, m, run.items.bytes)?;
    check_told(is_mine, &[result_array])?;
    Ok((result_array, m))
}
