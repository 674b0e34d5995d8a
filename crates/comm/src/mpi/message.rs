//! A message under way, on either of its ways.

use super::raw::PendingRequest;
use super::short::ShortMessage;

#[derive(Debug)]
pub(super) enum Message {
    /// By MPI's own sends and receives.
    Long(PendingRequest),
    /// Through memory that both ranks share.
    Short(ShortMessage),
}

impl Message {
    /// The receiver or the sender.
    pub(super) fn peer(&self) -> usize {
        match self {
            Message::Long(request) => request.peer(),
            Message::Short(message) => message.peer,
        }
    }

    /// The buffer of a complete message.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        match self {
            Message::Long(request) => request.into_buffer(),
            Message::Short(message) => message.buffer,
        }
    }
}
