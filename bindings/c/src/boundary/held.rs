//! What functions of `treefold.h` do with accumulators, and with all that a program holds: handles become objects, and arrays slices.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::guard;
use crate::accumulator::{Change, treefold_accumulator};
use crate::failure::{Code, Failure, Status};
use crate::handle::{self, Named};
use crate::local;
use crate::raw::{Bytes, disjoint, place, write, write_bytes};
use crate::statistic::Statistic;

/// Makes an object, and leaves its handle.
///
/// # Safety
/// `result` is one handle.
pub(super) unsafe fn create<H: Named>(
    result: *mut *mut H,
    object: impl FnOnce() -> Result<H::Object, Failure>,
) -> Status {
    guard(|| {
        place("result", result)?;
        let handle = handle::name::<H>(object()?)?;
        // SAFETY: not NULL and aligned, as was just found, and the caller promises room for a handle.
        unsafe { result.write(handle) };
        Ok(())
    })
}

/// Ends an object, and sets its handle to NULL. One that is NULL is left so.
///
/// # Safety
/// `handle` is one handle.
pub(super) unsafe fn destroy<H: Named>(handle: *mut *mut H) -> Status {
    guard(|| {
        place(H::NAME, handle)?;
        // SAFETY: not NULL and aligned, as was just found, and the caller promises a handle.
        let name = unsafe { handle.read() };
        if !name.is_null() {
            handle::end(name)?;
        }
        // SAFETY: as before.
        unsafe { handle.write(ptr::null_mut()) };
        Ok(())
    })
}

/// Adds or removes the items of an array.
///
/// # Safety
/// `items` are n elements of the accumulator's type.
pub(super) unsafe fn change(
    accumulator: *const treefold_accumulator,
    change: Change,
    (items, n): (*const c_void, usize),
) -> Status {
    guard(|| {
        handle::change(accumulator, |held| {
            let array = Bytes::of("items", items, n, local::element_bytes(held.element_type()))?;
            // SAFETY: the caller promises n elements.
            held.change(change, &[unsafe { array.read(items) }])
        })
    })
}

/// Adds or removes the products of two arrays.
///
/// # Safety
/// `x` has n elements of the accumulator's type, and `y` has m.
pub(super) unsafe fn change_pairs(
    accumulator: *const treefold_accumulator,
    change: Change,
    (x, n): (*const c_void, usize),
    (y, m): (*const c_void, usize),
) -> Status {
    guard(|| {
        handle::change(accumulator, |held| {
            let element_bytes = local::element_bytes(held.element_type());
            let x_array = Bytes::of("x", x, n, element_bytes)?;
            let y_array = Bytes::of("y", y, m, element_bytes)?;
            // SAFETY: the caller promises n elements.
            let x = unsafe { x_array.read(x) };
            // SAFETY: the caller promises m elements.
            let y = unsafe { y_array.read(y) };
            held.change(change, &[x, y])
        })
    })
}

/// Adds or removes what another accumulator was given.
pub(super) fn change_by(
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

/// A statistic of an accumulator's items.
///
/// # Safety
/// `result` is one element of its type.
pub(super) unsafe fn statistic(
    accumulator: *const treefold_accumulator,
    statistic: Statistic,
    result: *mut c_void,
) -> Status {
    guard(|| {
        handle::read(accumulator, |held| {
            let element_type = statistic.element_type(held.element_type());
            let element_bytes = local::element_bytes(element_type);
            Bytes::of("result", result, 1, element_bytes)?
                .aligned(local::alignment(element_type))?;
            let mut value = [0; local::LONGEST_ELEMENT];
            let value = &mut value[..element_bytes];
            held.write(statistic, value)?;
            // SAFETY: the caller promises room for an element, and `value` is on this stack.
            unsafe { write_bytes("result", result, value) }
        })
    })
}

/// The number of an accumulator's items.
///
/// # Safety
/// `result` is one number.
pub(super) unsafe fn count(accumulator: *const treefold_accumulator, result: *mut u64) -> Status {
    guard(|| {
        let count = handle::read(accumulator, |held| Ok(held.items()))?;
        // SAFETY: the caller promises room for a number.
        unsafe { write("result", result, count) }
    })
}

/// Whether two objects are equal.
///
/// # Safety
/// `result` is one number.
pub(super) unsafe fn equal<H: Named>(
    handle: *const H,
    other: *const H,
    result: *mut c_int,
    equals: impl FnOnce(&H::Object, &H::Object) -> Result<bool, Failure>,
) -> Status {
    guard(|| {
        let is_equal = handle::read(handle, |held| {
            handle::read_as("other", other, |other| equals(held, other))
        })?;
        // SAFETY: the caller promises room for a number.
        unsafe { write("result", result, c_int::from(is_equal)) }
    })
}

/// An object as bytes, and how many they are.
///
/// # Safety
/// `bytes` has room for `capacity` bytes, and `needed` is one number.
pub(super) unsafe fn to_bytes<H: Named>(
    handle: *const H,
    (bytes, capacity): (*mut c_void, usize),
    needed: *mut usize,
    state: impl FnOnce(&H::Object) -> Result<Vec<u8>, Failure>,
) -> Status {
    guard(|| {
        let place = Bytes::of_place("needed", needed)?;
        let array = Bytes::of("bytes", bytes, capacity, 1)?;
        disjoint(array, place)?;
        let state = handle::read(handle, state)?;
        if capacity > 0 {
            // SAFETY: the caller promises room for so many bytes.
            let room = unsafe { array.write(bytes) };
            let room = room.get_mut(..state.len()).ok_or_else(|| {
                let message = format!(
                    "`bytes` has room for {capacity}, but {} are needed",
                    state.len()
                );
                Failure::new(Code::Length, message)
            })?;
            room.copy_from_slice(&state);
        }
        // SAFETY: the caller promises room for a number.
        unsafe { write("needed", needed, state.len()) }
    })
}

/// Makes an object what bytes stand for.
///
/// # Safety
/// `bytes` are n bytes.
pub(super) unsafe fn of_bytes<H: Named>(
    handle: *const H,
    (bytes, n): (*const c_void, usize),
    become_bytes: impl FnOnce(&mut H::Object, &[u8]) -> Result<(), Failure>,
) -> Status {
    guard(|| {
        let array = Bytes::of("bytes", bytes, n, 1)?;
        handle::change(handle, |held| {
            // SAFETY: the caller promises n bytes.
            become_bytes(held, unsafe { array.read(bytes) })
        })
    })
}
