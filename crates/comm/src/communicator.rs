//! What every transport implements.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use crate::error::Error;
use crate::native::NativeReductions;
use crate::request::{Request, RequestId};
use crate::tag::Tag;
use crate::traffic::Traffic;

/// A function that a wait calls to ask whether it must end, as after a signal.
pub type Interruption = Rc<dyn Fn() -> bool>;

/// One rank's end of a transport: a group of ranks that exchange messages of bytes.
///
/// A transport must have the first nine methods. The others have defaults that are right for every transport; overriding them
/// makes it faster. [`contract`](crate::contract) tests an implementation.
///
/// Messages between the same two ranks with the same tag arrive in the order in which they were sent, and receives match in
/// the order in which they were posted, as in MPI. Both ends of a message name its *capacity*, the length of the
/// receiver's buffer, and name the same one: a transport may carry small messages differently from large ones.
///
/// A communicator is used by one thread at a time. Dropping one neither communicates nor waits.
pub trait Communicator: fmt::Debug {
    /// This rank, `0..size`.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Starts sending `message` to a receiver whose buffer has `capacity_bytes`. Never waits for the receiver.
    ///
    /// # Errors
    /// The peer does not exist, the tag's conversation is not [open](Communicator::open), the message is longer than the
    /// transport can carry, or the transport has failed.
    fn start_send(
        &self,
        to: usize,
        tag: Tag,
        message: Vec<u8>,
        capacity_bytes: usize,
    ) -> Result<Request, Error>;

    /// Starts receiving one message, at most as long as `buffer`, whose content does not matter.
    ///
    /// # Errors
    /// As [`start_send`](Communicator::start_send).
    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error>;

    /// Whether `request` is complete. Makes progress, and does not wait.
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait).
    fn test(&self, request: &Request) -> Result<bool, Error>;

    /// As [`test`](Communicator::test), on a rank that waits for something else: the time does not count towards the silence limit.
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait).
    fn test_in_passing(&self, request: &Request) -> Result<bool, Error> {
        self.test(request)
    }

    /// Waits for `request`. A receive returns its message; a send returns a buffer, of any length, for reuse.
    ///
    /// # Errors
    /// A rank has panicked, left or [given up](Communicator::give_up), the ranks wait in a cycle or are in different exchanges,
    /// the message is too long, nothing came within the silence limit, or the transport has failed. The request is gone then.
    fn wait(&self, request: Request) -> Result<Vec<u8>, Error>;

    /// Waits until at least one of the requests, which must be pending or complete, is complete, at most
    /// `timeout`. Returns whether one is.
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait) of the first: the caller can go on without the others.
    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error>;

    /// Gives up a request. A posted receive no longer matches anything; a send may still arrive.
    fn cancel(&self, request: Request);

    /// The messages that this rank has sent.
    fn traffic(&self) -> Traffic;

    /// The handle of the communicator in MPI, if ranks are MPI's.
    #[cfg(feature = "mpi")]
    fn mpi_handle(&self) -> Option<mpi_library::Comm> {
        None
    }

    /// Waits until `request` is complete, at most `timeout`. Returns whether it is.
    ///
    /// # Errors
    /// As [`wait`](Communicator::wait).
    fn wait_timeout(&self, request: &Request, timeout: Duration) -> Result<bool, Error> {
        self.wait_any(&[request.id()], Some(timeout))
    }

    /// Sends a message without a request, if the transport accepts it within some microseconds. Returns whether it did. If not,
    /// [`start_send`](Communicator::start_send) sends it, or returns the error.
    fn try_send(&self, _to: usize, _tag: Tag, _message: &[u8], _capacity_bytes: usize) -> bool {
        false
    }

    /// Receives a message without a request, if it arrives within some microseconds. Returns whether it did. If not,
    /// [`start_receive`](Communicator::start_receive) receives it, or returns the error.
    ///
    /// `take` gets the message in place. It may ask this communicator for its rank and size, and close conversations; calls that
    /// communicate fail with [`Error::Nested`], or do nothing if they return no error. While a receive is posted that the message
    /// may match, this returns `false`: it never takes another receive's message.
    fn try_receive(
        &self,
        _from: usize,
        _tag: Tag,
        _capacity_bytes: usize,
        _take: &mut dyn FnMut(&[u8]),
    ) -> bool {
        false
    }

    /// Opens the conversation of a tag's number, before its first message. Collective: all ranks open the same conversations, in
    /// ascending order of their numbers. A transport whose own tags are few may synchronise here.
    ///
    /// # Errors
    /// The transport has failed.
    fn open(&self, _tag: Tag) -> Result<(), Error> {
        Ok(())
    }

    /// Closes a conversation on this rank: its messages that have not arrived yet are lost. Does not communicate.
    fn close(&self, _tag: Tag) {}

    /// Tells the other ranks that this one takes no part in the exchanges of a conversation from this tag's turn on. Their waits
    /// there end with [`Error::GivenUp`]. Does not wait. Without it, their waits for this rank end as if it were silent.
    fn give_up(&self, _tag: Tag) {}

    /// Whether a send arrives without further calls of this rank. If not, a rank must wait
    /// for its sends before it turns to other work.
    fn delivers_alone(&self) -> bool {
        false
    }

    /// Allocates bookkeeping for this number of further messages under way at once, sent or received by this rank, so
    /// that none of them allocates.
    fn reserve(&self, _messages: usize) {}

    /// Ends a reservation, so that the next one may use its memory.
    fn release(&self, _messages: usize) {}

    /// What this transport knows of its own speed and placement. The same on every rank.
    fn hints(&self) -> Hints {
        Hints::new(self.size())
    }

    /// The transport's own reductions by an operation of the caller's, if it has any. The same on every rank.
    fn native_reductions(&self) -> Option<&dyn NativeReductions> {
        None
    }

    /// A communicator of some of these ranks. `ranks` lists them in the order of their new numbers, this one included. All of them
    /// pass the same list and the same tag, which no other call uses. Its messages never match this communicator's receives.
    ///
    /// # Errors
    /// [`Error::NotSplittable`], if the transport cannot. This is the default; MPI itself splits MPI's communicators.
    fn split(&self, _tag: Tag, _ranks: &[usize]) -> Result<Box<dyn Communicator>, Error> {
        Err(Error::NotSplittable { rank: self.rank() })
    }

    /// Whether all ranks pass `true`. Every rank that gets an answer gets the same: `true` only if no rank is lost and all have
    /// passed `true`. Waits until every rank that is not lost has called this function, or [`shrink`](Communicator::shrink), which
    /// counts as `false`. Works even if all other calls fail because a rank is lost.
    ///
    /// # Errors
    /// [`Error::NotSurvivable`], on every rank, if the transport cannot go on without a lost rank. This is the default.
    fn agree(&self, _flag: bool) -> Result<bool, Error> {
        Err(not_survivable(self.rank()))
    }

    /// The communicator of the surviving ranks, numbered in the same order. Waits until every rank that is not lost has called this
    /// function. The call revokes this communicator: all other ranks' pending and later calls on it fail with [`Error::Revoked`],
    /// unless they fail already, so that no rank waits for a lost one.
    ///
    /// # Errors
    /// As [`agree`](Communicator::agree).
    fn shrink(&self) -> Result<Shrunk, Error> {
        Err(not_survivable(self.rank()))
    }

    /// How long a wait may last before it fails; `None` where the transport finds lost ranks in another way.
    fn silence_limit(&self) -> Option<Duration> {
        None
    }

    /// Sets the silence limit. Has no effect where there is none.
    fn set_silence_limit(&self, _limit: Duration) {}

    /// Sets a function that a long wait calls several times a second; `None` for none. When it returns true, the wait ends with
    /// [`Error::Interrupted`]. The function must not send or receive. A transport need not call it.
    fn set_interruption(&self, _interruption: Option<Interruption>) {}
}

/// The error of a transport without `agree` and `shrink`.
fn not_survivable(rank: usize) -> Error {
    Error::NotSurvivable {
        rank,
        library: "this transport".to_owned(),
        advice: "",
    }
}

/// The result of [`Communicator::shrink`].
#[derive(Debug)]
pub struct Shrunk {
    /// The communicator of the surviving ranks.
    pub communicator: Box<dyn Communicator>,
    /// Their old numbers, in ascending order: rank `i` was rank `left[i]`. The same on all of them.
    pub left: Vec<usize>,
}

/// What a transport knows of its own speed and placement. It guides the choice of an algorithm and never changes a bit.
///
/// ```
/// // Sixteen ranks, four on each node.
/// let mut hints = comm::Hints::new(16);
/// hints.node_ranks = Some(4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// The longest message that is sent without asking the receiver; longer ones take another round trip.
    pub eager_bytes: usize,
    /// The number of ranks that can run at once: all, unless they share cores.
    pub concurrency: usize,
    /// The number of ranks per node, if consecutive ranks share nodes and all nodes have the same number (the last may have fewer); `None`
    /// otherwise, or if unknown.
    pub node_ranks: Option<usize>,
    /// The longest message that any two ranks pass through memory that they share; 0 if some ranks share none.
    pub shared_bytes: usize,
}

impl Hints {
    /// The hints of a transport of `size` ranks that knows nothing else: every rank has a core, and no message is too long to be
    /// sent at once.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self {
            eager_bytes: usize::MAX,
            concurrency: size,
            node_ranks: None,
            shared_bytes: 0,
        }
    }
}
