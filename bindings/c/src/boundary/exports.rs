//! The functions of `treefold.h` that there are once.

use std::ffi::{c_char, c_int, c_void};

use treefold::exact::Options;

use super::keyed as by_keys;
use super::{guard, held};
use crate::accumulator::{self, treefold_accumulator};
use crate::element::ElementType;
use crate::failure::{self, Code, Status};
use crate::keyed::{self, treefold_keyed};
use crate::statistic::Statistic;

/// The version: 10000 times the major number, plus 100 times the minor one, plus the patch.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_version() -> u32 {
    let number = |text: &str| text.parse::<u32>().expect("cargo checks versions");
    10_000 * number(env!("CARGO_PKG_VERSION_MAJOR"))
        + 100 * number(env!("CARGO_PKG_VERSION_MINOR"))
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// What went wrong in this thread's last call that failed.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_last_error() -> *const c_char {
    failure::last_message()
}

/// The rank that the last error of this thread is about, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_last_error_rank() -> i32 {
    let rank = failure::last_rank().and_then(|rank| i32::try_from(rank).ok());
    rank.unwrap_or(failure::NO_RANK)
}

/// The name of a code.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_status_name(status: Status) -> *const c_char {
    Code::name(status).as_ptr()
}

/// An accumulator of no items.
///
/// # Safety
/// `result` is one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_create(
    element_type: i32,
    figure: i32,
    result: *mut *mut treefold_accumulator,
) -> Status {
    let make = || accumulator::of_codes(ElementType::of_code(element_type)?, figure);
    // SAFETY: the caller's promise is this function's.
    unsafe { held::create(result, make) }
}

/// Ends an accumulator.
///
/// # Safety
/// `accumulator` is one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_destroy(
    accumulator: *mut *mut treefold_accumulator,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::destroy(accumulator) }
}

/// The number of an accumulator's items.
///
/// # Safety
/// `result` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_count(
    accumulator: *const treefold_accumulator,
    result: *mut u64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::count(accumulator, result) }
}

/// Whether two accumulators are equal.
///
/// # Safety
/// `result` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_equal(
    accumulator: *const treefold_accumulator,
    other: *const treefold_accumulator,
    result: *mut c_int,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        held::equal(accumulator, other, result, |held, other| {
            held.equals(other.as_ref())
        })
    }
}

/// An accumulator as bytes.
///
/// # Safety
/// `bytes` has room for `capacity` bytes, and `needed` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_to_bytes(
    accumulator: *const treefold_accumulator,
    bytes: *mut c_void,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        held::to_bytes(accumulator, (bytes, capacity), needed, |held| {
            Ok(held.to_bytes())
        })
    }
}

/// Makes an accumulator what bytes stand for.
///
/// # Safety
/// `bytes` are n bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_of_bytes(
    accumulator: *mut treefold_accumulator,
    bytes: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        held::of_bytes(accumulator, (bytes, n), |held, bytes| {
            held.become_bytes(bytes)
        })
    }
}

/// A state of no items for so many keys.
///
/// # Safety
/// `result` is one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_create(
    element_type: i32,
    figure: i32,
    keys: usize,
    result: *mut *mut treefold_keyed,
) -> Status {
    let make = || keyed::of_codes(ElementType::of_code(element_type)?, figure, keys);
    // SAFETY: the caller's promise is this function's.
    unsafe { held::create(result, make) }
}

/// Ends a keyed state.
///
/// # Safety
/// `keyed` is one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_destroy(keyed: *mut *mut treefold_keyed) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::destroy(keyed) }
}

/// Adds what another keyed state was given.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_keyed_merge(
    keyed: *mut treefold_keyed,
    other: *const treefold_keyed,
) -> Status {
    by_keys::merge(keyed, other)
}

/// The number of each key's items.
///
/// # Safety
/// `result` are m numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_counts(
    keyed: *const treefold_keyed,
    result: *mut u64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::counts(keyed, (result, m)) }
}

/// A statistic of each key.
///
/// # Safety
/// `result` are m elements of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_statistics(
    keyed: *const treefold_keyed,
    statistic: i32,
    ddof: f64,
    bias: c_int,
    result: *mut c_void,
    m: usize,
) -> Status {
    let bias = bias != 0;
    match Statistic::of_code(statistic, Options { ddof, bias }) {
        // SAFETY: the caller's promise is this function's.
        Ok(statistic) => unsafe { by_keys::statistics(keyed, statistic, (result, m)) },
        Err(failure) => guard(|| Err(failure)),
    }
}

/// A state of sums of rows, of no rows for so many keys.
///
/// # Safety
/// `result` is one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_create_rows(
    element_type: i32,
    keys: usize,
    width: usize,
    result: *mut *mut treefold_keyed,
) -> Status {
    let make = || keyed::of_rows(ElementType::of_code(element_type)?, keys, width);
    // SAFETY: the caller's promise is this function's.
    unsafe { held::create(result, make) }
}

/// A state of sums by any keys, of no items.
///
/// # Safety
/// `result` is one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_create_hashed(
    element_type: i32,
    key_type: i32,
    result: *mut *mut treefold_keyed,
) -> Status {
    let make = || {
        let key_type = by_keys::type_of("key_type", key_type)?;
        keyed::hashed_of_codes(ElementType::of_code(element_type)?, key_type)
    };
    // SAFETY: the caller's promise is this function's.
    unsafe { held::create(result, make) }
}

/// The number of a state's keys.
///
/// # Safety
/// `result` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_groups(
    keyed: *const treefold_keyed,
    result: *mut usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::groups(keyed, result) }
}

/// The keys of a state, in ascending order.
///
/// # Safety
/// `result` are m numbers of their type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_keys(
    keyed: *const treefold_keyed,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::keys(keyed, (result, m)) }
}

/// Whether two keyed states are equal.
///
/// # Safety
/// `result` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_equal(
    keyed: *const treefold_keyed,
    other: *const treefold_keyed,
    result: *mut c_int,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        held::equal(keyed, other, result, |held, other| {
            held.equals(other.as_ref())
        })
    }
}

/// A keyed state as bytes.
///
/// # Safety
/// `bytes` has room for `capacity` bytes, and `needed` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_to_bytes(
    keyed: *const treefold_keyed,
    bytes: *mut c_void,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::to_bytes(keyed, (bytes, capacity), needed, |held| held.to_bytes()) }
}

/// Makes a keyed state what bytes stand for.
///
/// # Safety
/// `bytes` are n bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_of_bytes(
    keyed: *mut treefold_keyed,
    bytes: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { held::of_bytes(keyed, (bytes, n), |held, bytes| held.become_bytes(bytes)) }
}

/// The sum of each key's integers, in 64 bits.
///
/// # Safety
/// `keys` are k numbers of their type, `items` are n of theirs, and `result` are m of 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_integer_sum_by_key(
    key_type: i32,
    keys: *const c_void,
    k: usize,
    element_type: i32,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { by_keys::integer_sums((key_type, keys, k), (element_type, items, n), (result, m)) }
}
