//! The functions that accumulators and states by key have in common.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::arrays::{Array, KeysInput, keys_of, read};
use super::guard;
use crate::failure::{Code, Failure, Status};
use crate::handle::{self, Copied as _, Named};
use crate::keyed::{Change, Keys, State};
use crate::raw::{Bytes, disjoint, place, write};

/// Creates an object and writes its handle.
///
/// # Safety
/// `result` points to one handle.
pub(super) unsafe fn create<H: Named>(
    result: *mut *mut H,
    object: impl FnOnce() -> Result<H::Object, Failure>,
) -> Status {
    guard(|| {
        place("result", result)?;
        let handle = handle::name::<H>(object()?)?;
        // SAFETY: `result` is aligned and not NULL, as was just checked, and the caller promises that there is room for a handle.
        unsafe { result.write(handle) };
        Ok(())
    })
}

/// Destroys an object and sets its handle to NULL. A NULL handle is not an error.
///
/// # Safety
/// `handle` points to one handle.
pub(super) unsafe fn destroy<H: Named>(handle: *mut *mut H) -> Status {
    guard(|| {
        place(H::NAME, handle)?;
        // SAFETY: `handle` is aligned and not NULL, as was just checked, and the caller promises that it points to a handle.
        let name = unsafe { handle.read() };
        if !name.is_null() {
            handle::end(name)?;
        }
        // SAFETY: as before.
        unsafe { handle.write(ptr::null_mut()) };
        Ok(())
    })
}

/// Copies an object and writes the copy's handle.
///
/// # Safety
/// `result` points to one handle.
pub(super) unsafe fn copy<H: Named>(of: *const H, result: *mut *mut H) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { create(result, || handle::read(of, |object| object.copied())) }
}

/// Removes all items of a state.
pub(super) fn clear<H: Named<Object = Box<dyn State>>>(handle: *const H) -> Status {
    guard(|| {
        handle::change(handle, |held| {
            *held = held.emptied()?;
            Ok(())
        })
    })
}

/// Adds the items of one array or the pairs of two arrays to a state, or removes them. For an accumulator, `keys` is `None`.
///
/// # Safety
/// `keys` has the given number of keys of its type, and the arrays have the given numbers of elements of the state's type.
pub(super) unsafe fn change<H: Named<Object = Box<dyn State>>, const N: usize>(
    handle: *const H,
    change: Change,
    keys: Option<KeysInput>,
    arrays: [Array; N],
) -> Status {
    guard(|| {
        let keys = match keys {
            // SAFETY: the caller promises that the keys can be read.
            Some(keys) => unsafe { keys_of(keys) }?.0,
            None => Keys::NONE,
        };
        handle::change(handle, |held| {
            // SAFETY: the caller promises that the arrays have these lengths.
            let arrays = unsafe { read(arrays, held.element_type(), &[]) }?;
            held.change(change, keys, &arrays)
        })
    })
}

/// Adds another state's items, or removes them.
pub(super) fn change_by<H: Named<Object = Box<dyn State>>>(
    handle: *const H,
    change: Change,
    other: *const H,
) -> Status {
    guard(|| {
        handle::change_by(handle, other, |held, other| {
            held.change_by(change, other.as_ref())
        })
    })
}

/// Writes whether two states are equal.
///
/// # Safety
/// `result` points to one number.
pub(super) unsafe fn equal<H: Named<Object = Box<dyn State>>>(
    handle: *const H,
    other: *const H,
    result: *mut c_int,
) -> Status {
    guard(|| {
        let is_equal = handle::read(handle, |held| {
            handle::read_as("other", other, |other| held.equals(other.as_ref()))
        })?;
        // SAFETY: the caller promises that there is room for a number.
        unsafe { write("result", result, c_int::from(is_equal)) }
    })
}

/// Writes a state as bytes to the caller's buffer, and the number of bytes to `needed`.
///
/// # Safety
/// `bytes` has room for `capacity` bytes, and `needed` points to one number.
pub(super) unsafe fn to_bytes<H: Named<Object = Box<dyn State>>>(
    handle: *const H,
    (bytes, capacity): (*mut c_void, usize),
    needed: *mut usize,
) -> Status {
    let state = || handle::read(handle, |held| held.to_bytes());
    // SAFETY: the caller promises what the callee requires.
    unsafe { copy_bytes((bytes, capacity), needed, state) }
}

/// Copies the bytes that `state` returns to the caller's buffer, and writes the number of bytes to `needed`.
///
/// # Safety
/// `bytes` has room for `capacity` bytes, and `needed` points to one number.
pub(super) unsafe fn copy_bytes(
    (bytes, capacity): (*mut c_void, usize),
    needed: *mut usize,
    state: impl FnOnce() -> Result<Vec<u8>, Failure>,
) -> Status {
    guard(|| {
        let place = Bytes::of_place("needed", needed)?;
        let array = Bytes::of("bytes", bytes, capacity, 1)?;
        disjoint(array, place)?;
        let state = state()?;
        if capacity > 0 {
            // SAFETY: the caller promises that there is room for `capacity` bytes.
            let room = unsafe { array.write(bytes) };
            let room = room.get_mut(..state.len()).ok_or_else(|| {
                let message = format!(
                    "`bytes` has room for {capacity} bytes, but {} are needed",
                    state.len()
                );
                Failure::new(Code::Length, message)
            })?;
            room.copy_from_slice(&state);
        }
        // SAFETY: the caller promises that there is room for a number.
        unsafe { write("needed", needed, state.len()) }
    })
}

/// Replaces the contents of a state with those that the bytes describe.
///
/// # Safety
/// `bytes` points to n bytes.
pub(super) unsafe fn of_bytes<H: Named<Object = Box<dyn State>>>(
    handle: *const H,
    (bytes, n): (*const c_void, usize),
) -> Status {
    guard(|| {
        let array = Bytes::of("bytes", bytes, n, 1)?;
        handle::change(handle, |held| {
            // SAFETY: the caller promises that there are n bytes.
            held.become_bytes(unsafe { array.read(bytes) })
        })
    })
}
