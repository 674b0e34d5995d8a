//! What all handles of `treefold.h` have in common: finding, copying, comparing and destroying their objects.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::guard;
use crate::failure::{Code, Failure, Status};
use crate::handle::{self, Copied as _, Named};
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
        // SAFETY: not NULL and aligned, as was just checked, and the caller promises room for a handle.
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
        // SAFETY: not NULL and aligned, as was just checked, and the caller promises a handle.
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
    // SAFETY: the callee requires what the caller promises.
    unsafe { create(result, || handle::read(of, |object| object.copied())) }
}

/// Writes whether two objects are equal.
///
/// # Safety
/// `result` points to one number.
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

/// Writes an object as bytes, and the number of bytes.
///
/// # Safety
/// `bytes` has room for `capacity` bytes, and `needed` points to one number.
pub(super) unsafe fn to_bytes<H: Named>(
    handle: *const H,
    (bytes, capacity): (*mut c_void, usize),
    needed: *mut usize,
    state: impl FnOnce(&H::Object) -> Result<Vec<u8>, Failure>,
) -> Status {
    // SAFETY: the callee requires what the caller promises.
    unsafe { copy_bytes((bytes, capacity), needed, || handle::read(handle, state)) }
}

/// Copies bytes to the caller's buffer, and writes the number of bytes.
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
            // SAFETY: the caller promises room for that many bytes.
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

/// Replaces the contents of an object with those that the bytes describe.
///
/// # Safety
/// `bytes` points to n bytes.
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
