//! Messages that follow their header, in the lines of a slot.

#![expect(unsafe_code, reason = "two processes own the memory alternately")]

use std::slice;

#[cfg(not(loom))]
use super::data::fetch;
#[cfg(loom)]
use super::data::{self, LINE_BYTES};
use super::line::Line;

/// The number of bytes before the message in a slot.
#[cfg(not(loom))]
const HEADER_BYTES: usize = size_of::<u64>();

/// Writes a message after the header of a slot, which has room for both.
///
/// # Safety
/// Nobody reads or writes the slot's message meanwhile.
#[cfg(not(loom))]
pub(super) unsafe fn write(slot: &[Line], message: &[u8]) {
    assert!(HEADER_BYTES + message.len() <= size_of_val(slot));
    let to = slot.as_ptr().cast::<u8>().cast_mut();
    // SAFETY: the slot is longer than a header.
    let to = unsafe { to.add(HEADER_BYTES) };
    // SAFETY: there is room, atomic integers may be written through a shared slice, and by this function's contract nobody else uses them.
    unsafe { to.copy_from_nonoverlapping(message.as_ptr(), message.len()) };
}

/// Passes the message in a slot to a function, in place.
///
/// # Safety
/// Nobody writes the slot's message meanwhile.
#[cfg(not(loom))]
pub(super) unsafe fn read<R>(
    slot: &[Line],
    length_bytes: usize,
    take: impl FnOnce(&[u8]) -> R,
) -> R {
    assert!(HEADER_BYTES + length_bytes <= size_of_val(slot));
    // SAFETY: the slot is longer than a header.
    let from = unsafe { slot.as_ptr().cast::<u8>().add(HEADER_BYTES) };
    // SAFETY: there are `length_bytes` bytes, which live as long as the slot, and by this function's contract nobody writes them.
    let message = unsafe { slice::from_raw_parts(from, length_bytes) };
    fetch(message);
    take(message)
}

/// As `write`, in a form that loom checks. Atomic integers are not plain bytes, so under loom each line has plain bytes, too.
#[cfg(loom)]
pub(super) unsafe fn write(slot: &[Line], message: &[u8]) {
    for (line, bytes) in slot.iter().zip(message.chunks(LINE_BYTES)) {
        // SAFETY: by this function's contract nobody else uses the bytes; loom checks that.
        unsafe { data::write(slice::from_ref(&line.plain), bytes) };
    }
}

/// As `read`, in a form that loom checks: passes a copy.
#[cfg(loom)]
pub(super) unsafe fn read<R>(
    slot: &[Line],
    length_bytes: usize,
    take: impl FnOnce(&[u8]) -> R,
) -> R {
    let mut message = Vec::new();
    let mut left = length_bytes;
    for line in slot {
        let length = left.min(LINE_BYTES);
        left -= length;
        // SAFETY: by this function's contract nobody writes the bytes; loom checks that.
        unsafe {
            data::read(slice::from_ref(&line.plain), length, |bytes| {
                message.extend_from_slice(bytes)
            })
        };
    }
    take(&message)
}
