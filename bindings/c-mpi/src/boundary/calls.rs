//! The functions of `treefold_mpi.h` that run and start plans.

use std::ffi::{c_int, c_void};
use std::ptr;

use treefold::Operation;
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::Status;

use super::arrays::Arrays;
use super::entry;
use crate::operands::{OF_DOTS, OF_KEYS, OF_STARTS};
use crate::plan::treefold_plan;
use crate::run::treefold_run;

/// Reduces; every rank gets the result. Collective.
///
/// # Safety
/// `local` points to n elements and `result` to m elements; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_allreduce(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    let (operation, none) = (Operation::Allreduce, ptr::null_mut());
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run(plan, operation, (local, n), (result, m), none) }
}

/// Reduces; the root gets the result. Collective.
///
/// # Safety
/// `local` points to n elements, `result` to m elements, and `is_mine` to one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reduce(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run(plan, Operation::Reduce, (local, n), (result, m), is_mine) }
}

/// Reduces; every rank gets its columns. Collective.
///
/// # Safety
/// The same as for [`treefold_allreduce`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reduce_scatter(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    let (operation, none) = (Operation::ReduceScatter, ptr::null_mut());
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run(plan, operation, (local, n), (result, m), none) }
}

/// Reduces, for each of this rank's items, all items up to and including it. Collective.
///
/// # Safety
/// The same as for [`treefold_allreduce`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_scan(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    let none = ptr::null_mut();
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run(plan, Operation::Scan, (local, n), (result, m), none) }
}

/// Reduces, for each of this rank's items, all items before it. Collective.
///
/// # Safety
/// The same as for [`treefold_allreduce`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exscan(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    let none = ptr::null_mut();
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run(plan, Operation::Exscan, (local, n), (result, m), none) }
}

/// Copies the root's row to every rank. Collective.
///
/// # Safety
/// `row` points to m elements, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_broadcast(
    plan: *const treefold_plan,
    row: *mut c_void,
    m: usize,
) -> Status {
    let (nothing, none) = ((ptr::null(), 0), ptr::null_mut());
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run(plan, Operation::Broadcast, nothing, (row, m), none) }
}

/// Computes the dot product. Collective.
///
/// # Safety
/// `x` points to n elements, `y` to k elements, `result` to m elements, and `is_mine` to one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_run_dot(
    plan: *const treefold_plan,
    operation: i32,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    k: usize,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    let arrays = Arrays::Pair([(x, n), (y, k)]);
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run_code(plan, (operation, OF_DOTS), arrays, (result, m), is_mine) }
}

/// Computes the dot products of k pairs of arrays. Collective.
///
/// # Safety
/// `x` and `y` are lists of k pointers to n elements each, `result` points to m elements, and `is_mine` to one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_run_dots(
    plan: *const treefold_plan,
    operation: i32,
    x: *const *const c_void,
    y: *const *const c_void,
    k: usize,
    n: usize,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    let arrays = Arrays::Pairs([x, y], k, n);
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run_code(plan, (operation, OF_DOTS), arrays, (result, m), is_mine) }
}

/// Computes the value of each key. Collective.
///
/// # Safety
/// `keys` points to k numbers, `items` to n elements, `result` to m elements, and `is_mine` to one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_run_by_key(
    plan: *const treefold_plan,
    operation: i32,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    let arrays = Arrays::ByKey((key_type, keys, k), (items, n));
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run_code(plan, (operation, OF_KEYS), arrays, (result, m), is_mine) }
}

/// Merges the ranks' states by key. Collective.
///
/// # Safety
/// `is_mine` points to one int, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_run_keyed(
    plan: *const treefold_plan,
    operation: i32,
    keyed: *mut treefold_keyed,
    is_mine: *mut c_int,
) -> Status {
    let (arrays, none) = (Arrays::State(keyed), (ptr::null_mut(), 0));
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::run_code(plan, (operation, OF_KEYS), arrays, none, is_mine) }
}

/// Starts an operation. Collective.
///
/// # Safety
/// `local` points to n elements, `result` to m elements until the run ends, and `run` to room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start(
    plan: *const treefold_plan,
    operation: i32,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
    run: *mut *mut treefold_run,
) -> Status {
    let arrays = Arrays::Items((local, n));
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::start(plan, (operation, OF_STARTS), arrays, (result, m), run) }
}

/// Starts [`treefold_run_dot`]. Collective.
///
/// # Safety
/// `x` points to n elements, `y` to k elements, `result` to m elements until the run ends, `run` to room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_dot(
    plan: *const treefold_plan,
    operation: i32,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    k: usize,
    result: *mut c_void,
    m: usize,
    run: *mut *mut treefold_run,
) -> Status {
    let arrays = Arrays::Pair([(x, n), (y, k)]);
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::start(plan, (operation, OF_DOTS), arrays, (result, m), run) }
}

/// Starts [`treefold_run_dots`]. Collective.
///
/// # Safety
/// `x` and `y` list k pointers to n elements, `result` points to m elements until the run ends, `run` to room for a handle, or are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_dots(
    plan: *const treefold_plan,
    operation: i32,
    x: *const *const c_void,
    y: *const *const c_void,
    k: usize,
    n: usize,
    result: *mut c_void,
    m: usize,
    run: *mut *mut treefold_run,
) -> Status {
    let arrays = Arrays::Pairs([x, y], k, n);
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::start(plan, (operation, OF_DOTS), arrays, (result, m), run) }
}

/// Starts [`treefold_run_by_key`]. Collective.
///
/// # Safety
/// `keys` points to k keys, `items` to n elements, `result` to m elements until the run ends, `run` to room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_by_key(
    plan: *const treefold_plan,
    operation: i32,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
    run: *mut *mut treefold_run,
) -> Status {
    let arrays = Arrays::ByKey((key_type, keys, k), (items, n));
    // SAFETY: the caller promises what the callee requires.
    unsafe { entry::start(plan, (operation, OF_KEYS), arrays, (result, m), run) }
}
