//! How large a ring is.

use super::data::LINE_BYTES;
use super::line::WORD_BYTES;

/// How large a ring is. All numbers are powers of two; so slots and lines of data divide 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The most messages.
    pub(crate) slots: usize,
    /// The lines of a slot.
    pub(crate) slot_lines: usize,
    /// The most lines of data of these messages.
    pub(crate) data_lines: usize,
}

impl Size {
    /// The longest message. An empty ring has room for one, wherever it begins: what is left of the lines of data is skipped if it is
    /// shorter than the message.
    pub(crate) const fn longest_bytes(self) -> usize {
        self.data_lines / 2 * LINE_BYTES
    }

    /// The number of lines that are not for data.
    pub(crate) const fn control_lines(self) -> usize {
        1 + self.slots * self.slot_lines
    }

    /// The longest message that follows its header.
    pub(super) const fn slot_bytes(self) -> usize {
        self.slot_lines * LINE_BYTES - WORD_BYTES
    }

    /// The lines of data of a message.
    pub(super) fn data_lines_of(self, length_bytes: usize) -> u32 {
        let lines = if length_bytes <= self.slot_bytes() {
            0
        } else {
            length_bytes.div_ceil(LINE_BYTES)
        };
        u32::try_from(lines).expect("messages are short")
    }
}
