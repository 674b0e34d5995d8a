//! A message under way: one that MPI carries, or a local message.

use std::time::Duration;

use crate::conversation::{GivenUp, Span};
use crate::error::Error;
use crate::mpi::calls::failure::Failure;
use crate::mpi::calls::pending::PendingRequest;
use crate::mpi::messages::wait_time::WaitTime;
use crate::tag::Tag;

#[derive(Debug)]
pub(crate) enum Message {
    /// A message that MPI carries.
    Mpi(MpiMessage),
    /// A message through memory that both ranks share, or to this rank itself.
    Local(LocalMessage),
}

/// Why a message will never come, or never be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The message was longer than the receiver's buffer.
    Truncated,
    /// The rank with this number is in another exchange, to which the tag belongs.
    Mismatched(usize, Tag),
    /// Another rank has given up, because ranks are silent or for another reason.
    GivenUp(GivenUp),
}

impl Message {
    /// The receiver or the sender.
    pub(crate) fn peer(&self) -> usize {
        match self {
            Message::Mpi(message) => message.pending.peer(),
            Message::Local(message) => message.peer,
        }
    }

    pub(crate) fn tag(&self) -> Tag {
        match self {
            Message::Mpi(message) => message.tag,
            Message::Local(message) => message.tag,
        }
    }

    /// Whether this is a receive whose message has not come.
    pub(crate) fn is_receiving(&self) -> bool {
        match self {
            Message::Mpi(message) => message.pending.is_receiving(),
            Message::Local(message) => message.state == LocalState::Receiving,
        }
    }

    /// How long this rank has waited for the message.
    pub(crate) fn wait_time(&mut self) -> &mut WaitTime {
        match self {
            Message::Mpi(message) => &mut message.wait_time,
            Message::Local(message) => &mut message.wait_time,
        }
    }

    /// Whether this is a receive whose message has come.
    #[inline]
    pub(crate) fn is_received(&self) -> bool {
        match self {
            Message::Mpi(message) => message.trouble.is_none() && message.pending.is_received(),
            Message::Local(message) => message.state == LocalState::Received,
        }
    }

    /// Whether the message is under way: neither complete nor failed.
    pub(crate) fn is_pending(&self) -> bool {
        match self {
            Message::Mpi(message) => message.trouble.is_none() && message.pending.is_pending(),
            Message::Local(message) => !message.is_over(),
        }
    }

    /// Whether this is a local message that is complete or has failed.
    pub(crate) fn is_sent(&self) -> bool {
        matches!(self, Message::Local(message) if message.is_over())
    }

    /// Marks the message as failed.
    pub(crate) fn fail(&mut self, trouble: Trouble) {
        match self {
            Message::Mpi(message) => message.trouble = Some(trouble),
            Message::Local(message) => message.state = LocalState::Failed(trouble),
        }
    }

    /// The error of a failed message, on a rank with this silence limit; `None` if it has not failed.
    pub(crate) fn error(&self, rank: usize, limit: Duration) -> Option<Error> {
        let (trouble, capacity_bytes) = match self {
            Message::Mpi(message) => (message.trouble?, message.pending.capacity_bytes()),
            Message::Local(message) => match message.state {
                LocalState::Failed(trouble) => (trouble, message.buffer.len()),
                _ => return None,
            },
        };
        Some(match trouble {
            Trouble::Truncated => Error::Truncated {
                rank,
                from: self.peer(),
                capacity_bytes,
            },
            Trouble::Mismatched(from, found) => Error::Mismatched {
                rank,
                from,
                expected: self.tag(),
                found,
            },
            Trouble::GivenUp(GivenUp {
                rank: given_up,
                silent,
            }) => {
                let peers = silent.map(Span::ranks);
                // A rank cannot be silent to itself.
                match peers.filter(|peers| !peers.contains(&rank)) {
                    None => Error::GivenUp {
                        rank: given_up,
                        awaited_by: rank,
                    },
                    Some(peers) => Error::Silent {
                        rank,
                        peers,
                        after: limit,
                    },
                }
            }
        })
    }

    /// The buffer of a complete message.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        match self {
            Message::Mpi(message) => message.pending.into_buffer(),
            Message::Local(message) => message.buffer,
        }
    }
}

/// A message that MPI carries.
#[derive(Debug)]
pub(crate) struct MpiMessage {
    pub(crate) pending: PendingRequest,
    pub(crate) tag: Tag,
    pub(crate) trouble: Option<Trouble>,
    pub(crate) wait_time: WaitTime,
}

impl MpiMessage {
    /// Whether the message is complete or has failed. If it was too long, sets `trouble`; any other failure is returned.
    pub(crate) fn test(&mut self) -> Result<bool, Failure> {
        if self.trouble.is_some() {
            return Ok(true);
        }
        self.pending.test().or_else(|failure| {
            if !failure.truncated {
                return Err(failure);
            }
            self.trouble = Some(Trouble::Truncated);
            Ok(true)
        })
    }
}

/// A message under way that MPI does not carry.
#[derive(Debug)]
pub(crate) struct LocalMessage {
    pub(crate) buffer: Vec<u8>,
    /// The receiver or the sender.
    pub(crate) peer: usize,
    /// The peer's rank on the node.
    pub(crate) node_rank: usize,
    pub(crate) tag: Tag,
    pub(crate) state: LocalState,
    pub(crate) wait_time: WaitTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalState {
    Sending,
    Receiving,
    Sent,
    Received,
    Failed(Trouble),
}

impl LocalMessage {
    /// Returns the memory to which a message of `length` bytes is copied. If the message belongs to another exchange or is too long, the
    /// receive fails, and the memory is empty.
    pub(crate) fn accept(&mut self, tag: Tag, length: usize) -> &mut [u8] {
        if tag != self.tag {
            self.state = LocalState::Failed(Trouble::Mismatched(self.peer, tag));
            return &mut [];
        }
        if length > self.buffer.len() {
            self.state = LocalState::Failed(Trouble::Truncated);
            return &mut [];
        }
        self.state = LocalState::Received;
        self.buffer.truncate(length);
        &mut self.buffer
    }

    /// Whether the message is complete or has failed.
    pub(crate) fn is_over(&self) -> bool {
        !matches!(self.state, LocalState::Sending | LocalState::Receiving)
    }
}
