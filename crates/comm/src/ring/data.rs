//! The memory of messages that are too long for the line of their header: plain bytes, which whoever may use them copies as fast as it can.

#![expect(unsafe_code, reason = "two processes use the memory in turns")]

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// The bytes of a cache line.
pub(crate) const LINE_BYTES: usize = 64;

/// A cache line of plain bytes. Zeros are one.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct DataLine(UnsafeCell<[u8; LINE_BYTES]>);

// SAFETY: only `write` and `read` touch the bytes, and whoever calls them has them to itself.
unsafe impl Sync for DataLine {}

/// Writes a message to lines, of which there are enough.
///
/// # Safety
/// Nobody reads or writes them meanwhile.
#[cfg(not(loom))]
pub(super) unsafe fn write(lines: &[DataLine], message: &[u8]) {
    assert!(message.len() <= size_of_val(lines));
    let to = lines.as_ptr().cast::<u8>().cast_mut();
    // SAFETY: there is room, the cells may be written through a shared slice, and by this function's contract nobody else uses them.
    unsafe { to.copy_from_nonoverlapping(message.as_ptr(), message.len()) };
}

/// Reads a message from lines, which hold it.
///
/// # Safety
/// Nobody writes them meanwhile.
#[cfg(not(loom))]
pub(super) unsafe fn read(lines: &[DataLine], message: &mut [u8]) {
    assert!(message.len() <= size_of_val(lines));
    let from = lines.as_ptr().cast::<u8>();
    // SAFETY: there are as many bytes, and by this function's contract nobody writes them.
    unsafe { from.copy_to_nonoverlapping(message.as_mut_ptr(), message.len()) };
}

/// As `write`, seen by loom.
#[cfg(loom)]
pub(super) unsafe fn write(lines: &[DataLine], message: &[u8]) {
    for (line, bytes) in lines.iter().zip(message.chunks(LINE_BYTES)) {
        // SAFETY: by this function's contract nobody else uses the bytes; loom checks that.
        line.0
            .with_mut(|line| unsafe { (&mut *line)[..bytes.len()].copy_from_slice(bytes) });
    }
}

/// As `read`, seen by loom.
#[cfg(loom)]
pub(super) unsafe fn read(lines: &[DataLine], message: &mut [u8]) {
    for (line, bytes) in lines.iter().zip(message.chunks_mut(LINE_BYTES)) {
        // SAFETY: by this function's contract nobody writes the bytes; loom checks that.
        line.0
            .with(|line| unsafe { bytes.copy_from_slice(&(&*line)[..bytes.len()]) });
    }
}

impl Default for DataLine {
    fn default() -> Self {
        Self(UnsafeCell::new([0; LINE_BYTES]))
    }
}
