//! The trait of networks, which carry messages between the ranks of a process.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::group::{Context, Group};
use crate::error::Error;
use crate::request::RequestId;
use crate::tag::Tag;

/// Why a rank comes to a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To call `agree`; `true` if the rank agrees.
    Agree(bool),
    /// To go on without the ranks that have left.
    Shrink,
}

/// The outcome of a meeting. All ranks that came get the same outcome.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Whether every rank of the group has come and has agreed.
    pub(super) all_agreed: bool,
    /// The network of the surviving ranks, if all of them came to shrink.
    pub(super) shrunk: Option<Successor>,
    /// The error, if the meeting failed because the other ranks wait for each other elsewhere.
    pub(super) failure: Option<Error>,
}

/// The network of the surviving ranks. A rank's number there is its index in `ranks`.
#[derive(Clone, Debug)]
pub(super) struct Successor {
    pub(super) network: Arc<dyn Network>,
    /// The ranks' old numbers, in ascending order.
    pub(super) ranks: Arc<[usize]>,
}

/// A message under way. It fills only two cache lines, because moving a line between cores is the slowest step of passing a message.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Envelope {
    pub(super) from: usize,
    pub(super) context: Context,
    pub(super) tag: Tag,
    pub(super) letter: Letter,
}

/// Messages up to this length are copied, which is faster than an exchange of buffers.
pub(super) const SHORT_BYTES: usize = 96;

/// The content of an envelope.
#[derive(Debug)]
pub(super) enum Letter {
    /// A copy of a short message: the sender keeps its buffer.
    Short {
        length: u8,
        bytes: [u8; SHORT_BYTES],
    },
    /// The sender's buffer with the message, and the request of the send, which gets the receiver's buffer in return.
    Long { message: Vec<u8>, send: RequestId },
}

const _: () = assert!(size_of::<Envelope>() == 128);

impl Letter {
    /// A copy of a message; `None` if it is longer than [`SHORT_BYTES`].
    pub(super) fn short(message: &[u8]) -> Option<Self> {
        let length = u8::try_from(message.len()).ok()?;
        let mut bytes = [0; SHORT_BYTES];
        bytes.get_mut(..message.len())?.copy_from_slice(message);
        Some(Self::Short { length, bytes })
    }

    /// A notice that a rank gives up. If the reason is that another rank has left, the notice names that rank.
    pub(super) fn notice(left: Option<usize>) -> Self {
        let number = left.map(usize::to_ne_bytes);
        Self::short(number.as_ref().map_or(&[][..], |number| number)).expect("a number is short")
    }

    /// The rank that a notice names, if any.
    pub(super) fn named(&self) -> Option<usize> {
        match self {
            Self::Short { length, bytes } => {
                let number = bytes[..usize::from(*length)].first_chunk()?;
                Some(usize::from_ne_bytes(*number))
            }
            Self::Long { .. } => None,
        }
    }
}

/// A receiver's buffer in return for a message, so that both sides keep as much memory as they had.
#[derive(Debug)]
pub(super) struct Return {
    pub(super) context: Context,
    pub(super) send: RequestId,
    pub(super) buffer: Vec<u8>,
}

/// How long [`Network::collect`] may wait for messages.
#[derive(Clone, Copy, Debug)]
pub(super) enum CollectWait {
    /// Not at all.
    None(Awaited),
    Until(Awaited, Instant),
    Unlimited(Awaited),
}

/// The rank whose message is awaited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub(super) rank: usize,
    /// Whether messages of other ranks end the wait, too.
    pub(super) or_others: bool,
}

impl Awaited {
    /// The error if the rank has left.
    pub(super) fn left(self, awaited_by: usize) -> Error {
        let rank = self.rank;
        Error::Left { rank, awaited_by }
    }
}

/// Carries envelopes between ranks.
pub(super) trait Network: fmt::Debug + Send + Sync {
    /// Each rank calls this function first.
    fn enter(&self, _rank: usize) {}
    /// Puts an envelope on its way to rank `to`. Never waits for the receiver.
    fn deliver(&self, to: usize, envelope: Envelope) -> Result<(), Error>;
    /// Puts all notices on their way at once, each to another rank, so that no rank can leave because of its own notice before the
    /// others have theirs.
    fn announce(&self, from: usize, notices: Vec<(usize, Envelope)>);
    /// Moves the envelopes that have reached `rank` to the end of `arrived`; if there are none, waits as long as `wait` allows. Returns
    /// whether any came, or an error if the awaited rank has left without a message.
    fn collect(
        &self,
        rank: usize,
        wait: CollectWait,
        arrived: &mut Vec<Envelope>,
    ) -> Result<bool, Error>;
    /// Allocates memory for `messages` messages to `rank`.
    fn reserve(&self, rank: usize, messages: usize);
    /// Gives rank `to` a buffer in return for its message. Wakes no rank.
    fn give_back(&self, to: usize, buffer: Return);
    /// Moves the buffers that were given back to `rank` to the end of `returned`.
    fn take_back(&self, rank: usize, returned: &mut Vec<Return>);
    /// Waits until every rank of a group has called this function or has left. Works even if all other calls fail.
    fn meet(&self, rank: usize, group: &Group, purpose: Purpose) -> Outcome;
    /// Notes that ranks have several communicators from now on.
    fn note_split(&self) {}
    /// The networks of surviving ranks that meetings have made.
    fn successors(&self) -> Vec<Successor>;
    /// Each rank calls this function last.
    fn leave(&self, rank: usize);
    /// Makes every rank's pending and later calls fail with `error`, unless they fail already.
    fn fail(&self, error: Error);
    /// The error with which all calls fail, if there is one.
    fn failure(&self) -> Option<Error>;
}

/// The error that says why no rank can go on; `None` if no rank waits. `waits` has pairs of a waiting rank and the rank that it awaits.
pub(super) fn diagnose(
    waits: &[(usize, usize)],
    has_left: impl Fn(usize) -> bool,
) -> Option<Error> {
    let for_one_that_left = waits.iter().find(|&&(_, awaited)| has_left(awaited));
    if let Some(&(awaited_by, rank)) = for_one_that_left {
        return Some(Error::Left { rank, awaited_by });
    }
    let waits: Vec<String> = waits
        .iter()
        .map(|(rank, awaited)| format!("rank {rank} waits for rank {awaited}"))
        .collect();
    (!waits.is_empty()).then(|| Error::Deadlock(waits.join(", ")))
}
