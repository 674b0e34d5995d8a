//! Blocking collectives, and runs between start and end: arrays of the program's, as bytes.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;
use std::time::Duration;

use treefold::Operation;
use treefold_c::boundary::{Bytes, bytes_mut, disjoint, guard, place, write};
use treefold_c::failure::{Code, Failure, Status};

#[cfg(feature = "cuda")]
use super::device;
use crate::handle;
use crate::plan::{Shaped, treefold_plan};
use crate::run::{AnyRun, treefold_run};

/// An array that is read: where it begins, and its elements.
pub(super) type Input = (*const c_void, usize);

/// An array that is written to.
pub(super) type Output = (*mut c_void, usize);

/// A blocking operation other than a broadcast. Leaves in `is_mine`, if that is not NULL, whether this rank gets a result.
///
/// # Safety
/// `local` and `result` are so many elements of the plan's type, or NULL; `is_mine` is one int, or NULL.
#[inline]
pub(super) unsafe fn run(
    plan: *const treefold_plan,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Status {
    guard(move || {
        let plan = handle::object(plan)?;
        #[cfg(feature = "cuda")]
        // SAFETY: the caller's promise is this function's.
        if let Some(done) = unsafe { device::run(&plan, operation, local, result, is_mine) } {
            return done;
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { run_here(&plan, operation, local, result, is_mine) }.map(drop)
    })
}

/// The same on arrays in ordinary memory; says whether this rank gets a result.
///
/// # Safety
/// As [`run`].
#[inline(always)]
pub(super) unsafe fn run_here(
    plan: &Shaped,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    // SAFETY: the caller's promise is this function's.
    let arrays = unsafe { arrays(plan, operation, local, result, is_mine) };
    let (local, result) = arrays.inspect_err(|_| plan.refuse(operation))?;
    let outcome = plan.run(operation, local, result)?;
    // SAFETY: the caller promises an int, or NULL.
    unsafe { tell(is_mine, outcome) }?;
    Ok(outcome)
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
        // SAFETY: the caller's promise is this function's.
        if let Some(done) = unsafe { device::run_pairs(&plan, operation, local, result, is_mine) } {
            return done;
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { run_pairs_here(&plan, operation, local, result, is_mine) }.map(drop)
    })
}

/// The same on arrays in ordinary memory; says whether this rank gets a result.
///
/// # Safety
/// As [`run`].
pub(super) unsafe fn run_pairs_here(
    plan: &Shaped,
    operation: Operation,
    local: [Input; 2],
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    // SAFETY: the caller's promise is this function's.
    let arrays = unsafe { pairs(plan, operation, local, result, is_mine) };
    let (local, result) = arrays.inspect_err(|_| plan.refuse(operation))?;
    let outcome = plan.run_pairs(operation, local, result)?;
    // SAFETY: the caller promises an int, or NULL.
    unsafe { tell(is_mine, outcome) }?;
    Ok(outcome)
}

/// What an operation on pairs reads and writes.
///
/// # Safety
/// As [`run`].
unsafe fn pairs<'a>(
    plan: &Shaped,
    operation: Operation,
    pairs: [Input; 2],
    result: Output,
    is_mine: *mut c_int,
) -> Result<([&'a [u8]; 2], &'a mut [u8]), Failure> {
    let checked = check_pairs(plan, operation, pairs, result, is_mine)?;
    let ([x_array, y_array, result_array], _) = checked;
    let [(x, _), (y, _)] = pairs;
    // SAFETY: the caller promises n elements.
    let x = unsafe { x_array.read(x) };
    // SAFETY: the caller promises k elements.
    let y = unsafe { y_array.read(y) };
    // SAFETY: the caller promises m elements, which are in neither array, as was just found.
    let result = unsafe { result_array.write(result.0) };
    Ok(([x, y], result))
}

/// Where the arrays of an operation on pairs are, and the elements of its result.
pub(super) fn check_pairs(
    plan: &Shaped,
    operation: Operation,
    [(x, n), (y, k)]: [Input; 2],
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<([Bytes; 3], usize), Failure> {
    let m = room(plan, operation, (result, m))?;
    let x_array = Bytes::of("x", x, n, plan.element_bytes)?;
    let y_array = Bytes::of("y", y, k, plan.element_bytes)?;
    let result_array = Bytes::of("result", result, m, plan.element_bytes)?;
    disjoint(x_array, result_array)?;
    disjoint(y_array, result_array)?;
    let arrays = [x_array, y_array, result_array];
    check_told(is_mine, &arrays)?;
    Ok((arrays, m))
}

/// The elements of a result: a rank that gets none need not have room for one.
#[inline(always)]
fn room(plan: &Shaped, operation: Operation, (result, m): Output) -> Result<usize, Failure> {
    let is_unused = operation == Operation::Reduce && !plan.is_root && result.is_null();
    if is_unused && m != 0 && m != plan.width {
        let message = format!("`result` has {m} elements, but a row has {}", plan.width);
        return Err(Failure::new(Code::Length, message));
    }
    Ok(if is_unused { 0 } else { m })
}

/// What an operation reads and writes.
///
/// # Safety
/// As [`run`].
#[inline(always)]
unsafe fn arrays<'a>(
    plan: &Shaped,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Result<(&'a [u8], &'a mut [u8]), Failure> {
    let ([local_array, result_array], _) = check(plan, operation, local, result, is_mine)?;
    // SAFETY: the caller promises n elements.
    let local = unsafe { local_array.read(local.0) };
    // SAFETY: the caller promises m elements, which are no items, as was just found.
    let result = unsafe { result_array.write(result.0) };
    Ok((local, result))
}

/// Where the arrays of an operation are, and the elements of its result.
#[inline(always)]
pub(super) fn check(
    plan: &Shaped,
    operation: Operation,
    (local, n): Input,
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<([Bytes; 2], usize), Failure> {
    let element_bytes = plan.element_bytes;
    let m = room(plan, operation, (result, m))?;
    let local_array = Bytes::of("local", local, n, element_bytes)?;
    let result_array = Bytes::of("result", result, m, element_bytes)?;
    disjoint(local_array, result_array)?;
    check_told(is_mine, &[local_array, result_array])?;
    Ok(([local_array, result_array], m))
}

/// Whether the place of `is_mine`, if there is one, is apart from what a call reads and writes.
#[inline(always)]
fn check_told(is_mine: *mut c_int, arrays: &[Bytes]) -> Result<(), Failure> {
    if is_mine.is_null() {
        return Ok(());
    }
    let told = Bytes::of_place("is_mine", is_mine)?;
    arrays.iter().try_for_each(|&array| disjoint(told, array))
}

/// # Safety
/// `is_mine` is one int, or NULL.
#[inline]
pub(super) unsafe fn tell(is_mine: *mut c_int, outcome: bool) -> Result<(), Failure> {
    if is_mine.is_null() {
        return Ok(());
    }
    // SAFETY: not NULL, and the caller promises an int.
    unsafe { write("is_mine", is_mine, c_int::from(outcome)) }
}

/// Copies the root's row.
///
/// # Safety
/// `row` is so many elements of the plan's type, or NULL.
pub(super) unsafe fn broadcast(plan: *const treefold_plan, row: Output) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        #[cfg(feature = "cuda")]
        // SAFETY: the caller's promise is this function's.
        if let Some(done) = unsafe { device::broadcast(&plan, row) } {
            return done;
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { broadcast_here(&plan, row) }
    })
}

/// The same on a row in ordinary memory.
///
/// # Safety
/// As [`broadcast`].
pub(super) unsafe fn broadcast_here(plan: &Shaped, (row, m): Output) -> Result<(), Failure> {
    // SAFETY: the caller promises m elements.
    let row = unsafe { bytes_mut("row", row, m, plan.element_bytes) };
    let row = row.inspect_err(|_| plan.refuse(Operation::Broadcast))?;
    plan.broadcast(row)
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
        // SAFETY: the caller's promise is this function's.
        if let Some(done) = unsafe { device::start(&plan, name, operation, local, run) } {
            return done;
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { start_here(&plan, name, operation, local, run) }
    })
}

/// The same on an array in ordinary memory.
///
/// # Safety
/// As [`start`].
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
    let started = plan.start(name, operation, local)?;
    // SAFETY: the caller promises room for a handle.
    unsafe { write_run(run, started) }
}

/// Leaves the handle of a run where a pointer says.
///
/// # Safety
/// `place` is room for a handle, or NULL.
pub(super) unsafe fn write_run(
    place: *mut *mut treefold_run,
    run: Rc<dyn AnyRun>,
) -> Result<(), Failure> {
    let name = handle::name::<treefold_run>(run)?;
    // SAFETY: the caller's promise is this function's.
    unsafe { write_handle("run", place, name) }
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
        // SAFETY: the caller's promise is this function's.
        if let Some(done) = unsafe { device::start_pairs(&plan, name, operation, pairs, run) } {
            return done;
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { start_pairs_here(&plan, name, operation, pairs, run) }
    })
}

/// The same on arrays in ordinary memory.
///
/// # Safety
/// As [`start_pairs`].
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
    let started = plan.start_pairs(name, operation, local)?;
    // SAFETY: the caller promises room for a handle.
    unsafe { write_run(run, started) }
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
    let array = Bytes::of(name, items, n, plan.element_bytes)?;
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
        let name: *const treefold_plan = handle::object(run)?.origin().plan.cast();
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
        let name = unsafe { read_handle("run", run) }?;
        let object = handle::object(name)?;
        handle::take(name)?;
        // SAFETY: the caller promises a handle.
        unsafe { write_handle("run", run, ptr::null_mut()) }?;
        #[cfg(feature = "cuda")]
        // SAFETY: the caller's promise is this function's.
        if let Some(done) = unsafe { device::wait(&*object, result, is_mine) } {
            return done;
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { wait_here(&*object, result, is_mine) }.map(drop)
    })
}

/// The same for a result in ordinary memory; says whether this rank gets one.
///
/// # Safety
/// As [`wait`].
pub(super) unsafe fn wait_here(
    run: &dyn AnyRun,
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
    run: &dyn AnyRun,
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<(Bytes, usize), Failure> {
    let m = if run.may_lack_result() && result.is_null() {
        0
    } else {
        m
    };
    let result_array = Bytes::of("result", result, m, run.item_bytes())?;
    check_told(is_mine, &[result_array])?;
    Ok((result_array, m))
}

/// Leaves a handle where a pointer says.
///
/// # Safety
/// `place` is room for a handle, or NULL.
pub(super) unsafe fn write_handle<H>(
    name: &'static str,
    place: *mut *mut H,
    handle: *mut H,
) -> Result<(), Failure> {
    self::place(name, place)?;
    // SAFETY: not NULL and aligned, as was just found; the caller promises room for a handle.
    unsafe { place.write(handle) };
    Ok(())
}

/// The handle where a pointer says.
///
/// # Safety
/// `place` is a handle, or NULL.
pub(super) unsafe fn read_handle<H>(
    name: &'static str,
    place: *const *mut H,
) -> Result<*mut H, Failure> {
    self::place(name, place)?;
    // SAFETY: not NULL and aligned, as was just found; the caller promises a handle.
    Ok(unsafe { place.read() })
}
