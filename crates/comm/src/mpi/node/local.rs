//! Messages that MPI does not carry: short messages between ranks of a node, which go through [rings](crate::ring), and all messages of a
//! rank to itself, since some MPI libraries do not complete such a send before its receive. Messages match receives as in MPI.

use std::collections::VecDeque;

use crate::conversation::Conversations;
use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::Failure;
use crate::mpi::messages::message::{LocalMessage, LocalState, Message, Trouble};
use crate::mpi::messages::wait_time::WaitTime;
use crate::mpi::node::lanes::{Lane, Rings, to_wire};
use crate::mpi::node::window::{RawWindow, Window};
use crate::request::{Request, RequestId, Requests};
use crate::tag::Tag;

/// The maximum number of ranks of a node that has rings. Each rank has a ring to every rank; for this number of ranks, rings take 54 MB.
const MOST_RANKS: usize = 256;

/// The maximum number of buffers allocated in advance for unexpected messages. As long as these suffice, receiving allocates nothing.
const MOST_SPARE: usize = 4;

/// A message that arrived before its receive was posted.
#[derive(Debug)]
pub(super) struct Unexpected {
    pub(super) node_rank: usize,
    pub(super) tag: Tag,
    pub(super) bytes: Vec<u8>,
}

/// The rings of a node, the receives and sends that still wait, and the messages that arrived before their receives.
#[derive(Debug)]
pub(crate) struct LocalMessages {
    /// `None` if there can be no rings; then `ranks` has only this rank.
    pub(super) rings: Option<Rings>,
    /// The length of the longest message that the rings carry; 0 if there are no rings.
    pub(super) longest_bytes: usize,
    /// The ranks of this node, ascending.
    pub(super) ranks: Vec<usize>,
    pub(super) own_node_rank: usize,
    /// The number of the channel's first conversation.
    pub(super) first_number: u64,
    /// The time in milliseconds when this rank last read the clock.
    pub(super) now_ms: u32,
    /// Receives that wait for their messages, in the order in which they were posted.
    pub(super) posted: Vec<RequestId>,
    /// Sends that wait for room in their rings, in the order in which they were started.
    pub(super) waiting: Vec<RequestId>,
    pub(super) unexpected: VecDeque<Unexpected>,
    /// Buffers for unexpected messages, each large enough for the longest message.
    pub(super) spare: Vec<Vec<u8>>,
}

impl LocalMessages {
    /// The messages of a rank that has no rings: only its messages to itself.
    pub(crate) fn of_one(rank: usize, first_number: u64) -> Self {
        Self {
            rings: None,
            longest_bytes: 0,
            ranks: vec![rank],
            own_node_rank: 0,
            first_number,
            now_ms: 0,
            posted: Vec::new(),
            waiting: Vec::new(),
            unexpected: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// The messages of a rank of a node that has rings. Collective; `None` on all ranks of the node if there can be no rings.
    pub(crate) fn of_node(
        node: &RawCommunicator,
        ranks: Vec<usize>,
        first_number: u64,
    ) -> Result<Option<Self>, Failure> {
        let size = ranks.len();
        if !(2..=MOST_RANKS).contains(&size) {
            return Ok(None);
        }
        let own_node_rank = node.rank()?;
        let window = Window::allocate(node)?;
        Ok(window.map(|window| Self {
            longest_bytes: window.longest_bytes(),
            rings: Some(Rings {
                window,
                own_node_rank,
                lanes: (0..size).map(|_| Lane::default()).collect(),
            }),
            ranks,
            own_node_rank,
            ..Self::of_one(0, first_number)
        }))
    }

    /// MPI's window with the rings' memory, if there are rings.
    pub(crate) fn window(&self) -> Option<RawWindow> {
        self.rings.as_ref().map(|rings| rings.window.raw())
    }

    /// The length of the longest message that the rings carry; 0 unless all `ranks` ranks are on this node.
    pub(crate) fn longest_bytes_among(&self, ranks: usize) -> usize {
        if self.ranks.len() == ranks {
            self.longest_bytes
        } else {
            0
        }
    }

    /// A rank's number on this node, if messages of this capacity to and from that rank do not go through MPI.
    #[inline]
    pub(crate) fn node_rank_of(&self, rank: usize, capacity_bytes: usize) -> Option<usize> {
        if capacity_bytes > self.longest_bytes && rank != self.ranks[self.own_node_rank] {
            return None;
        }
        self.ranks.binary_search(&rank).ok()
    }

    /// Allocates memory for this number of messages.
    pub(crate) fn reserve(&mut self, messages: usize) {
        for list in [&mut self.posted, &mut self.waiting] {
            list.reserve(messages.saturating_sub(list.len()));
        }
        let unexpected = self.unexpected.len();
        self.unexpected.reserve(messages.saturating_sub(unexpected));
        if self.rings.is_some() {
            let spare = self.spare.len()..messages.min(MOST_SPARE);
            let memory = || Vec::with_capacity(self.longest_bytes);
            self.spare.extend(spare.map(|_| memory()));
        }
    }

    pub(crate) fn start_send(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
        node_rank: usize,
        tag: Tag,
        buffer: Vec<u8>,
    ) -> Request {
        let Some(rings) = self.rings_to(node_rank) else {
            return self.send_to_oneself(requests, conversations, tag, buffer);
        };
        let (ring, lane) = rings.to(node_rank);
        let is_sent = lane.send(ring, tag, &buffer);
        let state = if is_sent {
            LocalState::Sent
        } else {
            LocalState::Sending
        };
        let request = requests.insert(Message::Local(self.message(node_rank, tag, buffer, state)));
        if !is_sent {
            self.waiting.push(request.id());
        }
        request
    }

    /// The rings; `None` if there are none, or if `node_rank` is this rank itself.
    #[inline]
    pub(super) fn rings_to(&mut self, node_rank: usize) -> Option<&mut Rings> {
        let is_other = node_rank != self.own_node_rank;
        self.rings.as_mut().filter(|_| is_other)
    }

    #[cold]
    fn send_to_oneself(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
        tag: Tag,
        buffer: Vec<u8>,
    ) -> Request {
        let node_rank = self.own_node_rank;
        let mut sent = self.message(node_rank, tag, Vec::new(), LocalState::Sent);
        if let Some(index) = self.first_posted(requests, node_rank, tag) {
            let message = local(requests, self.posted.remove(index));
            let into = message.accept(tag, buffer.len());
            into.copy_from_slice(&buffer[..into.len()]);
            if message.tag != tag {
                self.end_mismatched(requests, conversations, node_rank, tag);
            }
            sent.buffer = buffer;
        } else if !conversations.is_closed(tag) {
            self.unexpected.push_back(Unexpected {
                node_rank,
                tag,
                bytes: buffer,
            });
        }
        requests.insert(Message::Local(sent))
    }

    /// Tries up to `looks` times to send a message to another rank. Stops when a message from that rank arrives, since that rank may
    /// be waiting for room, too. Returns whether the message was sent.
    pub(crate) fn try_send(
        &mut self,
        node_rank: usize,
        tag: Tag,
        message: &[u8],
        looks: u32,
    ) -> bool {
        let Some(rings) = self.rings_to(node_rank) else {
            return false;
        };
        let (ring, lane) = rings.to(node_rank);
        if lane.is_full {
            return false;
        }
        lane.writer.write(ring, to_wire(tag), message)
            || rings.send_when_there_is_room(node_rank, tag, message, looks)
    }

    /// Passes a rank's next message to `take` if it belongs to this exchange and no other receive may match it. Returns whether it did so.
    pub(crate) fn try_receive(
        &mut self,
        node_rank: usize,
        tag: Tag,
        capacity_bytes: usize,
        looks: u32,
        take: &mut dyn FnMut(&[u8]),
    ) -> bool {
        if !self.posted.is_empty() || !self.unexpected.is_empty() {
            return false;
        }
        let now_ms = self.now_ms;
        let Some(rings) = self.rings_to(node_rank) else {
            return false;
        };
        let (ring, lane) = rings.from(node_rank);
        let Some((wire, length)) = (0..looks).find_map(|_| lane.reader.next(ring)) else {
            return false;
        };
        let is_it = wire == to_wire(tag) && length <= capacity_bytes;
        if is_it {
            lane.heard_ms = now_ms;
            lane.reader.take(ring, length, take);
        }
        is_it
    }

    pub(crate) fn start_receive(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
        node_rank: usize,
        tag: Tag,
        buffer: Vec<u8>,
    ) -> Request {
        let mut message = self.message(node_rank, tag, buffer, LocalState::Receiving);
        // After a rank has given up, an unexpected message may belong to an earlier receive that failed, not to this one.
        if let Some(given_up) = conversations.who_gave_up(tag) {
            message.state = LocalState::Failed(Trouble::GivenUp(given_up));
        } else if let Some(unexpected) = self.take_unexpected(node_rank, tag) {
            let bytes = unexpected.bytes;
            let into = message.accept(unexpected.tag, bytes.len());
            into.copy_from_slice(&bytes[..into.len()]);
            self.keep_spare(node_rank, bytes);
            if unexpected.tag != tag {
                self.end_mismatched(requests, conversations, node_rank, unexpected.tag);
            }
        }
        let is_posted = message.state == LocalState::Receiving;
        let request = requests.insert(Message::Local(message));
        if is_posted {
            self.posted.push(request.id());
        }
        request
    }

    /// Keeps the memory of an unexpected message from a ring for a later message.
    pub(super) fn keep_spare(&mut self, node_rank: usize, bytes: Vec<u8>) {
        if node_rank != self.own_node_rank && self.spare.len() < MOST_SPARE {
            self.spare.push(bytes);
        }
    }

    /// Removes and returns a rank's oldest message of a conversation that came before its receive.
    pub(super) fn take_unexpected(&mut self, node_rank: usize, tag: Tag) -> Option<Unexpected> {
        let index = self.unexpected.iter().position(|unexpected| {
            (unexpected.node_rank, unexpected.tag.number()) == (node_rank, tag.number())
        })?;
        self.unexpected.remove(index)
    }

    /// Finds a conversation's message that came before its receive, is the oldest of its sender, and has a tag that `holds` accepts.
    /// Returns the message's sender and tag.
    pub(crate) fn find_unexpected(
        &self,
        tag: Tag,
        holds: impl Fn(Tag) -> bool,
    ) -> Option<(usize, Tag)> {
        let mut senders: Vec<usize> = Vec::new();
        for unexpected in &self.unexpected {
            let sender = unexpected.node_rank;
            if unexpected.tag.number() != tag.number() || senders.contains(&sender) {
                continue;
            }
            if holds(unexpected.tag) {
                return Some((self.ranks[sender], unexpected.tag));
            }
            senders.push(sender);
        }
        None
    }

    /// Drops a conversation's messages that have no receive.
    pub(crate) fn forget(&mut self, tag: Tag) {
        self.unexpected
            .retain(|unexpected| unexpected.tag.number() != tag.number());
    }

    pub(super) fn message(
        &self,
        node_rank: usize,
        tag: Tag,
        buffer: Vec<u8>,
        state: LocalState,
    ) -> LocalMessage {
        LocalMessage {
            buffer,
            peer: self.ranks[node_rank],
            node_rank,
            tag,
            state,
            wait_time: WaitTime::default(),
        }
    }

    /// Sets the time that is recorded for messages that arrive from now on.
    pub(crate) fn note_time(&mut self, now_ms: u32) {
        self.now_ms = now_ms;
    }

    /// For how long nothing has come from a rank through a ring, in milliseconds; `None` if there is no ring.
    pub(crate) fn silence_ms(&self, rank: usize) -> Option<u32> {
        let node_rank = self.ranks.binary_search(&rank).ok()?;
        let lane = self.rings.as_ref()?.lanes.get(node_rank)?;
        Some(self.now_ms.wrapping_sub(lane.heard_ms))
    }

    /// Forgets a request that was cancelled.
    pub(crate) fn cancel(&mut self, request: RequestId) {
        for list in [&mut self.posted, &mut self.waiting] {
            list.retain(|&other| other != request);
        }
    }

    /// The index in `posted` of the oldest receive that waits for a rank's message of this conversation.
    #[inline]
    pub(super) fn first_posted(
        &self,
        requests: &mut Requests<Message>,
        node_rank: usize,
        tag: Tag,
    ) -> Option<usize> {
        self.posted.iter().position(|&request| {
            let message = local(requests, request);
            (message.node_rank, message.tag.number()) == (node_rank, tag.number())
        })
    }

    /// Fails all receives of a conversation: a message has met a receive of another exchange, so no receive can complete.
    #[cold]
    pub(super) fn end_mismatched(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
        node_rank: usize,
        found: Tag,
    ) {
        let from = self.ranks[node_rank];
        conversations.note_mismatched(from, found);
        self.end_receives(requests, |tag| {
            (tag.number() == found.number()).then_some(Trouble::Mismatched(from, found))
        });
    }

    /// Fails the receives for whose tags `end` returns a reason.
    #[cold]
    pub(super) fn end_receives(
        &mut self,
        requests: &mut Requests<Message>,
        end: impl Fn(Tag) -> Option<Trouble>,
    ) {
        self.posted.retain(|&request| {
            let message = local(requests, request);
            let trouble = end(message.tag);
            if let Some(trouble) = trouble {
                message.state = LocalState::Failed(trouble);
            }
            trouble.is_none()
        });
    }
}

/// The message of a request in the lists `posted` or `waiting`.
pub(super) fn local(requests: &mut Requests<Message>, request: RequestId) -> &mut LocalMessage {
    match requests.get_mut(request) {
        Message::Local(message) => message,
        Message::Mpi(_) => unreachable!("only local messages are in these lists"),
    }
}
