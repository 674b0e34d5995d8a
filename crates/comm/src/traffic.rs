//! Counts messages and their bytes.

use std::cell::Cell;

/// What a rank has sent since its communicator was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of messages, including empty messages.
    pub messages: u64,
    /// The payload in bytes.
    pub bytes: u64,
}

impl Traffic {
    /// Adds a message to the traffic of the rank that sends it.
    pub fn count(own: &Cell<Self>, message: &[u8]) {
        let before = own.get();
        own.set(Self {
            messages: before.messages + 1,
            bytes: before.bytes + message.len() as u64,
        });
    }
}
