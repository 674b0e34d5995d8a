//! The functions of `treefold.h` for accumulators.

use std::ffi::{c_int, c_void};

use super::arrays::{Array, place_of, read, write_element};
use super::{guard, held};
use crate::accumulator::{self, Change, treefold_accumulator};
use crate::element::ElementType;
use crate::failure::Status;
use crate::handle;
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
    // SAFETY: the callee requires what the caller promises.
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
    // SAFETY: the callee requires what the caller promises.
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
    // SAFETY: the callee requires what the caller promises.
    unsafe { held::destroy(accumulator) }
}

/// Removes all items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_accumulator_clear(accumulator: *mut treefold_accumulator) -> Status {
    guard(|| {
        handle::change(accumulator, |held| {
            *held = held.emptied();
            Ok(())
        })
    })
}

/// Adds or removes the items of some arrays.
///
/// # Safety
/// Each array has the given number of elements of the accumulator's type.
unsafe fn change<const N: usize>(
    accumulator: *const treefold_accumulator,
    change: Change,
    arrays: [Array; N],
) -> Status {
    guard(|| {
        handle::change(accumulator, |held| {
            // SAFETY: the caller promises that many elements.
            let arrays = unsafe { read(arrays, held.element_type(), &[]) }?;
            held.change(change, &arrays)
        })
    })
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
    // SAFETY: the callee requires what the caller promises.
    unsafe { change(accumulator, Change::Add, [("items", items, n)]) }
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
    // SAFETY: the callee requires what the caller promises.
    unsafe { change(accumulator, Change::Remove, [("items", items, n)]) }
}

/// Adds pairs.
///
/// # Safety
/// `x` points to n elements of the accumulator's type, and `y` to m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_add_pairs(
    accumulator: *mut treefold_accumulator,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
) -> Status {
    // SAFETY: the callee requires what the caller promises.
    unsafe { change(accumulator, Change::Add, [("x", x, n), ("y", y, m)]) }
}

/// Removes pairs.
///
/// # Safety
/// `x` points to n elements of the accumulator's type, and `y` to m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_accumulator_remove_pairs(
    accumulator: *mut treefold_accumulator,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
) -> Status {
    // SAFETY: the callee requires what the caller promises.
    unsafe { change(accumulator, Change::Remove, [("x", x, n), ("y", y, m)]) }
}

/// Adds or removes another accumulator's items.
fn change_by(
    accumulator: *const treefold_accumulator,
    change: Change,
    other: *const treefold_accumulator,
) -> Status {
    guard(|| {
        handle::change_by(accumulator, other, |held, other| {
            held.change_by(change, other.as_ref())
        })
    })
}

/// Adds another accumulator's items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_accumulator_merge(
    accumulator: *mut treefold_accumulator,
    other: *const treefold_accumulator,
) -> Status {
    change_by(accumulator, Change::Add, other)
}

/// Removes another accumulator's items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_accumulator_unmerge(
    accumulator: *mut treefold_accumulator,
    other: *const treefold_accumulator,
) -> Status {
    change_by(accumulator, Change::Remove, other)
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
            // SAFETY: the caller promises room for an element.
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
    // SAFETY: the callee requires what the caller promises.
    unsafe {
        held::equal(accumulator, other, result, |held, other| {
            held.equals(other.as_ref())
        })
    }
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
    // SAFETY: the callee requires what the caller promises.
    unsafe {
        held::to_bytes(accumulator, (bytes, capacity), needed, |held| {
            Ok(held.to_bytes())
        })
    }
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
    // SAFETY: the callee requires what the caller promises.
    unsafe {
        held::of_bytes(accumulator, (bytes, n), |held, bytes| {
            held.become_bytes(bytes)
        })
    }
}
