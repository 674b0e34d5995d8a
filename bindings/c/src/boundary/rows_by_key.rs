//! The functions of `treefold.h` of pairs and rows with keys. Written by crate `table`.

use std::ffi::c_void;

use treefold::exact::{ProductSum, WeightedMean};

use super::keyed::by_key;
use crate::failure::Status;
use crate::keyed::{self, of_items};
use crate::statistic::Statistic;

/// The exact dot product of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `x` has n numbers, `y` has l, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_dot_by_key_f32(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const f32,
    n: usize,
    y: *const f32,
    l: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            [("x", x, n), ("y", y, l)],
            (result, m),
            |keys, arrays, result| {
                of_items::<ProductSum<_>>(Statistic::Value, keys, arrays, result)
            },
        )
    }
}

/// The exact dot product of the items of each key.
///
/// # Safety
/// `keys` are k numbers of their type, `x` has n numbers, `y` has l, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_dot_by_key_f64(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const f64,
    n: usize,
    y: *const f64,
    l: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            [("x", x, n), ("y", y, l)],
            (result, m),
            |keys, arrays, result| {
                of_items::<ProductSum<_>>(Statistic::Value, keys, arrays, result)
            },
        )
    }
}

/// The mean of the items x of each key, with weights y.
///
/// # Safety
/// `keys` are k numbers of their type, `x` has n numbers, `y` has l, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_weighted_mean_by_key_f32(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const f32,
    n: usize,
    y: *const f32,
    l: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            [("x", x, n), ("y", y, l)],
            (result, m),
            |keys, arrays, result| {
                of_items::<WeightedMean<_>>(Statistic::Mean, keys, arrays, result)
            },
        )
    }
}

/// The mean of the items x of each key, with weights y.
///
/// # Safety
/// `keys` are k numbers of their type, `x` has n numbers, `y` has l, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_weighted_mean_by_key_f64(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const f64,
    n: usize,
    y: *const f64,
    l: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            [("x", x, n), ("y", y, l)],
            (result, m),
            |keys, arrays, result| {
                of_items::<WeightedMean<_>>(Statistic::Mean, keys, arrays, result)
            },
        )
    }
}

/// The exact sums of the columns of each key's rows.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_rows_by_key_f32(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f32,
    n: usize,
    width: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            [("items", items, n)],
            (result, m),
            |keys, [items], result| keyed::sum_rows(keys, items, width, result),
        )
    }
}

/// The exact sums of the columns of each key's rows.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_rows_by_key_f64(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const f64,
    n: usize,
    width: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_key(
            (key_type, keys, k),
            [("items", items, n)],
            (result, m),
            |keys, [items], result| keyed::sum_rows(keys, items, width, result),
        )
    }
}
