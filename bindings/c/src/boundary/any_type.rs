//! The functions of `treefold.h` for items of any type, by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use super::shapes;
use crate::failure::Status;
use crate::local::By;
use crate::raw::Combine;

/// The reduction of n items of any type by any operator.
///
/// # Safety
/// `items` are n elements of the type, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fold(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { shapes::fold(By::Caller, (element_type, op), (items, n), result) }
}

/// The reduction of rows, element by element.
///
/// # Safety
/// `items` are n elements of the type, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fold_rows(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    width: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        shapes::fold_rows(
            By::Caller,
            (element_type, op),
            (items, n),
            width,
            (result, m),
        )
    }
}

/// The reductions of several fields.
///
/// # Safety
/// `fields` are `count` pointers to n elements of the type each, and `result` are `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fields(
    element_type: i32,
    op: i32,
    fields: *const *const c_void,
    count: usize,
    n: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { shapes::fields(By::Caller, (element_type, op), (fields, count, n), result) }
}

/// The reduction of n items by the caller's operator.
///
/// # Safety
/// `items` are n items of so many bytes, `empty` is NULL or one, `result` is one, and the operator does as `treefold.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fold_user(
    items: *const c_void,
    n: usize,
    item_bytes: usize,
    combine: Combine,
    context: *mut c_void,
    empty: *const c_void,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        shapes::fold_user(
            By::Caller,
            (items, n),
            item_bytes,
            (combine, context),
            empty,
            result,
        )
    }
}

/// The reduction of n items of any type by any operator, by all threads.
///
/// # Safety
/// `items` are n elements of the type, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_fold(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { shapes::fold(By::Pool, (element_type, op), (items, n), result) }
}

/// The reduction of rows, element by element, by all threads.
///
/// # Safety
/// `items` are n elements of the type, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_fold_rows(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    width: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { shapes::fold_rows(By::Pool, (element_type, op), (items, n), width, (result, m)) }
}

/// The reductions of several fields, by all threads.
///
/// # Safety
/// `fields` are `count` pointers to n elements of the type each, and `result` are `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_fields(
    element_type: i32,
    op: i32,
    fields: *const *const c_void,
    count: usize,
    n: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { shapes::fields(By::Pool, (element_type, op), (fields, count, n), result) }
}

/// The reduction of n items by the caller's operator, by all threads.
///
/// # Safety
/// `items` are n items of so many bytes, `empty` is NULL or one, `result` is one, and the operator does as `treefold.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_fold_user(
    items: *const c_void,
    n: usize,
    item_bytes: usize,
    combine: Combine,
    context: *mut c_void,
    empty: *const c_void,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        shapes::fold_user(
            By::Pool,
            (items, n),
            item_bytes,
            (combine, context),
            empty,
            result,
        )
    }
}
