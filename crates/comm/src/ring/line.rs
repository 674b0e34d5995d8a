//! Control lines, which contain headers and the short messages that follow them.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(loom)]
use super::data::DataLine;
use super::data::LINE_BYTES;

pub(super) const WORD_BYTES: usize = size_of::<u64>();

/// The number of words in a line after its header.
const WORDS: usize = LINE_BYTES / WORD_BYTES - 1;

/// The length of the longest message that fits into the line of its header.
pub(super) const SHORT_BYTES: usize = WORDS * WORD_BYTES;

/// The header of a slot: stamp, tag and length in bytes of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The message's number plus 1, modulo 2^16. A slot's old and new stamps differ by the number of slots.
    pub(super) stamp: u16,
    pub(super) length: u16,
    pub(super) tag: u32,
}

impl Header {
    pub(super) fn pack(self) -> u64 {
        u64::from(self.tag) << 32 | u64::from(self.length) << 16 | u64::from(self.stamp)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the parts of a word")]
    pub(super) fn unpack(word: u64) -> Self {
        Self {
            stamp: word as u16,
            length: (word >> 16) as u16,
            tag: (word >> 32) as u32,
        }
    }
}

/// The stamp of the message with this number. In a ring's first round, it is never 0, the content of unused memory.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^16")]
pub(super) fn stamp_of(number: u32) -> u16 {
    number.wrapping_add(1) as u16
}

/// A cache line with a header and a short message, or a further line of a slot. Zeroed memory is an empty line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(super) header: AtomicU64,
    words: [AtomicU64; WORDS],
    /// The plain bytes of a message longer than [`SHORT_BYTES`]; a shorter message is in the words.
    #[cfg(loom)]
    pub(super) plain: DataLine,
}

impl Line {
    /// Writes the bytes of a message, at most [`SHORT_BYTES`].
    pub(super) fn store(&self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<WORD_BYTES>();
        for (word, &bytes) in self.words.iter().zip(whole) {
            word.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
        if !rest.is_empty() {
            let mut last = [0; WORD_BYTES];
            last[..rest.len()].copy_from_slice(rest);
            self.words[whole.len()].store(u64::from_ne_bytes(last), Ordering::Relaxed);
        }
    }

    /// Reads the bytes of a message, at most [`SHORT_BYTES`].
    pub(super) fn load(&self, bytes: &mut [u8]) {
        let (whole, rest) = bytes.as_chunks_mut::<WORD_BYTES>();
        for (word, bytes) in self.words.iter().zip(whole.iter_mut()) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        if !rest.is_empty() {
            let last = self.words[whole.len()].load(Ordering::Relaxed);
            rest.copy_from_slice(&last.to_ne_bytes()[..rest.len()]);
        }
    }
}

/// A copy of a short message, aligned so that it can be read as numbers.
#[repr(align(16))]
pub(super) struct ShortMessage(pub(super) [u8; SHORT_BYTES]);
