//! Reads and writes handles through a program's pointers.

use std::ptr;
use std::rc::Rc;

use treefold_c::boundary::guard;
use treefold_c::failure::{Failure, Status};
use treefold_c::raw::place;

use crate::handle::{self, Named};

/// Writes a handle.
///
/// # Safety
/// `place` points to room for a handle, or is NULL.
pub(super) unsafe fn write_handle<H>(
    name: &'static str,
    place: *mut *mut H,
    handle: *mut H,
) -> Result<(), Failure> {
    self::place(name, place)?;
    // SAFETY: `place` is aligned and not NULL, as was just checked; the caller promises that there is room for a handle.
    unsafe { place.write(handle) };
    Ok(())
}

/// Reads a handle.
///
/// # Safety
/// `place` points to a handle, or is NULL.
pub(super) unsafe fn read_handle<H>(
    name: &'static str,
    place: *const *mut H,
) -> Result<*mut H, Failure> {
    self::place(name, place)?;
    // SAFETY: `place` is aligned and not NULL, as was just checked; the caller promises that it points to a handle.
    Ok(unsafe { place.read() })
}

/// Takes a handle's object, and sets the handle to NULL. Returns `None` if the handle is NULL, or if this thread has dropped its objects.
///
/// # Safety
/// `handle` points to a handle, or is NULL.
pub(super) unsafe fn take_handle<H: Named>(
    name: &'static str,
    handle: *mut *mut H,
) -> Result<Option<Rc<H::Object>>, Failure> {
    // SAFETY: the caller promises that the pointer points to a handle or is NULL.
    let named = unsafe { read_handle(name, handle) }?;
    if named.is_null() {
        return Ok(None);
    }
    let object = handle::end(named)?;
    // SAFETY: the caller promises that the pointer points to a handle.
    unsafe { write_handle(name, handle, ptr::null_mut()) }?;
    Ok(object)
}

/// Destroys a handle; NULL is not an error.
///
/// # Safety
/// `handle` points to a handle, or is NULL.
pub(super) unsafe fn destroy<H: Named>(name: &'static str, handle: *mut *mut H) -> Status {
    // SAFETY: the caller promises what the callee requires.
    guard(|| unsafe { take_handle(name, handle) }.map(drop))
}
