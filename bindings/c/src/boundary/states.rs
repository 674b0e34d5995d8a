//! The functions of `treefold.h` that change accumulators and keyed states, and read them. Written by crate `table`.

use std::ffi::c_void;

use super::{held, keyed as by_keys};
use crate::accumulator::{Change, treefold_accumulator};
use crate::failure::Status;
use crate::keyed::treefold_keyed;
use crate::statistic::Statistic;

/// Adds items.
///
/// # Safety
/// `items` are n elements of the accumulator's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_add(
    accumulator: *mut treefold_accumulator,
    items: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::change(accumulator, Change::Add, (items, n)) }
}

/// Takes back items.
///
/// # Safety
/// `items` are n elements of the accumulator's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_remove(
    accumulator: *mut treefold_accumulator,
    items: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::change(accumulator, Change::Remove, (items, n)) }
}

/// Adds products.
///
/// # Safety
/// `x` has n elements of the accumulator's type, and `y` has m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_add_dot(
    accumulator: *mut treefold_accumulator,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::change_pairs(accumulator, Change::Add, (x, n), (y, m)) }
}

/// Takes back products.
///
/// # Safety
/// `x` has n elements of the accumulator's type, and `y` has m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_remove_dot(
    accumulator: *mut treefold_accumulator,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::change_pairs(accumulator, Change::Remove, (x, n), (y, m)) }
}

/// Adds what another accumulator was given.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_accumulator_merge(
    accumulator: *mut treefold_accumulator,
    other: *const treefold_accumulator,
) -> Status {
    held::change_by(accumulator, Change::Add, other)
}

/// Takes back what another accumulator was given.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_accumulator_unmerge(
    accumulator: *mut treefold_accumulator,
    other: *const treefold_accumulator,
) -> Status {
    held::change_by(accumulator, Change::Remove, other)
}

/// The value.
///
/// # Safety
/// `result` is one element of the accumulator's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_value(
    accumulator: *const treefold_accumulator,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::statistic(accumulator, Statistic::Value, result) }
}

/// The mean.
///
/// # Safety
/// `result` is one element of the accumulator's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_mean(
    accumulator: *const treefold_accumulator,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::statistic(accumulator, Statistic::Mean, result) }
}

/// The variance.
///
/// # Safety
/// `result` is one real number of the accumulator's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_variance(
    accumulator: *const treefold_accumulator,
    ddof: f64,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::statistic(accumulator, Statistic::Variance(ddof), result) }
}

/// The standard deviation.
///
/// # Safety
/// `result` is one real number of the accumulator's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_standard_deviation(
    accumulator: *const treefold_accumulator,
    ddof: f64,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::statistic(accumulator, Statistic::StandardDeviation(ddof), result) }
}

/// Adds items by key.
///
/// # Safety
/// `keys` are k numbers of their type, and `items` are n elements of the state's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_add(
    keyed: *mut treefold_keyed,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_keys::change(
            keyed,
            Change::Add,
            (key_type, keys, k),
            [("items", items, n)],
        )
    }
}

/// Takes back items by key.
///
/// # Safety
/// `keys` are k numbers of their type, and `items` are n elements of the state's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_remove(
    keyed: *mut treefold_keyed,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_keys::change(
            keyed,
            Change::Remove,
            (key_type, keys, k),
            [("items", items, n)],
        )
    }
}

/// Adds products by key.
///
/// # Safety
/// `keys` are k numbers of their type, `x` has n elements of the state's, and `y` has l.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_add_dot(
    keyed: *mut treefold_keyed,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    l: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_keys::change(
            keyed,
            Change::Add,
            (key_type, keys, k),
            [("x", x, n), ("y", y, l)],
        )
    }
}

/// Takes back products by key.
///
/// # Safety
/// `keys` are k numbers of their type, `x` has n elements of the state's, and `y` has l.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_remove_dot(
    keyed: *mut treefold_keyed,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    l: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        by_keys::change(
            keyed,
            Change::Remove,
            (key_type, keys, k),
            [("x", x, n), ("y", y, l)],
        )
    }
}

/// The sum of each key.
///
/// # Safety
/// `result` are m elements of the state's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_sums(
    keyed: *const treefold_keyed,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::statistics(keyed, Statistic::Value, (result, m)) }
}

/// The mean of each key.
///
/// # Safety
/// `result` are m elements of the state's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_means(
    keyed: *const treefold_keyed,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::statistics(keyed, Statistic::Mean, (result, m)) }
}

/// The least item of each key.
///
/// # Safety
/// `result` are m elements of the state's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_minima(
    keyed: *const treefold_keyed,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::statistics(keyed, Statistic::Minimum, (result, m)) }
}

/// The greatest item of each key.
///
/// # Safety
/// `result` are m elements of the state's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_maxima(
    keyed: *const treefold_keyed,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::statistics(keyed, Statistic::Maximum, (result, m)) }
}

/// The variance of each key.
///
/// # Safety
/// `result` are m elements of the state's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_variances(
    keyed: *const treefold_keyed,
    ddof: f64,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::statistics(keyed, Statistic::Variance(ddof), (result, m)) }
}

/// The standard deviation of each key.
///
/// # Safety
/// `result` are m elements of the state's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_standard_deviations(
    keyed: *const treefold_keyed,
    ddof: f64,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::statistics(keyed, Statistic::StandardDeviation(ddof), (result, m)) }
}
