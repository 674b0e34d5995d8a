//! The trait that every transport implements.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use crate::error::Error;
use crate::native::NativeReductions;
use crate::request::{Request, RequestId};
use crate::tag::Tag;
use crate::traffic::Traffic;

/// A function that decides whether a wait must end, for example after a signal.
pub type Interruption = Rc<dyn Fn() -> bool>;

/// One rank's end of a transport, through which a group of ranks exchanges messages of bytes.
///
/// Nine methods are required. The other methods have defaults that are correct for every transport; overriding them makes a transport
/// faster or adds functions to it. [`contract`](crate::contract) tests an implementation.
///
/// Messages between the same two ranks with the same tag arrive in the order in which they were sent, and receives match in
/// the order in which they were posted, as in MPI. Sender and receiver of a message pass the same *capacity*, the length of the
/// receiver's buffer, since a transport may carry small messages differently from large ones.
///
/// A communicator is used by one thread at a time. Dropping a communicator neither communicates nor waits.
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

    /// Starts receiving one message of at most `buffer.len()` bytes. The contents of `buffer` do not matter.
    ///
    /// # Errors
    /// Those of [`start_send`](Communicator::start_send).
    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error>;

    /// Whether `request` is complete. Lets messages make progress, but does not wait.
    ///
    /// # Errors
    /// Those of [`wait`](Communicator::wait).
    fn test(&self, request: &Request) -> Result<bool, Error>;

    /// Like [`test`](Communicator::test), but a rank's other work between tests does not count towards the silence limit.
    ///
    /// # Errors
    /// Those of [`wait`](Communicator::wait).
    fn test_in_passing(&self, request: &Request) -> Result<bool, Error> {
        self.test(request)
    }

    /// Waits for `request`. A receive returns its message; a send returns a buffer, of any length, for reuse.
    ///
    /// # Errors
    /// A rank has panicked, left or [given up](Communicator::give_up), ranks wait for one another or are in different exchanges, the
    /// message is too long, nothing arrived within the silence limit, or the transport has failed. A failed wait also ends the request.
    fn wait(&self, request: Request) -> Result<Vec<u8>, Error>;

    /// Waits at most `timeout` until at least one of these requests is complete. Returns whether one is complete. None of the requests
    /// may have been waited for or cancelled before.
    ///
    /// # Errors
    /// Those of [`wait`](Communicator::wait), as if this rank waited for the first request alone.
    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error>;

    /// Cancels a request. A cancelled receive matches no message; a cancelled send may still arrive.
    fn cancel(&self, request: Request);

    /// How many messages and bytes this rank has sent.
    fn traffic(&self) -> Traffic;

    /// MPI's handle of this communicator, if the transport is MPI.
    #[cfg(feature = "mpi")]
    fn mpi_handle(&self) -> Option<mpi_library::Comm> {
        None
    }

    /// Waits at most `timeout` until `request` is complete. Returns whether it is complete.
    ///
    /// # Errors
    /// Those of [`wait`](Communicator::wait).
    fn wait_timeout(&self, request: &Request, timeout: Duration) -> Result<bool, Error> {
        self.wait_any(&[request.id()], Some(timeout))
    }

    /// Sends a message without a request, if the transport accepts it within a few microseconds. Returns whether the message was sent.
    /// After `false`, the caller calls [`start_send`](Communicator::start_send), which returns the error if there is one.
    fn try_send(&self, _to: usize, _tag: Tag, _message: &[u8], _capacity_bytes: usize) -> bool {
        false
    }

    /// Receives a message without a request, if one arrives within a few microseconds. Returns whether a message was received. After
    /// `false`, the caller calls [`start_receive`](Communicator::start_receive), which returns the error if there is one.
    ///
    /// `take` gets the message in place. `take` may call `rank`, `size` and `close` of this communicator; calls that communicate fail with
    /// [`Error::Nested`], or do nothing if they cannot return an error. If the message may match a posted receive, `try_receive` returns
    /// `false`, so it never takes another receive's message.
    fn try_receive(
        &self,
        _from: usize,
        _tag: Tag,
        _capacity_bytes: usize,
        _take: &mut dyn FnMut(&[u8]),
    ) -> bool {
        false
    }

    /// Opens the conversation that the tag names, before the conversation's first message. Collective: all ranks open the same
    /// conversations, in ascending order of their numbers. A transport that has few tags may synchronise the ranks here.
    ///
    /// # Errors
    /// The transport has failed.
    fn open(&self, _tag: Tag) -> Result<(), Error> {
        Ok(())
    }

    /// Closes a conversation on this rank: messages that have not arrived yet are lost. Does not communicate.
    fn close(&self, _tag: Tag) {}

    /// Notifies the other ranks that this rank takes no part in a conversation from this tag's turn on. The others' waits in this and later
    /// turns end with [`Error::GivenUp`], instead of lasting until the silence limit. Does not wait.
    fn give_up(&self, _tag: Tag) {}

    /// Whether a send arrives even if this rank makes no further calls. If not, a rank must wait
    /// for its sends before it does other work.
    fn delivers_alone(&self) -> bool {
        false
    }

    /// Allocates memory for this number of further messages that this rank sends or receives at the same time, so that starting a
    /// message does not allocate.
    fn reserve(&self, _messages: usize) {}

    /// Ends a reservation, so that the next reservation may use its memory.
    fn release(&self, _messages: usize) {}

    /// What this transport knows about its speed and the placement of ranks. All ranks get the same hints.
    fn hints(&self) -> Hints {
        Hints::new(self.size())
    }

    /// The transport's own reductions, if it has any. They exist on all ranks or on none.
    fn native_reductions(&self) -> Option<&dyn NativeReductions> {
        None
    }

    /// A communicator of some of these ranks. `ranks` lists the chosen ranks, including this rank, in the order of their new numbers. These
    /// ranks pass the same list, and the same tag, which no other call uses. Messages of the old and the new communicator never match.
    ///
    /// # Errors
    /// [`Error::NotSplittable`] if the transport cannot split (the default). To split MPI communicators, use MPI's own functions.
    fn split(&self, _tag: Tag, _ranks: &[usize]) -> Result<Box<dyn Communicator>, Error> {
        Err(Error::NotSplittable { rank: self.rank() })
    }

    /// Whether all ranks pass `true`. All ranks that get an answer get the same answer: `true` only if no rank is lost and all have passed
    /// `true`. Waits until every rank that is not lost has called this function or [`shrink`](Communicator::shrink), which counts as
    /// `false`. Works even if all other calls fail because a rank is lost.
    ///
    /// # Errors
    /// [`Error::NotSurvivable`], on every rank, if the transport cannot go on without a lost rank (the default).
    fn agree(&self, _flag: bool) -> Result<bool, Error> {
        Err(not_survivable(self.rank()))
    }

    /// The communicator of the surviving ranks, numbered in the same order. Waits until every rank that is not lost has called this
    /// function. The call revokes this communicator, so that no rank waits for a lost rank: the other ranks' pending and later calls on
    /// this communicator fail with [`Error::Revoked`], unless they fail already.
    ///
    /// # Errors
    /// Those of [`agree`](Communicator::agree).
    fn shrink(&self) -> Result<Shrunk, Error> {
        Err(not_survivable(self.rank()))
    }

    /// How long a wait may last before it fails; `None` if the transport detects lost ranks in another way.
    fn silence_limit(&self) -> Option<Duration> {
        None
    }

    /// Sets the silence limit. Has no effect if the transport has no such limit.
    fn set_silence_limit(&self, _limit: Duration) {}

    /// Sets a function that a long wait calls several times a second; `None` removes the function. When it returns true, the wait ends with
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
    /// The old numbers of the surviving ranks, in ascending order: new rank `i` was old rank `left[i]`. All ranks get the same list.
    pub left: Vec<usize>,
}

/// What a transport knows about its speed and the placement of ranks. Hints guide the choice of an algorithm and never change a bit.
///
/// ```
/// // Sixteen ranks, four on each node.
/// let mut hints = comm::Hints::new(16);
/// hints.node_ranks = Some(4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// The length of the longest message that is sent without asking the receiver; a longer message needs another round trip.
    pub eager_bytes: usize,
    /// The number of ranks that can run at once: all of them, unless ranks share cores.
    pub concurrency: usize,
    /// The number of ranks per node, if consecutive ranks share nodes and all nodes have the same number (the last may have fewer); `None`
    /// otherwise, or if unknown.
    pub node_ranks: Option<usize>,
    /// The length of the longest message that any two ranks exchange through shared memory; 0 if some ranks share none.
    pub shared_bytes: usize,
}

impl Hints {
    /// The hints of a transport that knows only its number of ranks: every rank has a core, and no message is too long to be sent
    /// without asking the receiver.
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
