//! The functions of `treefold_mpi.h` that run and start plans. Written by crate `table`.

use std::ffi::{c_int, c_void};
use std::ptr;

use treefold::Operation;
use treefold_c::failure::Status;

use super::entry;
use crate::plan::treefold_plan;
use crate::run::treefold_run;

/// `treefold_allreduce`. Collective.
///
/// # Safety
/// `local` is n elements and `result` is m, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_allreduce(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        entry::run(
            plan,
            Operation::Allreduce,
            (local, n),
            (result, m),
            ptr::null_mut(),
        )
    }
}

/// `treefold_reduce`. Collective.
///
/// # Safety
/// `local` is n elements, `result` is m, and `is_mine` is one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reduce(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::run(plan, Operation::Reduce, (local, n), (result, m), is_mine) }
}

/// `treefold_reduce_scatter`. Collective.
///
/// # Safety
/// `local` is n elements and `result` is m, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reduce_scatter(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        entry::run(
            plan,
            Operation::ReduceScatter,
            (local, n),
            (result, m),
            ptr::null_mut(),
        )
    }
}

/// `treefold_scan`. Collective.
///
/// # Safety
/// `local` is n elements and `result` is m, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_scan(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        entry::run(
            plan,
            Operation::Scan,
            (local, n),
            (result, m),
            ptr::null_mut(),
        )
    }
}

/// `treefold_exscan`. Collective.
///
/// # Safety
/// `local` is n elements and `result` is m, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exscan(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        entry::run(
            plan,
            Operation::Exscan,
            (local, n),
            (result, m),
            ptr::null_mut(),
        )
    }
}

/// `treefold_broadcast`. Collective.
///
/// # Safety
/// `row` is m elements, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_broadcast(
    plan: *const treefold_plan,
    row: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::broadcast(plan, (row, m)) }
}

/// Starts `treefold_allreduce`. Collective.
///
/// # Safety
/// `local` is n elements, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_allreduce(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::start(plan, Operation::Allreduce, (local, n), run) }
}

/// Starts `treefold_reduce`. Collective.
///
/// # Safety
/// `local` is n elements, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_reduce(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::start(plan, Operation::Reduce, (local, n), run) }
}

/// Starts `treefold_reduce_scatter`. Collective.
///
/// # Safety
/// `local` is n elements, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_reduce_scatter(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::start(plan, Operation::ReduceScatter, (local, n), run) }
}

/// Starts `treefold_scan`. Collective.
///
/// # Safety
/// `local` is n elements, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_scan(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::start(plan, Operation::Scan, (local, n), run) }
}

/// Starts `treefold_exscan`. Collective.
///
/// # Safety
/// `local` is n elements, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_exscan(
    plan: *const treefold_plan,
    local: *const c_void,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::start(plan, Operation::Exscan, (local, n), run) }
}

/// The dot product on every rank. Collective.
///
/// # Safety
/// `x` is n elements, `y` is k, and `result` is m; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_allreduce_dot(
    plan: *const treefold_plan,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    k: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        entry::run_pairs(
            plan,
            Operation::Allreduce,
            [(x, n), (y, k)],
            (result, m),
            ptr::null_mut(),
        )
    }
}

/// The dot product on the root. Collective.
///
/// # Safety
/// `x` is n elements, `y` is k, `result` is m, and `is_mine` is one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reduce_dot(
    plan: *const treefold_plan,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    k: usize,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        entry::run_pairs(
            plan,
            Operation::Reduce,
            [(x, n), (y, k)],
            (result, m),
            is_mine,
        )
    }
}

/// Starts `treefold_allreduce_dot`. Collective.
///
/// # Safety
/// `x` is n elements, `y` is k, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_allreduce_dot(
    plan: *const treefold_plan,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    k: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::start_pairs(plan, Operation::Allreduce, [(x, n), (y, k)], run) }
}

/// Starts `treefold_reduce_dot`. Collective.
///
/// # Safety
/// `x` is n elements, `y` is k, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_reduce_dot(
    plan: *const treefold_plan,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    k: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::start_pairs(plan, Operation::Reduce, [(x, n), (y, k)], run) }
}
