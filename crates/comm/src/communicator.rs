//! The trait that every backend implements, and the words it uses.

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use crate::collective;
use crate::error::Error;
use crate::in_flight::InFlight;

/// Marks the messages of one conversation, so that they match only each other.
///
/// At most 32767, the largest tag that MPI guarantees (MPI 4.1, section 9.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag(u16);

impl Tag {
    /// The tag of this crate's own [`collective`] operations.
    pub const CONTROL: Tag = Tag(0);
    const MAX: u16 = 32767;
    /// Says that messages are short.
    const SHORT: u16 = 1 << 15;

    /// The tag after this one; after the last, the first that is not [`Tag::CONTROL`].
    pub(crate) fn next(self) -> Tag {
        Tag(self.0 % Self::MAX + 1)
    }

    /// The same tag for short messages, of at most [`Communicator::short_bytes`]. A backend may have a faster way for them,
    /// on which they neither wait for longer ones nor match their receives.
    #[must_use]
    pub fn short(self) -> Tag {
        Tag(self.0 | Self::SHORT)
    }

    #[cfg(feature = "mpi")]
    pub(crate) fn is_short(self) -> bool {
        self.0 & Self::SHORT != 0
    }

    /// The number that goes to the transport.
    pub fn value(self) -> u16 {
        self.0 & Self::MAX
    }
}

/// A send or a receive under way. It belongs to the communicator that made it.
///
/// Give it back by [`Communicator::wait`] or [`Communicator::cancel`]. One that is merely dropped stays posted.
/// Its buffer belongs to the communicator, so nothing is freed under the transport's hands.
#[derive(Debug)]
#[must_use = "a request that is neither waited for nor cancelled stays posted"]
pub struct Request {
    pub(crate) slot: usize,
    pub(crate) generation: u64,
}

/// Names a [`Request`] without owning it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    slot: usize,
    generation: u64,
}

impl Request {
    /// Its name, for [`Communicator::wait_any`].
    pub fn id(&self) -> RequestId {
        RequestId {
            slot: self.slot,
            generation: self.generation,
        }
    }

    /// The same handle once more, for the backend's own books.
    pub(crate) fn twin(&self) -> Request {
        self.id().request()
    }
}

impl RequestId {
    pub(crate) fn request(self) -> Request {
        Request {
            slot: self.slot,
            generation: self.generation,
        }
    }
}

/// What a rank has sent since its communicator was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages, empty ones included.
    pub messages: u64,
    /// Payload, in bytes.
    pub bytes: u64,
}

impl Traffic {
    /// Counts a message that a rank sends.
    pub(crate) fn count(own: &Cell<Self>, message: &[u8]) {
        let before = own.get();
        own.set(Self {
            messages: before.messages + 1,
            bytes: before.bytes + message.len() as u64,
        });
    }
}

/// An element type that transports know by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Rust's own types")]
pub enum NativeType {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

/// An operator that transports know by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are MPI's own operators")]
pub enum NativeOperation {
    Sum,
    Product,
    Min,
    Max,
}

/// What an ordinary, unreproducible allreduce combines with.
pub struct Reduction<'a> {
    /// The element type and operator, where the transport may know them.
    pub native: Option<(NativeType, NativeOperation)>,
    /// `combine(left, right)` leaves the combination of the two values in `left`.
    pub combine: &'a dyn Fn(&mut [u8], &[u8]),
}

/// `combine(left, right)` leaves the combination of two slots in `right`.
pub type CombineSlots<'f> = dyn Fn(&[u8], &mut [u8]) + 'f;

impl fmt::Debug for Reduction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reduction")
            .field("native", &self.native)
            .finish_non_exhaustive()
    }
}

/// A group of ranks that exchange messages of bytes.
///
/// Messages between the same two ranks with the same tag arrive in the order in which they were
/// sent, and receives match in the order in which they were posted, as in MPI.
pub trait Communicator: fmt::Debug {
    /// This rank, `0..size`.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// A tag that no earlier call has returned (until 32767 of them are used up).
    ///
    /// Collective in effect: every rank must call it equally often, in the same order. It does not communicate.
    fn fresh_tag(&self) -> Tag;

    /// Starts sending `message`. Never waits for the receiver.
    ///
    /// # Errors
    /// The peer does not exist, or the transport has failed.
    fn start_send(&self, to: usize, tag: Tag, message: Vec<u8>) -> Result<Request, Error>;

    /// Starts receiving one message, at most as long as `buffer`, whose content does not matter.
    ///
    /// # Errors
    /// The peer does not exist, or the transport has failed.
    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error>;

    /// Whether `request` is complete. Makes progress, and does not wait.
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait).
    fn test(&self, request: &Request) -> Result<bool, Error>;

    /// Waits until `request` is complete, at most `timeout`, and says whether it is.
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait).
    fn wait_timeout(&self, request: &Request, timeout: Duration) -> Result<bool, Error>;

    /// Waits for `request`. A receive returns its message; a send returns memory to use again, of
    /// any length: one buffer goes back and forth wherever that is possible.
    ///
    /// # Errors
    /// A rank has panicked or left, the ranks wait in a cycle, the message is too long, nothing
    /// came within the silence limit, or the transport has failed. The request is gone then.
    fn wait(&self, request: Request) -> Result<Vec<u8>, Error>;

    /// Waits until at least one of the requests, which must be pending or complete, is complete, at most
    /// `timeout`, and says whether one is.
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait).
    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error>;

    /// What is in flight on this rank, beyond single messages.
    fn in_flight(&self) -> &InFlight;

    /// Gives up a request. A posted receive no longer matches anything; a send may still arrive.
    fn cancel(&self, request: Request);

    /// Makes room for the books of so many more messages that may be under way at once, sent or received by this rank, so
    /// that none of them allocates.
    fn reserve(&self, messages: usize);

    /// Takes a reservation back: whoever reserves next gets that room.
    fn release(&self, messages: usize);

    /// Whether a send arrives without further calls of this rank. If not, this rank is to wait
    /// for its sends before it turns to other things.
    fn delivers_alone(&self) -> bool;

    /// The bytes of a message up to which it is sent without asking the receiver; longer ones take a round trip more. The same on
    /// every rank.
    fn eager_bytes(&self) -> usize {
        usize::MAX
    }

    /// The bytes that a message of a [short](Tag::short) tag may have. The same on every rank.
    fn short_bytes(&self) -> usize {
        usize::MAX
    }

    /// The tag for messages of at most so many bytes, as both ends know: the short one, if they may be that long.
    fn tag_for(&self, tag: Tag, longest_bytes: usize) -> Tag {
        match longest_bytes <= self.short_bytes() {
            true => tag.short(),
            false => tag,
        }
    }

    /// How many ranks can run at once: all, unless they share cores. The same on every rank.
    fn concurrency(&self) -> usize {
        self.size()
    }

    /// The ranks of a node, where each node has as many, one after the other (the last may have fewer); `None` where it is
    /// otherwise, or not known. The same on every rank.
    fn node_ranks(&self) -> Option<usize> {
        None
    }

    /// What this rank has sent by [`start_send`](Communicator::start_send).
    fn traffic(&self) -> Traffic;

    /// The transport's ordinary allreduce of one value into `result`, of the same length: fast, and its order is its own business.
    ///
    /// This is what treefold is measured against. Without a better way it is a binomial tree to
    /// rank 0 and a broadcast, whose rounding depends on the number of ranks.
    ///
    /// Returns whether its messages are counted in [`traffic`](Communicator::traffic).
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait).
    ///
    /// # Panics
    /// The lengths differ, or one of them is not aligned for elements that the transport knows.
    fn allreduce_unordered(
        &self,
        value: &[u8],
        result: &mut [u8],
        reduction: &Reduction<'_>,
    ) -> Result<bool, Error> {
        if self.reduce_natively(None, value, result, reduction)? {
            return Ok(false);
        }
        result.copy_from_slice(value);
        collective::allreduce_binomial(self, result, reduction.combine)?;
        Ok(true)
    }

    /// The transport's ordinary reduce to the root, as [`allreduce_unordered`](Communicator::allreduce_unordered): on the other ranks
    /// `result` is undefined afterwards.
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait).
    fn reduce_unordered(
        &self,
        root: usize,
        value: &[u8],
        result: &mut [u8],
        reduction: &Reduction<'_>,
    ) -> Result<bool, Error> {
        if self.reduce_natively(Some(root), value, result, reduction)? {
            return Ok(false);
        }
        result.copy_from_slice(value);
        collective::reduce_binomial(self, root, result, reduction.combine)?;
        Ok(true)
    }

    /// The transport's own reduction to a root, or to all ranks, if it has one for this element type and operator. Says whether it has;
    /// the same on every rank.
    ///
    /// # Errors
    /// The root does not exist, or the transport has failed.
    fn reduce_natively(
        &self,
        _root: Option<usize>,
        _value: &[u8],
        _result: &mut [u8],
        _reduction: &Reduction<'_>,
    ) -> Result<bool, Error> {
        Ok(false)
    }

    /// Whether the transport has reductions of its own, for [`reduce_slots`](Communicator::reduce_slots).
    fn has_own_reductions(&self) -> bool {
        false
    }

    /// The transport's own reduction, by an operation that is associative and not commutative, of as many slots
    /// on every rank; each is reduced by itself. The result is left in `slots`, on `root` or on all ranks; what the
    /// others find there is undefined.
    ///
    /// # Errors
    /// The transport has none, or it failed.
    fn reduce_slots(
        &self,
        _root: Option<usize>,
        _slots: &mut [u8],
        _slot_bytes: usize,
        _combine: &CombineSlots<'_>,
    ) -> Result<(), Error> {
        Err(Error::NotOffered {
            call: "reduce_slots",
        })
    }
}
