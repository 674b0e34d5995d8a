//! The functions of `treefold_mpi.h` that run and start plans by key. Written by crate `table`.

use std::ffi::{c_int, c_void};
use std::ptr;

use treefold::Operation;
use treefold_c::failure::Status;

use super::keyed;
use crate::plan::treefold_plan;
use crate::run::treefold_run;

/// The value of each key on every rank. Collective.
///
/// # Safety
/// `keys` are k numbers, `items` are n elements, and `result` is m; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_allreduce_by_key(
    plan: *const treefold_plan,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        keyed::run(
            plan,
            Operation::Allreduce,
            (key_type, keys, k),
            (items, n),
            (result, m),
            ptr::null_mut(),
        )
    }
}

/// The value of each key on the root. Collective.
///
/// # Safety
/// `keys` are k numbers, `items` are n elements, `result` is m, and `is_mine` is one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reduce_by_key(
    plan: *const treefold_plan,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        keyed::run(
            plan,
            Operation::Reduce,
            (key_type, keys, k),
            (items, n),
            (result, m),
            is_mine,
        )
    }
}

/// The values of this rank's keys. Collective.
///
/// # Safety
/// `keys` are k numbers, `items` are n elements, and `result` is m; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reduce_scatter_by_key(
    plan: *const treefold_plan,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        keyed::run(
            plan,
            Operation::ReduceScatter,
            (key_type, keys, k),
            (items, n),
            (result, m),
            ptr::null_mut(),
        )
    }
}

/// Starts `treefold_allreduce_by_key`. Collective.
///
/// # Safety
/// `keys` are k numbers, `items` are n elements, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_allreduce_by_key(
    plan: *const treefold_plan,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        keyed::start(
            plan,
            Operation::Allreduce,
            (key_type, keys, k),
            (items, n),
            run,
        )
    }
}

/// Starts `treefold_reduce_by_key`. Collective.
///
/// # Safety
/// `keys` are k numbers, `items` are n elements, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_reduce_by_key(
    plan: *const treefold_plan,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        keyed::start(
            plan,
            Operation::Reduce,
            (key_type, keys, k),
            (items, n),
            run,
        )
    }
}

/// Starts `treefold_reduce_scatter_by_key`. Collective.
///
/// # Safety
/// `keys` are k numbers, `items` are n elements, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_reduce_scatter_by_key(
    plan: *const treefold_plan,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        keyed::start(
            plan,
            Operation::ReduceScatter,
            (key_type, keys, k),
            (items, n),
            run,
        )
    }
}
