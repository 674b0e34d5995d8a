//! Errors of calls on communicators.

use std::ops::Range;
use std::time::Duration;

use crate::tag::Tag;
use crate::text::{counted, printable};

/// Why a call on a communicator failed.
///
/// The text names the rank that failed, the rank that detected it, or both.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A peer outside the communicator was named.
    #[error("{call}: rank {peer} does not exist; the communicator has {}", counted(.size, "rank"))]
    NoSuchRank {
        /// The call that named the peer.
        call: &'static str,
        /// The peer.
        peer: usize,
        /// The number of ranks.
        size: usize,
    },
    /// A message was longer than the receive allowed.
    #[error(
        "rank {rank}: the message from rank {from} is longer than the receive allows ({})",
        counted(.capacity_bytes, "byte")
    )]
    Truncated {
        /// The receiver.
        rank: usize,
        /// The sender.
        from: usize,
        /// The capacity of the receive.
        capacity_bytes: usize,
    },
    /// A message was longer than the transport can count.
    #[error(
        "rank {rank}: a message of {} is longer than {}, the transport's limit",
        counted(.length_bytes, "byte"), counted(.limit_bytes, "byte")
    )]
    TooLong {
        /// The rank that made the call.
        rank: usize,
        /// The length of the message.
        length_bytes: usize,
        /// The length of the longest message that the transport can count.
        limit_bytes: usize,
    },
    /// A rank panicked.
    #[error("rank {rank} panicked: {}", printable(.message))]
    Panicked {
        /// The rank that panicked.
        rank: usize,
        /// Its panic message.
        message: String,
    },
    /// A rank ended while another rank still waited for one of its messages.
    #[error("rank {rank} left while rank {awaited_by} waited for it")]
    Left {
        /// The rank that ended.
        rank: usize,
        /// A rank that waited for the message.
        awaited_by: usize,
    },
    /// Ranks are lost: their processes have died. See [`Communicator::shrink`](crate::Communicator::shrink).
    #[error("rank {rank}: {} lost", listed(.lost))]
    Lost {
        /// The rank that detected it.
        rank: usize,
        /// The lost ranks that `rank` knows of, in ascending order.
        lost: Vec<usize>,
    },
    /// The communicator is revoked: a rank has called [`shrink`](crate::Communicator::shrink), or knows of a loss.
    #[error(
        "rank {rank}: the communicator is revoked, because ranks are lost; the surviving ranks go on without them"
    )]
    Revoked {
        /// The rank that has called [`shrink`](crate::Communicator::shrink), or knows that another has.
        rank: usize,
    },
    /// The transport cannot go on without a rank that is lost.
    #[error(
        "rank {rank}: {} does not report the loss of a process, so ranks cannot go on without a lost rank{advice}",
        printable(.library)
    )]
    NotSurvivable {
        /// The rank that made the call.
        rank: usize,
        /// The transport's name and version.
        library: String,
        /// Advice that begins with a semicolon, or an empty text.
        advice: &'static str,
    },
    /// The transport cannot make a communicator of some of its ranks.
    #[error("rank {rank}: this transport cannot split or duplicate its communicators")]
    NotSplittable {
        /// The rank that made the call.
        rank: usize,
    },
    /// All remaining ranks wait, and no message is under way.
    #[error("deadlock: {0}")]
    Deadlock(
        /// Which rank waits for which.
        String,
    ),
    /// A rank's thread could not be started.
    #[error("rank {rank} could not be started: {}", printable(.reason))]
    NotStarted {
        /// The rank whose thread is missing.
        rank: usize,
        /// The operating system's reason.
        reason: String,
    },
    /// The transport could not reach a peer.
    #[error("rank {rank}: the connection to rank {peer} failed: {}", printable(.reason))]
    Connection {
        /// The rank that detected it.
        rank: usize,
        /// The rank at the other end.
        peer: usize,
        /// The message of the operating system or the network.
        reason: String,
    },
    /// Nothing came within the communicator's silence limit.
    #[error("rank {rank}: nothing came within {after:?}, and {}", being(.peers))]
    Silent {
        /// The rank that waited.
        rank: usize,
        /// The silent ranks: one rank, or all ranks of its node. Others wait for that rank, which for most of the silence limit has
        /// sent no message and answered no question. Empty if no silent rank is known: ranks may wait for each other.
        peers: Range<usize>,
        /// The silence limit of this rank, or of the rank that reported the silence.
        after: Duration,
    },
    /// The call came from an operator that a reduction on this communicator is running.
    #[error("rank {rank}: an operator cannot communicate on the world that runs it")]
    Nested {
        /// The rank that made the call.
        rank: usize,
    },
    /// The program has ended a wait: see [`set_interruption`](crate::Communicator::set_interruption).
    #[error("rank {rank}: the wait was interrupted")]
    Interrupted {
        /// The rank that waited.
        rank: usize,
    },
    /// MPI has been finalised, so the communicator cannot be used any more.
    #[error("rank {rank}: MPI is finalised")]
    Finalised {
        /// The rank that made the call.
        rank: usize,
    },
    /// The call came from a forked child of the process that made the communicator.
    #[error("rank {rank}: a forked process cannot use the communicator of its parent")]
    Forked {
        /// The rank of the parent.
        rank: usize,
    },
    /// A message belongs to one exchange of its conversation, but its receiver is in another.
    #[error(
        "rank {rank} awaits {expected}, but rank {from} has sent {found}: all ranks must make the same calls in the same order"
    )]
    Mismatched {
        /// The receiver.
        rank: usize,
        /// The sender.
        from: usize,
        /// The exchange that the receiver is in.
        expected: Tag,
        /// The exchange that the message belongs to.
        found: Tag,
    },
    /// A rank has given up in the exchange in which another waits.
    #[error("rank {rank} has given up the exchange in which rank {awaited_by} waits")]
    GivenUp {
        /// The rank that has given up.
        rank: usize,
        /// The rank that waited for the rank that has given up, or for another.
        awaited_by: usize,
    },
    /// The conversation of a tag was not opened, on a transport that requires it.
    #[error("{call}: conversation {} was not opened", .tag.number())]
    NotOpened {
        /// The call that got the tag.
        call: &'static str,
        /// The tag.
        tag: Tag,
    },
    /// An environment variable has an invalid value, on this rank or on another. Every rank gets the same error.
    #[error("rank {rank}: {variable} is `{}`, not {expected}", printable(.value))]
    BadSetting {
        /// The first rank with an invalid value.
        rank: usize,
        /// The variable's name.
        variable: &'static str,
        /// The value on that rank, or the beginning of the value.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
    /// There is no MPI library, or none that can be used.
    #[error("no MPI library: {reason}")]
    NoLibrary {
        /// The reason, in one line.
        reason: String,
    },
    /// MPI cannot be called: it is not initialised, or it is finalised.
    #[error("MPI is {state}")]
    NotRunning {
        /// `not initialised` or `finalised`.
        state: &'static str,
    },
    /// The MPI library returned an error code.
    #[error("rank {rank}: {call} failed with code {code}: {}", printable(.text))]
    Mpi {
        /// The rank that made the call.
        rank: usize,
        /// The MPI function.
        call: &'static str,
        /// The function's return value.
        code: i32,
        /// The library's own description.
        text: String,
    },
}

impl Error {
    /// The lost ranks that this error names: they have panicked, were not started, have left while others waited for them, or have died
    /// with their processes. Empty if only other ranks know which ranks are lost. `None` if the error is not a loss: the communicator can
    /// still be used.
    #[must_use]
    pub fn lost_ranks(&self) -> Option<&[usize]> {
        match self {
            Error::Panicked { rank, .. }
            | Error::Left { rank, .. }
            | Error::NotStarted { rank, .. } => Some(std::slice::from_ref(rank)),
            Error::Lost { lost, .. } => Some(lost),
            Error::Revoked { .. } => Some(&[]),
            _ => None,
        }
    }
}

/// Returns `rank 1 is silent`, `ranks 1 to 3 are silent`, or a text that says that no silent rank is known.
fn being(ranks: &Range<usize>) -> String {
    match ranks.len() {
        0 => "no silent rank is known: ranks may wait for each other".to_owned(),
        1 => format!("rank {} is silent", ranks.start),
        _ => format!("ranks {} to {} are silent", ranks.start, ranks.end - 1),
    }
}

/// Returns `rank 1 is`, or `ranks 1, 2 are`.
fn listed(ranks: &[usize]) -> String {
    let numbers: Vec<String> = ranks.iter().map(usize::to_string).collect();
    match ranks {
        [_] => format!("rank {} is", numbers[0]),
        _ => format!("ranks {} are", numbers.join(", ")),
    }
}
