//! The memory of messages that are too long for their slot: plain bytes, so that copies run at full speed.

#![expect(unsafe_code, reason = "two processes own the memory alternately")]

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;
use std::slice;

/// The number of bytes in a cache line.
pub(crate) const LINE_BYTES: usize = 64;

/// A cache line of plain bytes. Zeroed memory is a valid line.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct DataLine(UnsafeCell<[u8; LINE_BYTES]>);

// SAFETY: only the functions of this file touch the bytes, and their callers promise that nobody writes the bytes meanwhile.
unsafe impl Sync for DataLine {}

/// Messages of at least this number of bytes are written to memory, past the caches. Through the caches, the writer would wait for each
/// line to be fetched from the reader's cache, which still has it from an earlier message. Shorter messages go through the caches, because
/// there the reader gets them sooner than from memory.
#[cfg(all(target_arch = "x86_64", not(loom)))]
const STREAMED_BYTES: usize = 3000;

/// Writes a message to lines, which have room for it.
///
/// # Safety
/// Nobody else reads or writes the lines meanwhile.
#[cfg(not(loom))]
pub(super) unsafe fn write(lines: &[DataLine], message: &[u8]) {
    assert!(message.len() <= size_of_val(lines));
    let to = lines.as_ptr().cast::<u8>().cast_mut();
    #[cfg(target_arch = "x86_64")]
    if message.len() >= STREAMED_BYTES {
        // SAFETY: there is room, the lines are aligned, and by this function's contract nobody else uses them.
        return unsafe { stream(to, message) };
    }
    // SAFETY: there is room, the cells may be written through a shared slice, and by this function's contract nobody else uses them.
    unsafe { to.copy_from_nonoverlapping(message.as_ptr(), message.len()) };
}

/// Copies a message to memory past the caches. Other processors see the message before anything that this processor stores later.
///
/// # Safety
/// There has room for the message at `to`, which is aligned to a line and which nobody else uses meanwhile.
#[cfg(all(target_arch = "x86_64", not(loom)))]
unsafe fn stream(to: *mut u8, message: &[u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    let (words, rest) = message.as_chunks::<{ size_of::<__m128i>() }>();
    let mut place = to.cast::<__m128i>();
    for word in words {
        // SAFETY: every x86-64 processor has SSE2, and a word has the 16 bytes that are loaded.
        let word = unsafe { _mm_loadu_si128(word.as_ptr().cast()) };
        // SAFETY: by this function's contract there is room for the word at `place`, which is aligned and which nobody else uses.
        unsafe { _mm_stream_si128(place, word) };
        // SAFETY: there is room for the message, and `place` moves to its end at most.
        place = unsafe { place.add(1) };
    }
    // SAFETY: there is room at `place` for the rest of the message.
    unsafe {
        place
            .cast::<u8>()
            .copy_from_nonoverlapping(rest.as_ptr(), rest.len())
    };
    // SAFETY: every x86-64 processor has SSE.
    unsafe { _mm_sfence() };
}

/// Passes the message in these lines to a function, in place.
///
/// # Safety
/// Nobody writes the lines meanwhile.
#[cfg(not(loom))]
pub(super) unsafe fn read<R>(
    lines: &[DataLine],
    length_bytes: usize,
    take: impl FnOnce(&[u8]) -> R,
) -> R {
    assert!(length_bytes <= size_of_val(lines));
    // SAFETY: there are `length_bytes` bytes, which live as long as the lines, and by this function's contract nobody writes them.
    let message = unsafe { slice::from_raw_parts(lines.as_ptr().cast(), length_bytes) };
    fetch(message);
    take(message)
}

/// The number of lines that are prefetched. The processor itself prefetches more when it detects that lines are read in order.
#[cfg(all(target_arch = "x86_64", not(loom)))]
const FETCHED_LINES: usize = 8;

/// Prefetches the beginning of a message from the writer's cache.
#[cfg(not(loom))]
#[inline]
pub(super) fn fetch(message: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in message.chunks(LINE_BYTES).take(FETCHED_LINES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // SAFETY: every x86-64 processor has SSE, and the address is that of a byte of the message.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = message;
}

/// As `write`, in a form that loom checks.
#[cfg(loom)]
pub(super) unsafe fn write(lines: &[DataLine], message: &[u8]) {
    for (line, bytes) in lines.iter().zip(message.chunks(LINE_BYTES)) {
        // SAFETY: by this function's contract nobody else uses the bytes; loom checks that.
        line.0
            .with_mut(|line| unsafe { (&mut *line)[..bytes.len()].copy_from_slice(bytes) });
    }
}

/// As `read`, in a form that loom checks: passes a copy.
#[cfg(loom)]
pub(super) unsafe fn read<R>(
    lines: &[DataLine],
    length_bytes: usize,
    take: impl FnOnce(&[u8]) -> R,
) -> R {
    let mut message = vec![0; length_bytes];
    for (line, bytes) in lines.iter().zip(message.chunks_mut(LINE_BYTES)) {
        // SAFETY: by this function's contract nobody writes the bytes; loom checks that.
        line.0
            .with(|line| unsafe { bytes.copy_from_slice(&(&*line)[..bytes.len()]) });
    }
    take(&message)
}

impl Default for DataLine {
    fn default() -> Self {
        Self(UnsafeCell::new([0; LINE_BYTES]))
    }
}
