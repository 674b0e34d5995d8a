//! The functions of `treefold_mpi.h` for plans and runs, except those that run and start plans.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

use treefold::Algorithm;
use treefold_c::boundary::{guard, treefold_keyed};
use treefold_c::failure::{Failure, Status};
use treefold_c::raw::{Bytes, disjoint, place, write};

use super::entry;
use super::handles::{destroy, take_handle, write_handle};
use crate::builder::treefold_builder;
use crate::handle;
use crate::operands::{OPERATIONS, operation_of_code};

pub use crate::plan::treefold_plan;
pub use crate::run::treefold_run;

/// Builds a plan. Collective.
///
/// # Safety
/// `result` points to room for a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_build(
    builder: *const treefold_builder,
    result: *mut *mut treefold_plan,
) -> Status {
    guard(|| {
        let builder = handle::object(builder)?;
        place("result", result)?;
        let plan = builder.borrow().build()?;
        // SAFETY: the caller promises that there is room for a handle.
        unsafe { write_handle("result", result, handle::name(plan)?) }
    })
}

/// Destroys a plan.
///
/// # Safety
/// `plan` points to a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_destroy(plan: *mut *mut treefold_plan) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { destroy("plan", plan) }
}

/// Writes the name of the algorithm that runs an operation.
///
/// # Safety
/// `name` points to room for a pointer, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_algorithm(
    plan: *const treefold_plan,
    operation: i32,
    name: *mut *const c_char,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        place("name", name)?;
        let algorithm = plan.algorithm(operation_of_code(operation, OPERATIONS.len())?);
        // SAFETY: the caller promises what the callee requires.
        unsafe { write_algorithm(name, algorithm) }
    })
}

/// Writes the name of an algorithm, or NULL if there is none.
///
/// # Safety
/// `name` points to room for a pointer, or is NULL.
unsafe fn write_algorithm(
    name: *mut *const c_char,
    algorithm: Option<Algorithm>,
) -> Result<(), Failure> {
    place("name", name)?;
    let text = algorithm.map_or(ptr::null(), |algorithm| c_name(algorithm).as_ptr());
    // SAFETY: `name` is aligned and not NULL, as was just checked; the caller promises that there is room for a pointer.
    unsafe { name.write(text) };
    Ok(())
}

/// Writes which columns this rank gets from a reduce-scatter.
///
/// # Safety
/// `begin` and `end` point to one number each, or are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_scattered_columns(
    plan: *const treefold_plan,
    begin: *mut usize,
    end: *mut usize,
) -> Status {
    guard(|| {
        let columns = handle::object(plan)?.plan.scattered_columns();
        disjoint(
            Bytes::of_place("begin", begin)?,
            Bytes::of_place("end", end)?,
        )?;
        // SAFETY: the caller promises that the pointer points to a number.
        unsafe { write("begin", begin, columns.start) }?;
        // SAFETY: the caller promises that the pointer points to a number.
        unsafe { write("end", end, columns.end) }
    })
}

/// Prints a plan's schedule.
///
/// # Safety
/// `text` has room for `capacity` bytes, and `needed` points to one number, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_print(
    plan: *const treefold_plan,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        let place = Bytes::of_place("needed", needed)?;
        let array = Bytes::of("text", text.cast(), capacity, 1)?;
        disjoint(array, place)?;
        // SAFETY: the caller promises that there is room for `capacity` bytes.
        let room = unsafe { array.write(text.cast()) };
        let printed = plan.plan.to_string();
        if let Some(last) = capacity.checked_sub(1) {
            let lengths = (0..=last.min(printed.len())).rev();
            let mut whole = lengths.filter(|&length| printed.is_char_boundary(length));
            let length = whole.next().expect("0 is a boundary");
            room[..length].copy_from_slice(&printed.as_bytes()[..length]);
            room[length] = 0;
        }
        // SAFETY: the caller promises that the pointer points to a number.
        unsafe { write("needed", needed, printed.len() + 1) }
    })
}

/// Makes progress without waiting.
///
/// # Safety
/// `done` points to one int, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_test(run: *const treefold_run, done: *mut c_int) -> Status {
    guard(|| {
        let run = handle::object(run)?;
        place("done", done)?;
        let is_done = run.test()?;
        // SAFETY: the caller promises that the pointer points to an int or is NULL.
        unsafe { write("done", done, c_int::from(is_done)) }
    })
}

/// Waits for at most `seconds`.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_wait_timeout(run: *const treefold_run, seconds: f64) -> Status {
    guard(|| {
        let run = handle::object(run)?;
        run.wait_timeout(duration(seconds)?)
    })
}

/// The time that replaces an infinite time: more than a century, but small enough to be added to the time of a clock.
const FOR_EVER: Duration = Duration::from_secs(1 << 32);

/// Converts the program's number of seconds.
pub(super) fn duration(seconds: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) => Ok(duration.min(FOR_EVER)),
        // Infinite, or too large for a `Duration`.
        Err(_) if seconds > 0.0 => Ok(FOR_EVER),
        Err(_) => {
            let reason = format_args!("it must be at least 0, not {seconds}");
            Err(Failure::argument("seconds", reason))
        }
    }
}

/// Writes whether the plan has a run that was started, but neither waited for nor cancelled.
///
/// # Safety
/// `pending` points to one int, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_pending(
    plan: *const treefold_plan,
    pending: *mut c_int,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        // SAFETY: the caller promises that the pointer points to an int or is NULL.
        unsafe { write("pending", pending, c_int::from(plan.is_pending())) }
    })
}

/// Writes the handle of a run's plan, or NULL if that handle was destroyed.
///
/// # Safety
/// `plan` points to room for a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_run_plan(
    run: *const treefold_run,
    plan: *mut *const treefold_plan,
) -> Status {
    guard(|| {
        let name: *const treefold_plan = handle::object(run)?.origin.plan.cast();
        place("plan", plan)?;
        let is_there = handle::object(name).is_ok();
        let found = if is_there { name } else { ptr::null() };
        // SAFETY: `plan` is aligned and not NULL, as was just checked; the caller promises that there is room for a handle.
        unsafe { plan.write(found) };
        Ok(())
    })
}

/// Writes the name of a run's algorithm.
///
/// # Safety
/// `name` points to room for a pointer, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_run_algorithm(
    run: *const treefold_run,
    name: *mut *const c_char,
) -> Status {
    guard(|| {
        let algorithm = handle::object(run)?.origin.algorithm;
        // SAFETY: the caller promises what the callee requires.
        unsafe { write_algorithm(name, algorithm) }
    })
}

/// Waits for a run.
///
/// # Safety
/// `run` points to a handle, `result` to m elements, and `is_mine` to one int; each may be NULL. The array of the start still exists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_wait(
    run: *mut *mut treefold_run,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    guard(|| unsafe { entry::wait(run, (result, m), is_mine) })
}

/// Waits for runs that were started with arrays for their results.
///
/// # Safety
/// `runs` points to n handles, or is NULL. The arrays of the starts still exist.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_wait_all(runs: *mut *mut treefold_run, n: usize) -> Status {
    // SAFETY: the caller promises what the callee requires.
    guard(|| unsafe { entry::wait_all(runs, n) })
}

/// Waits for a run by key, and replaces a state with the run's result.
///
/// # Safety
/// `run` points to a handle, and `is_mine` to one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_wait_keyed(
    run: *mut *mut treefold_run,
    keyed: *mut treefold_keyed,
    is_mine: *mut c_int,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    guard(|| unsafe { entry::wait_keyed(run, keyed, is_mine) })
}

/// Cancels a run.
///
/// # Safety
/// `run` points to a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_cancel(run: *mut *mut treefold_run) -> Status {
    guard(|| {
        // SAFETY: the caller promises that the pointer points to a handle or is NULL.
        if let Some(object) = unsafe { take_handle("run", run) }? {
            object.cancel();
        }
        Ok(())
    })
}

/// The names of all algorithms as C strings.
fn algorithm_names() -> &'static [(Algorithm, CString)] {
    static NAMES: OnceLock<Vec<(Algorithm, CString)>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let named = |algorithm: Algorithm| {
            let name = CString::new(algorithm.name()).expect("no name has a 0");
            (algorithm, name)
        };
        Algorithm::all().map(named).collect()
    })
}

fn c_name(algorithm: Algorithm) -> &'static CStr {
    let found = algorithm_names()
        .iter()
        .find(|(known, _)| *known == algorithm);
    &found.expect("all algorithms are known").1
}

/// The name of algorithm number `index`, or NULL if there is no such algorithm.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_algorithm_name(index: usize) -> *const c_char {
    let found = algorithm_names().get(index);
    found.map_or(ptr::null(), |(_, name)| name.as_ptr())
}
