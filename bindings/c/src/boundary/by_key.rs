//! The functions of `treefold.h` of items with keys, and of windows, by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use super::shapes::{by_key, results};
use crate::accumulator::Statistic;
use crate::failure::Status;
use crate::keyed;
use crate::local::By;

/// The exact sum of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_by_key_f32(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f32,
    n: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| keyed::sums(By::Caller, keys, items, result),
        )
    }
}

/// The exact sum of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_by_key_f64(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f64,
    n: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| keyed::sums(By::Caller, keys, items, result),
        )
    }
}

/// The mean of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_mean_by_key_f32(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f32,
    n: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| keyed::statistics(Statistic::Mean, keys, items, result),
        )
    }
}

/// The mean of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_mean_by_key_f64(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f64,
    n: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| keyed::statistics(Statistic::Mean, keys, items, result),
        )
    }
}

/// The variance of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_variance_by_key_f32(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f32,
    n: usize,
    ddof: f64,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| keyed::statistics(Statistic::Variance(ddof), keys, items, result),
        )
    }
}

/// The variance of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_variance_by_key_f64(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f64,
    n: usize,
    ddof: f64,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| keyed::statistics(Statistic::Variance(ddof), keys, items, result),
        )
    }
}

/// The standard deviation of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_standard_deviation_by_key_f32(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f32,
    n: usize,
    ddof: f64,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| {
                keyed::statistics(Statistic::StandardDeviation(ddof), keys, items, result)
            },
        )
    }
}

/// The standard deviation of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_standard_deviation_by_key_f64(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f64,
    n: usize,
    ddof: f64,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| {
                keyed::statistics(Statistic::StandardDeviation(ddof), keys, items, result)
            },
        )
    }
}

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
            keyed::rolling(Statistic::Value, items, [window, least_items], result)
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
            keyed::rolling(Statistic::Value, items, [window, least_items], result)
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
            keyed::rolling(Statistic::Mean, items, [window, least_items], result)
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
            keyed::rolling(Statistic::Mean, items, [window, least_items], result)
        })
    }
}

/// The exact sum of the items of each key, by all threads.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_sum_by_key_f32(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f32,
    n: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| keyed::sums(By::Pool, keys, items, result),
        )
    }
}

/// The exact sum of the items of each key, by all threads.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_sum_by_key_f64(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f64,
    n: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            (items, n),
            (result, m),
            |keys, items, result| keyed::sums(By::Pool, keys, items, result),
        )
    }
}
