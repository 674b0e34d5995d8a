//! The functions of `treefold.h` whose results are exact until rounded once, by one thread or all. Written by crate `table`.

use super::shapes::{one_array, results, two_arrays};
use crate::exact;
use crate::failure::Status;
use crate::local::By;

/// The exact sum of n numbers.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::sum(By::Caller, x)) }
}

/// The exact sum of n numbers.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::sum(By::Caller, x)) }
}

/// The exact dot product.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_dot_f32(
    x: *const f32,
    n: usize,
    y: *const f32,
    m: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, |x, y| exact::dot(By::Caller, x, y)) }
}

/// The exact dot product.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_dot_f64(
    x: *const f64,
    n: usize,
    y: *const f64,
    m: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, |x, y| exact::dot(By::Caller, x, y)) }
}

/// The square root of the exact sum of the squares.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_norm_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::norm(By::Caller, x)) }
}

/// The square root of the exact sum of the squares.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_norm_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::norm(By::Caller, x)) }
}

/// The exact sums of the columns of rows.
///
/// # Safety
/// `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_rows_f32(
    items: *const f32,
    n: usize,
    width: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        results((items, n), (result, m), |items, result| {
            exact::sum_rows(items, width, result)
        })
    }
}

/// The exact sums of the columns of rows.
///
/// # Safety
/// `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_rows_f64(
    items: *const f64,
    n: usize,
    width: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        results((items, n), (result, m), |items, result| {
            exact::sum_rows(items, width, result)
        })
    }
}

/// The exact sum of n numbers, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_sum_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::sum(By::Pool, x)) }
}

/// The exact sum of n numbers, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_sum_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::sum(By::Pool, x)) }
}

/// The exact dot product, by all threads.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_dot_f32(
    x: *const f32,
    n: usize,
    y: *const f32,
    m: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, |x, y| exact::dot(By::Pool, x, y)) }
}

/// The exact dot product, by all threads.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_dot_f64(
    x: *const f64,
    n: usize,
    y: *const f64,
    m: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, |x, y| exact::dot(By::Pool, x, y)) }
}

/// The square root of the exact sum of the squares, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_norm_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::norm(By::Pool, x)) }
}

/// The square root of the exact sum of the squares, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_norm_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::norm(By::Pool, x)) }
}
