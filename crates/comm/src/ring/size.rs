//! The size of a ring.

use super::data::LINE_BYTES;
use super::line::WORD_BYTES;

/// The size of a ring. All numbers are powers of two, so the numbers of slots and of lines of data divide 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The maximum number of messages.
    pub(crate) slots: usize,
    /// The number of lines of a slot.
    pub(crate) slot_lines: usize,
    /// The number of lines of data for all messages.
    pub(crate) data_lines: usize,
}

impl Size {
    /// The length of the longest message. An empty ring always has room for it: if too few lines of data are left at the end of the
    /// memory, they are skipped.
    pub(crate) const fn longest_bytes(self) -> usize {
        self.data_lines / 2 * LINE_BYTES
    }

    /// The number of control lines: the reader's line and the lines of the slots.
    pub(crate) const fn control_lines(self) -> usize {
        1 + self.slots * self.slot_lines
    }

    /// The length of the longest message that fits into its slot.
    pub(super) const fn slot_bytes(self) -> usize {
        self.slot_lines * LINE_BYTES - WORD_BYTES
    }

    /// The number of lines of data that a message needs.
    pub(super) fn data_lines_of(self, length_bytes: usize) -> u32 {
        let lines = if length_bytes <= self.slot_bytes() {
            0
        } else {
            length_bytes.div_ceil(LINE_BYTES)
        };
        u32::try_from(lines).expect("messages are short")
    }
}
