//! Short messages between ranks of a node: they go through [rings](crate::ring), and match their receives as MPI's do.

use super::channel::CONVERSATIONS;
use super::message::{Message, ShortMessage, State, Trouble};
use super::raw::{Failure, RawCommunicator};
use super::window::{RawWindow, Window};
use crate::conversation::Conversations;
use crate::request::{Request, RequestId, Requests};
use crate::ring::{LONGEST_BYTES, Reader, Ring, Writer};
use crate::tag::Tag;

/// On larger nodes the rings, one for each pair of ranks, would take too much memory: 37 MB here.
const MOST_RANKS: usize = 256;

/// A message that arrived before its receive was posted.
#[derive(Debug)]
struct Unexpected {
    node_rank: usize,
    tag: Tag,
    length: usize,
    bytes: [u8; LONGEST_BYTES],
}

/// To and from one rank of the node.
#[derive(Debug, Default)]
struct Lane {
    writer: Writer,
    reader: Reader,
    /// Whether a send waits for room here.
    is_full: bool,
}

impl Lane {
    /// Sends a message if there is room for it, and no earlier send to this rank is still queued. Says whether it did.
    fn send(&mut self, ring: &Ring, tag: Tag, message: &[u8]) -> bool {
        self.is_full = self.is_full || !self.writer.write(ring, to_wire(tag), message);
        !self.is_full
    }
}

/// A tag as the header of a line has it: its exchange, and its number in the channel.
fn to_wire(tag: Tag) -> u32 {
    let number = u32::try_from(tag.number() % CONVERSATIONS).expect("15 bits");
    number << 16 | u32::from(tag.exchange())
}

/// A tag from the header of a line, in the channel whose first conversation has this number.
#[expect(clippy::cast_possible_truncation, reason = "the parts of a word")]
fn from_wire(wire: u32, first_number: u64) -> Tag {
    Tag::new(first_number + u64::from(wire >> 16)).with_exchange_number(wire as u16)
}

/// This rank's ends of the rings, and what has not met its other half.
#[derive(Debug)]
pub(super) struct ShortMessages {
    window: Window,
    /// The ranks of this node, ascending.
    ranks: Vec<usize>,
    own_node_rank: usize,
    /// The number of the channel's first conversation.
    first_number: u64,
    lanes: Vec<Lane>,
    /// Receives that wait for their messages, in the order in which they were posted.
    posted: Vec<RequestId>,
    /// Sends that wait for room in their rings, in the order in which they were started.
    waiting: Vec<RequestId>,
    unexpected: Vec<Unexpected>,
}

impl ShortMessages {
    /// Rings for a node whose ranks are these. Collective; `None` on all of them where there can be no rings.
    pub(super) fn new(
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
            window,
            ranks,
            own_node_rank,
            first_number,
            lanes: (0..size).map(|_| Lane::default()).collect(),
            posted: Vec::new(),
            waiting: Vec::new(),
            unexpected: Vec::new(),
        }))
    }

    /// MPI's name for the memory.
    pub(super) fn window(&self) -> RawWindow {
        self.window.raw()
    }

    /// A rank's number on this node; `None` for a rank of another node.
    pub(super) fn node_rank_of(&self, rank: usize) -> Option<usize> {
        self.ranks.binary_search(&rank).ok()
    }

    /// Makes room for this number of messages.
    pub(super) fn reserve(&mut self, messages: usize) {
        for list in [&mut self.posted, &mut self.waiting] {
            list.reserve(messages.saturating_sub(list.len()));
        }
        let unexpected = self.unexpected.len();
        self.unexpected.reserve(messages.saturating_sub(unexpected));
    }

    pub(super) fn start_send(
        &mut self,
        requests: &mut Requests<Message>,
        node_rank: usize,
        tag: Tag,
        buffer: Vec<u8>,
    ) -> Request {
        let ring = self.window.ring(self.own_node_rank, node_rank);
        let is_sent = self.lanes[node_rank].send(ring, tag, &buffer);
        let state = match is_sent {
            true => State::Complete,
            false => State::Sending,
        };
        let request = requests.insert(Message::Short(self.message(node_rank, tag, buffer, state)));
        if !is_sent {
            self.waiting.push(request.id());
        }
        request
    }

    /// Sends a message if there is room for it. Says whether there was.
    pub(super) fn try_send(&mut self, node_rank: usize, tag: Tag, message: &[u8]) -> bool {
        let ring = self.window.ring(self.own_node_rank, node_rank);
        let lane = &mut self.lanes[node_rank];
        !lane.is_full && lane.writer.write(ring, to_wire(tag), message)
    }

    /// Takes the next message of a rank in, if it is this exchange's and no other receive may be waiting for it. Its length.
    pub(super) fn try_receive(
        &mut self,
        node_rank: usize,
        tag: Tag,
        buffer: &mut [u8],
        polls: u32,
    ) -> Option<usize> {
        if !self.posted.is_empty() || !self.unexpected.is_empty() {
            return None;
        }
        let ring = self.window.ring(node_rank, self.own_node_rank);
        let reader = &mut self.lanes[node_rank].reader;
        let (wire, length) = (0..polls).find_map(|_| reader.next(ring))?;
        let is_it = wire == to_wire(tag) && length <= buffer.len();
        is_it.then(|| {
            reader.read(ring, length, buffer);
            length
        })
    }

    pub(super) fn start_receive(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &Conversations,
        node_rank: usize,
        tag: Tag,
        buffer: Vec<u8>,
    ) -> Request {
        let mut message = self.message(node_rank, tag, buffer, State::Receiving);
        // A message that is there may be that of an earlier receive, which has ended without it.
        if let Some(rank) = conversations.who_gave_up(tag) {
            message.state = State::Failed(Trouble::GivenUp(rank));
        } else if let Some(index) = self.first_unexpected(node_rank, tag) {
            let unexpected = self.unexpected.remove(index);
            let into = message.accept(unexpected.tag, unexpected.length);
            into.copy_from_slice(&unexpected.bytes[..into.len()]);
        }
        let is_posted = message.state == State::Receiving;
        let request = requests.insert(Message::Short(message));
        if is_posted {
            self.posted.push(request.id());
        }
        request
    }

    /// The oldest message of a conversation that came before its receive.
    fn first_unexpected(&self, node_rank: usize, tag: Tag) -> Option<usize> {
        self.unexpected.iter().position(|unexpected| {
            (unexpected.node_rank, unexpected.tag.number()) == (node_rank, tag.number())
        })
    }

    /// A message of a conversation that came before its receive, and of whose tag this holds: its sender and its tag.
    pub(super) fn find_unexpected(
        &self,
        tag: Tag,
        holds: impl Fn(Tag) -> bool,
    ) -> Option<(usize, Tag)> {
        let unexpected = self
            .unexpected
            .iter()
            .find(|unexpected| unexpected.tag.number() == tag.number() && holds(unexpected.tag))?;
        Some((self.ranks[unexpected.node_rank], unexpected.tag))
    }

    /// Forgets the messages of a conversation that nobody has asked for.
    pub(super) fn forget(&mut self, tag: Tag) {
        self.unexpected
            .retain(|unexpected| unexpected.tag.number() != tag.number());
    }

    fn message(&self, node_rank: usize, tag: Tag, buffer: Vec<u8>, state: State) -> ShortMessage {
        ShortMessage {
            buffer,
            peer: self.ranks[node_rank],
            node_rank,
            tag,
            state,
        }
    }

    /// Forgets a request that is given up.
    pub(super) fn cancel(&mut self, request: RequestId) {
        for list in [&mut self.posted, &mut self.waiting] {
            list.retain(|&other| other != request);
        }
    }

    /// Goes on with a message. What it finds on the way goes to its receive.
    #[inline]
    pub(super) fn progress<'r>(
        &mut self,
        requests: &'r mut Requests<Message>,
        conversations: &mut Conversations,
        request: RequestId,
    ) -> &'r ShortMessage {
        let node_rank = short(requests, request).node_rank;
        while short(requests, request).state == State::Receiving
            && self.take_in(requests, conversations, node_rank)
        {}
        short(requests, request)
    }

    /// Takes the next message of a rank in, if one has arrived. Says whether one had.
    #[inline]
    fn take_in(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
        node_rank: usize,
    ) -> bool {
        let ring = self.window.ring(node_rank, self.own_node_rank);
        let reader = &mut self.lanes[node_rank].reader;
        let Some((wire, length)) = reader.next(ring) else {
            return false;
        };
        let tag = from_wire(wire, self.first_number);
        let is_its = |&request: &RequestId| {
            let message = short(requests, request);
            (message.node_rank, message.tag.number()) == (node_rank, tag.number())
        };
        if tag.is_notice() {
            self.take_notice(requests, conversations, node_rank, tag);
        } else if let Some(index) = self.posted.iter().position(is_its) {
            let message = short(requests, self.posted.remove(index));
            reader.read(ring, length, message.accept(tag, length));
            if message.tag != tag {
                self.end_mismatched(requests, conversations, node_rank, tag);
            }
        } else {
            self.keep_unexpected(conversations, node_rank, tag, length);
        }
        true
    }

    /// A message has met a receive of another exchange: the other receives of the conversation wait in vain as well.
    #[cold]
    fn end_mismatched(
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

    /// Takes everything in that has arrived.
    #[cold]
    pub(super) fn take_all_in(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
    ) {
        for node_rank in 0..self.ranks.len() {
            while self.take_in(requests, conversations, node_rank) {}
        }
    }

    /// Takes the next message of a rank in, which says that the rank has given up or where it waits.
    #[cold]
    fn take_notice(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
        node_rank: usize,
        tag: Tag,
    ) {
        let ring = self.window.ring(node_rank, self.own_node_rank);
        let mut exchange = [0; size_of::<u16>()];
        let reader = &mut self.lanes[node_rank].reader;
        reader.read(ring, exchange.len(), &mut exchange);
        let rank = self.ranks[node_rank];
        let its = tag.with_exchange_number(u16::from_ne_bytes(exchange));
        if tag.says_given_up() {
            conversations.note_given_up(rank, its);
            self.end_receives(requests, |tag| {
                conversations.who_gave_up(tag).map(Trouble::GivenUp)
            });
        } else {
            conversations.note_waiting(rank, its);
        }
    }

    /// Ends the receives for which `end`, given their tags, says what is wrong.
    #[cold]
    fn end_receives(
        &mut self,
        requests: &mut Requests<Message>,
        end: impl Fn(Tag) -> Option<Trouble>,
    ) {
        self.posted.retain(|&request| {
            let message = short(requests, request);
            let trouble = end(message.tag);
            if let Some(trouble) = trouble {
                message.state = State::Failed(trouble);
            }
            trouble.is_none()
        });
    }

    /// Takes the next message of a rank in, whose receive has not been posted yet.
    #[cold]
    fn keep_unexpected(
        &mut self,
        conversations: &Conversations,
        node_rank: usize,
        tag: Tag,
        length: usize,
    ) {
        let ring = self.window.ring(node_rank, self.own_node_rank);
        let mut bytes = [0; LONGEST_BYTES];
        self.lanes[node_rank].reader.read(ring, length, &mut bytes);
        if !conversations.is_closed(tag) {
            self.unexpected.push(Unexpected {
                node_rank,
                tag,
                length,
                bytes,
            });
        }
    }

    /// Sends what there is room for, and makes room on this rank: two whose rings to each other are full would wait for each other.
    #[inline]
    pub(super) fn go_on_sending(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
    ) {
        if !self.waiting.is_empty() {
            self.send_waiting(requests, conversations);
        }
    }

    #[cold]
    fn send_waiting(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
    ) {
        for lane in &mut self.lanes {
            lane.is_full = false;
        }
        let before = self.waiting.len();
        self.waiting.retain(|&request| {
            let message = short(requests, request);
            let ring = self.window.ring(self.own_node_rank, message.node_rank);
            let is_sent = self.lanes[message.node_rank].send(ring, message.tag, &message.buffer);
            if is_sent {
                message.state = State::Complete;
            }
            !is_sent
        });
        if self.waiting.len() == before {
            self.take_all_in(requests, conversations);
        }
    }
}

fn short(requests: &mut Requests<Message>, request: RequestId) -> &mut ShortMessage {
    match requests.get_mut(request) {
        Message::Short(message) => message,
        Message::Long(_) => unreachable!("only short messages are in these lists"),
    }
}
