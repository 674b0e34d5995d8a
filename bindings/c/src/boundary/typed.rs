//! The functions of `treefold.h` that there are for several types, by one thread or all. Written by crate `table`.

use num_complex::Complex;

use super::shapes::{one_array, two_arrays, two_results};
use crate::failure::Status;
use crate::local;

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
