//! A message under way, on either of its ways.

use super::raw::Operation;
use super::short::ShortMessage;

#[derive(Debug)]
pub(super) enum Message {
    /// By MPI's own sends and receives.
    Long(Operation),
    /// Through memory that both ranks share.
    Short(ShortMessage),
}

impl Message {
    /// The receiver or the sender.
    pub(super) fn peer(&self) -> usize {
        match self {
            Message::Long(operation) => operation.peer(),
            Message::Short(message) => message.peer,
        }
    }

    /// The buffer of a complete message.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        match self {
            Message::Long(operation) => operation.into_buffer(),
            Message::Short(message) => message.buffer,
        }
    }
}
