//! The functions of `treefold.h` of items with keys, and of windows, by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use treefold::exact::{KeyedExtrema, KeyedMoments, KeyedProducts, KeyedWeightedMeans};

use super::keyed::{by_key, by_range};
use super::shapes::results;
use crate::accumulator::Statistic;
use crate::failure::Status;
use crate::keyed::{self, Window, of_items, rolling};
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
            |keys, [x], result| {
                of_items(KeyedMoments::new, Statistic::Mean, keys, [x, &[]], result)
            },
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
            |keys, [x], result| {
                of_items(KeyedMoments::new, Statistic::Mean, keys, [x, &[]], result)
            },
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
            |keys, [x], result| {
                of_items(
                    KeyedExtrema::new,
                    Statistic::Minimum,
                    keys,
                    [x, &[]],
                    result,
                )
            },
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
            |keys, [x], result| {
                of_items(
                    KeyedExtrema::new,
                    Statistic::Minimum,
                    keys,
                    [x, &[]],
                    result,
                )
            },
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
            |keys, [x], result| {
                of_items(
                    KeyedExtrema::new,
                    Statistic::Maximum,
                    keys,
                    [x, &[]],
                    result,
                )
            },
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
            |keys, [x], result| {
                of_items(
                    KeyedExtrema::new,
                    Statistic::Maximum,
                    keys,
                    [x, &[]],
                    result,
                )
            },
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
                of_items(
                    KeyedMoments::new,
                    Statistic::Variance(ddof),
                    keys,
                    [x, &[]],
                    result,
                )
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
                of_items(
                    KeyedMoments::new,
                    Statistic::Variance(ddof),
                    keys,
                    [x, &[]],
                    result,
                )
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
                of_items(
                    KeyedMoments::new,
                    Statistic::StandardDeviation(ddof),
                    keys,
                    [x, &[]],
                    result,
                )
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
                of_items(
                    KeyedMoments::new,
                    Statistic::StandardDeviation(ddof),
                    keys,
                    [x, &[]],
                    result,
                )
            },
        )
    }
}

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
                of_items(KeyedProducts::new, Statistic::Value, keys, arrays, result)
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
                of_items(KeyedProducts::new, Statistic::Value, keys, arrays, result)
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
                of_items(
                    KeyedWeightedMeans::new,
                    Statistic::Mean,
                    keys,
                    arrays,
                    result,
                )
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
                of_items(
                    KeyedWeightedMeans::new,
                    Statistic::Mean,
                    keys,
                    arrays,
                    result,
                )
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
