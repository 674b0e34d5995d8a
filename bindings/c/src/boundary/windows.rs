//! The functions of `treefold.h` of windows. Written by crate `table`.

use std::ffi::c_void;

use super::keyed::by_range;
use super::shapes::results;
use crate::failure::Status;
use crate::keyed::{Window, rolling};
use crate::statistic::Statistic;

/// The exact sum of the window that ends at each item.
///
/// # Safety
/// `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_rolling_sum_f32(
    items: *const f32,
    n: usize,
    window: usize,
    least_items: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        results((items, n), (result, m), |items, result| {
            rolling(
                Statistic::Value,
                items,
                Window::Items(window),
                least_items,
                result,
            )
        })
    }
}

/// The exact sum of the window that ends at each item.
///
/// # Safety
/// `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_rolling_sum_f64(
    items: *const f64,
    n: usize,
    window: usize,
    least_items: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        results((items, n), (result, m), |items, result| {
            rolling(
                Statistic::Value,
                items,
                Window::Items(window),
                least_items,
                result,
            )
        })
    }
}

/// The mean of the window that ends at each item.
///
/// # Safety
/// `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_rolling_mean_f32(
    items: *const f32,
    n: usize,
    window: usize,
    least_items: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        results((items, n), (result, m), |items, result| {
            rolling(
                Statistic::Mean,
                items,
                Window::Items(window),
                least_items,
                result,
            )
        })
    }
}

/// The mean of the window that ends at each item.
///
/// # Safety
/// `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_rolling_mean_f64(
    items: *const f64,
    n: usize,
    window: usize,
    least_items: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        results((items, n), (result, m), |items, result| {
            rolling(
                Statistic::Mean,
                items,
                Window::Items(window),
                least_items,
                result,
            )
        })
    }
}

/// The exact sum of the window of an index that ends at each item.
///
/// # Safety
/// `index` are k numbers of their type, `width` is one, `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_rolling_sum_by_range_f32(
    index_type: i32,
    index: *const c_void,
    k: usize,
    items: *const f32,
    n: usize,
    width: *const c_void,
    least_items: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_range(
            (index_type, index, k),
            (items, n),
            width,
            (result, m),
            |items, window, result| rolling(Statistic::Value, items, window, least_items, result),
        )
    }
}

/// The exact sum of the window of an index that ends at each item.
///
/// # Safety
/// `index` are k numbers of their type, `width` is one, `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_rolling_sum_by_range_f64(
    index_type: i32,
    index: *const c_void,
    k: usize,
    items: *const f64,
    n: usize,
    width: *const c_void,
    least_items: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_range(
            (index_type, index, k),
            (items, n),
            width,
            (result, m),
            |items, window, result| rolling(Statistic::Value, items, window, least_items, result),
        )
    }
}

/// The mean of the window of an index that ends at each item.
///
/// # Safety
/// `index` are k numbers of their type, `width` is one, `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_rolling_mean_by_range_f32(
    index_type: i32,
    index: *const c_void,
    k: usize,
    items: *const f32,
    n: usize,
    width: *const c_void,
    least_items: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_range(
            (index_type, index, k),
            (items, n),
            width,
            (result, m),
            |items, window, result| rolling(Statistic::Mean, items, window, least_items, result),
        )
    }
}

/// The mean of the window of an index that ends at each item.
///
/// # Safety
/// `index` are k numbers of their type, `width` is one, `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_rolling_mean_by_range_f64(
    index_type: i32,
    index: *const c_void,
    k: usize,
    items: *const f64,
    n: usize,
    width: *const c_void,
    least_items: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_range(
            (index_type, index, k),
            (items, n),
            width,
            (result, m),
            |items, window, result| rolling(Statistic::Mean, items, window, least_items, result),
        )
    }
}
