//! The progress of a ring's writer or reader.

use super::size::Size;

/// The numbers of messages and of lines of data that were written or read since the ring was made, both modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) messages: u32,
    pub(super) data_lines: u32,
}

impl Progress {
    pub(super) fn pack(self) -> u64 {
        u64::from(self.data_lines) << 32 | u64::from(self.messages)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the parts of a word")]
    pub(super) fn unpack(word: u64) -> Self {
        Self {
            messages: word as u32,
            data_lines: (word >> 32) as u32,
        }
    }

    /// The progress after another message, and the number of that message's first line of data.
    pub(super) fn and(self, length_bytes: usize, size: Size) -> (Self, u32) {
        let lines = size.data_lines_of(length_bytes);
        let place = self.data_lines as usize & (size.data_lines - 1);
        let left = size.data_lines - place;
        let skipped = if lines as usize <= left {
            0
        } else {
            u32::try_from(left).expect("a ring is short")
        };
        let first = self.data_lines.wrapping_add(skipped);
        let this = Self {
            messages: self.messages.wrapping_add(1),
            data_lines: first.wrapping_add(lines),
        };
        (this, first)
    }

    /// Whether the ring has room if the writer has written `self` and the reader has read `consumed`.
    pub(super) fn fits(self, consumed: Self, size: Size) -> bool {
        let messages = self.messages.wrapping_sub(consumed.messages);
        let data_lines = self.data_lines.wrapping_sub(consumed.data_lines);
        messages as usize <= size.slots && data_lines as usize <= size.data_lines
    }
}
