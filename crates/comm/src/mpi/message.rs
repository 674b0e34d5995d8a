//! A message under way, on either of its ways.

use super::raw::PendingRequest;

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

/// A short message under way.
#[derive(Debug)]
pub(super) struct ShortMessage {
    pub(super) buffer: Vec<u8>,
    /// The receiver or the sender.
    pub(super) peer: usize,
    /// The peer's rank on the node.
    pub(super) node_rank: usize,
    pub(super) tag: u16,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Sending,
    Receiving,
    Complete,
    /// It was longer than its buffer.
    Truncated,
}

impl ShortMessage {
    /// Where to put a message of `length` bytes: nowhere, if it is too long.
    pub(super) fn accept(&mut self, length: usize) -> &mut [u8] {
        if length > self.buffer.len() {
            self.state = State::Truncated;
            return &mut [];
        }
        self.state = State::Complete;
        self.buffer.truncate(length);
        &mut self.buffer
    }

    /// Whether it is over; `None` if it was longer than its buffer.
    pub(super) fn is_complete(&self) -> Option<bool> {
        match self.state {
            State::Sending | State::Receiving => Some(false),
            State::Complete => Some(true),
            State::Truncated => None,
        }
    }
}
