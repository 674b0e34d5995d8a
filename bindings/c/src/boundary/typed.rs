//! The functions of `treefold.h` that there are for several types, and by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use num_complex::Complex;

use super::Combine;
use super::shapes::{self, one_array, results, two_arrays, two_results};
use crate::exact;
use crate::failure::Status;
use crate::local::{self, By};

/// The sum of n numbers.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_f32(x: *const f32, n: usize, result: *mut f32) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, treefold::sum) }
}

/// The sum of n numbers.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_f64(x: *const f64, n: usize, result: *mut f64) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, treefold::sum) }
}

/// The sum of n complex numbers.
///
/// # Safety
/// `x` has 2 n numbers, and `result` has 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_c32(x: *const f32, n: usize, result: *mut f32) -> Status {
    let (x, result) = (x.cast::<Complex<f32>>(), result.cast());
    // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.
    unsafe { one_array(x, n, result, treefold::sum) }
}

/// The sum of n complex numbers.
///
/// # Safety
/// `x` has 2 n numbers, and `result` has 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_c64(x: *const f64, n: usize, result: *mut f64) -> Status {
    let (x, result) = (x.cast::<Complex<f64>>(), result.cast());
    // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.
    unsafe { one_array(x, n, result, treefold::sum) }
}

/// The sum in lanes.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_lanes_f32(
    x: *const f32,
    n: usize,
    lanes: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| treefold::sum_lanes(x, lanes)) }
}

/// The sum in lanes.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_lanes_f64(
    x: *const f64,
    n: usize,
    lanes: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| treefold::sum_lanes(x, lanes)) }
}

/// The dot product.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_dot_f32(
    x: *const f32,
    n: usize,
    y: *const f32,
    m: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, treefold::dot) }
}

/// The dot product.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_dot_f64(
    x: *const f64,
    n: usize,
    y: *const f64,
    m: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, treefold::dot) }
}

/// The sum of the squares.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_squared_norm_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, treefold::squared_norm) }
}

/// The sum of the squares.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_squared_norm_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, treefold::squared_norm) }
}

/// The sum, and that of the absolute values.
///
/// # Safety
/// `x` has n numbers, and `sum` and `absolute_sum` are one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_and_absolute_sum_f32(
    x: *const f32,
    n: usize,
    sum: *mut f32,
    absolute_sum: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_results(x, n, (sum, absolute_sum), treefold::sum_and_absolute_sum) }
}

/// The sum, and that of the absolute values.
///
/// # Safety
/// `x` has n numbers, and `sum` and `absolute_sum` are one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_and_absolute_sum_f64(
    x: *const f64,
    n: usize,
    sum: *mut f64,
    absolute_sum: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_results(x, n, (sum, absolute_sum), treefold::sum_and_absolute_sum) }
}

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

/// The sum of n numbers, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_f32(x: *const f32, n: usize, result: *mut f32) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, local::par_sum) }
}

/// The sum of n numbers, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_f64(x: *const f64, n: usize, result: *mut f64) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, local::par_sum) }
}

/// The sum of n complex numbers, by all threads.
///
/// # Safety
/// `x` has 2 n numbers, and `result` has 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_c32(x: *const f32, n: usize, result: *mut f32) -> Status {
    let (x, result) = (x.cast::<Complex<f32>>(), result.cast());
    // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.
    unsafe { one_array(x, n, result, local::par_sum) }
}

/// The sum of n complex numbers, by all threads.
///
/// # Safety
/// `x` has 2 n numbers, and `result` has 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_c64(x: *const f64, n: usize, result: *mut f64) -> Status {
    let (x, result) = (x.cast::<Complex<f64>>(), result.cast());
    // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.
    unsafe { one_array(x, n, result, local::par_sum) }
}

/// The sum in lanes, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_lanes_f32(
    x: *const f32,
    n: usize,
    lanes: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| local::par_sum_lanes(x, lanes)) }
}

/// The sum in lanes, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_lanes_f64(
    x: *const f64,
    n: usize,
    lanes: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| local::par_sum_lanes(x, lanes)) }
}

/// The dot product, by all threads.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_dot_f32(
    x: *const f32,
    n: usize,
    y: *const f32,
    m: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, local::par_dot) }
}

/// The dot product, by all threads.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_dot_f64(
    x: *const f64,
    n: usize,
    y: *const f64,
    m: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, local::par_dot) }
}

/// The sum of the squares, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_squared_norm_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, local::par_squared_norm) }
}

/// The sum of the squares, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_squared_norm_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, local::par_squared_norm) }
}

/// The sum, and that of the absolute values, by all threads.
///
/// # Safety
/// `x` has n numbers, and `sum` and `absolute_sum` are one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_and_absolute_sum_f32(
    x: *const f32,
    n: usize,
    sum: *mut f32,
    absolute_sum: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_results(x, n, (sum, absolute_sum), local::par_sum_and_absolute_sum) }
}

/// The sum, and that of the absolute values, by all threads.
///
/// # Safety
/// `x` has n numbers, and `sum` and `absolute_sum` are one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_and_absolute_sum_f64(
    x: *const f64,
    n: usize,
    sum: *mut f64,
    absolute_sum: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_results(x, n, (sum, absolute_sum), local::par_sum_and_absolute_sum) }
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
