//! The functions of `treefold.h` for accumulators.

use std::ffi::{c_int, c_void};

use super::arrays::{place_of, write_element};
use super::{guard, held};
use crate::accumulator::{self, treefold_accumulator};
use crate::element::ElementType;
use crate::failure::Status;
use crate::handle;
use crate::keyed::Change;
use crate::statistic::{Asked, Question};

/// Creates an empty accumulator.
///
/// # Safety
/// `result` points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_create(
    element_type: i32,
    statistic: i32,
    result: *mut *mut treefold_accumulator,
) -> Status {
    let make = || {
        let asked = Asked::of_code(statistic)?;
        accumulator::of_codes(ElementType::of_code(element_type)?, asked)
    };
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::create(result, make) }
}

/// Copies an accumulator.
///
/// # Safety
/// `result` points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_copy(
    accumulator: *const treefold_accumulator,
    result: *mut *mut treefold_accumulator,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::copy(accumulator, result) }
}

/// Destroys an accumulator.
///
/// # Safety
/// `accumulator` points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_destroy(
    accumulator: *mut *mut treefold_accumulator,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::destroy(accumulator) }
}

/// Removes all items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_accumulator_clear(accumulator: *mut treefold_accumulator) -> Status {
    held::clear(accumulator)
}

/// Adds items.
///
/// # Safety
/// `items` points to n elements of the accumulator's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_add(
    accumulator: *mut treefold_accumulator,
    items: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::change(accumulator, Change::Add, None, [("items", items, n)]) }
}

/// Removes items.
///
/// # Safety
/// `items` points to n elements of the accumulator's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_remove(
    accumulator: *mut treefold_accumulator,
    items: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::change(accumulator, Change::Remove, None, [("items", items, n)]) }
}

/// Adds pairs.
///
/// # Safety
/// `x` points to n elements of the accumulator's type, and `y` to m elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_add_pairs(
    accumulator: *mut treefold_accumulator,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::change(accumulator, Change::Add, None, [("x", x, n), ("y", y, m)]) }
}

/// Removes pairs.
///
/// # Safety
/// `x` points to n elements of the accumulator's type, and `y` to m elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_remove_pairs(
    accumulator: *mut treefold_accumulator,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe {
        held::change(
            accumulator,
            Change::Remove,
            None,
            [("x", x, n), ("y", y, m)],
        )
    }
}

/// Adds another accumulator's items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_accumulator_merge(
    accumulator: *mut treefold_accumulator,
    other: *const treefold_accumulator,
) -> Status {
    held::change_by(accumulator, Change::Add, other)
}

/// Removes another accumulator's items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_accumulator_unmerge(
    accumulator: *mut treefold_accumulator,
    other: *const treefold_accumulator,
) -> Status {
    held::change_by(accumulator, Change::Remove, other)
}

/// Writes a statistic of the items.
///
/// # Safety
/// `result` points to one element of the statistic's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_value(
    accumulator: *const treefold_accumulator,
    statistic: i32,
    ddof: f64,
    result: *mut c_void,
) -> Status {
    guard(|| {
        let question = Question::of_codes(statistic, ddof)?;
        handle::read(accumulator, |held| {
            let result_type = question.asked.element_type(held.element_type());
            place_of("result", result, result_type)?;
            let write = |value: &mut [u8]| held.write(question, value);
            // SAFETY: the caller promises that there is room for an element.
            unsafe { write_element(result, result_type, write) }
        })
    })
}

/// Writes whether two accumulators are equal.
///
/// # Safety
/// `result` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_equal(
    accumulator: *const treefold_accumulator,
    other: *const treefold_accumulator,
    result: *mut c_int,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::equal(accumulator, other, result) }
}

/// Writes an accumulator as bytes.
///
/// # Safety
/// `bytes` has room for `capacity` bytes, and `needed` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_to_bytes(
    accumulator: *const treefold_accumulator,
    bytes: *mut c_void,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::to_bytes(accumulator, (bytes, capacity), needed) }
}

/// Replaces the contents of an accumulator with those that the bytes describe.
///
/// # Safety
/// `bytes` points to n bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_of_bytes(
    accumulator: *mut treefold_accumulator,
    bytes: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::of_bytes(accumulator, (bytes, n)) }
}
