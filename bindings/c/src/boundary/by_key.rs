//! The functions of `treefold.h` of items with keys, by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use treefold::exact::{Extrema, Moments};

use super::keyed::by_key;
use crate::failure::Status;
use crate::keyed::{self, of_items};
use crate::local::By;
use crate::statistic::Statistic;

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
            [("items", items, n)],
            (result, m),
            |keys, [items], result| keyed::sums(By::Caller, keys, items, result),
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
            [("items", items, n)],
            (result, m),
            |keys, [items], result| keyed::sums(By::Caller, keys, items, result),
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| of_items::<Moments<_>>(Statistic::Mean, keys, [x, &[]], result),
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| of_items::<Moments<_>>(Statistic::Mean, keys, [x, &[]], result),
        )
    }
}

/// The least item of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_min_by_key_f32(
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| of_items::<Extrema<_>>(Statistic::Minimum, keys, [x, &[]], result),
        )
    }
}

/// The least item of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_min_by_key_f64(
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| of_items::<Extrema<_>>(Statistic::Minimum, keys, [x, &[]], result),
        )
    }
}

/// The greatest item of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_max_by_key_f32(
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| of_items::<Extrema<_>>(Statistic::Maximum, keys, [x, &[]], result),
        )
    }
}

/// The greatest item of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_max_by_key_f64(
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| of_items::<Extrema<_>>(Statistic::Maximum, keys, [x, &[]], result),
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| {
                of_items::<Moments<_>>(Statistic::Variance(ddof), keys, [x, &[]], result)
            },
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| {
                of_items::<Moments<_>>(Statistic::Variance(ddof), keys, [x, &[]], result)
            },
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| {
                of_items::<Moments<_>>(Statistic::StandardDeviation(ddof), keys, [x, &[]], result)
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
            [("items", items, n)],
            (result, m),
            |keys, [x], result| {
                of_items::<Moments<_>>(Statistic::StandardDeviation(ddof), keys, [x, &[]], result)
            },
        )
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
            [("items", items, n)],
            (result, m),
            |keys, [items], result| keyed::sums(By::Pool, keys, items, result),
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
            [("items", items, n)],
            (result, m),
            |keys, [items], result| keyed::sums(By::Pool, keys, items, result),
        )
    }
}
