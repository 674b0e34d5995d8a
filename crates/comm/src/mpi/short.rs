//! Short messages between ranks of a node: they go through [rings](crate::ring), and match their receives as MPI's do.

use super::message::{Message, ShortMessage, State};
use super::raw::{Failure, RawCommunicator};
use super::window::{RawWindow, Window};
use crate::request::{Request, RequestId, Requests};
use crate::ring::{LONGEST_BYTES, Reader, Ring, Writer};

/// On larger nodes the rings, one for each pair of ranks, would take too much memory: 37 MB here.
const MOST_RANKS: usize = 256;

/// A message that arrived before its receive was posted.
#[derive(Debug)]
struct Unexpected {
    node_rank: usize,
    tag: u16,
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
    fn send(&mut self, ring: &Ring, tag: u16, message: &[u8]) -> bool {
        self.is_full = self.is_full || !self.writer.write(ring, tag, message);
        !self.is_full
    }
}

/// This rank's ends of the rings, and what has not met its other half.
#[derive(Debug)]
pub(super) struct ShortMessages {
    window: Window,
    /// The ranks of this node, ascending.
    ranks: Vec<usize>,
    own_node_rank: usize,
    lanes: Vec<Lane>,
    /// Receives that wait for their messages, in the order in which they were posted.
    posted: Vec<RequestId>,
    /// Sends that wait for room in their rings, in the order in which they were started.
    waiting: Vec<RequestId>,
    unexpected: Vec<Unexpected>,
}

impl ShortMessages {
    /// Rings for a node whose ranks are these. Collective; `None` on all of them where there can be no rings.
    pub(super) fn new(node: &RawCommunicator, ranks: Vec<usize>) -> Result<Option<Self>, Failure> {
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
    }

    pub(super) fn start_send(
        &mut self,
        requests: &mut Requests<Message>,
        node_rank: usize,
        tag: u16,
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

    pub(super) fn start_receive(
        &mut self,
        requests: &mut Requests<Message>,
        node_rank: usize,
        tag: u16,
        buffer: Vec<u8>,
    ) -> Request {
        let mut message = self.message(node_rank, tag, buffer, State::Receiving);
        let is_it =
            |unexpected: &Unexpected| (unexpected.node_rank, unexpected.tag) == (node_rank, tag);
        if let Some(index) = self.unexpected.iter().position(is_it) {
            let unexpected = self.unexpected.remove(index);
            let into = message.accept(unexpected.length);
            into.copy_from_slice(&unexpected.bytes[..into.len()]);
        }
        let is_posted = message.state == State::Receiving;
        let request = requests.insert(Message::Short(message));
        if is_posted {
            self.posted.push(request.id());
        }
        request
    }

    fn message(&self, node_rank: usize, tag: u16, buffer: Vec<u8>, state: State) -> ShortMessage {
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
        request: RequestId,
    ) -> &'r ShortMessage {
        let node_rank = short(requests, request).node_rank;
        while short(requests, request).state == State::Receiving
            && self.take_in(requests, node_rank)
        {}
        short(requests, request)
    }

    /// Takes the next message of a rank in, if one has arrived. Says whether one had.
    #[inline]
    fn take_in(&mut self, requests: &mut Requests<Message>, node_rank: usize) -> bool {
        let ring = self.window.ring(node_rank, self.own_node_rank);
        let reader = &mut self.lanes[node_rank].reader;
        let Some((tag, length)) = reader.next(ring) else {
            return false;
        };
        let is_its = |&request: &RequestId| {
            let message = short(requests, request);
            (message.node_rank, message.tag) == (node_rank, tag)
        };
        if let Some(index) = self.posted.iter().position(is_its) {
            let message = short(requests, self.posted.remove(index));
            reader.read(ring, length, message.accept(length));
        } else {
            self.keep_unexpected(node_rank, tag, length);
        }
        true
    }

    /// Takes the next message of a rank in, whose receive has not been posted yet.
    #[cold]
    fn keep_unexpected(&mut self, node_rank: usize, tag: u16, length: usize) {
        let ring = self.window.ring(node_rank, self.own_node_rank);
        let mut bytes = [0; LONGEST_BYTES];
        self.lanes[node_rank].reader.read(ring, length, &mut bytes);
        self.unexpected.push(Unexpected {
            node_rank,
            tag,
            length,
            bytes,
        });
    }

    /// Sends what there is room for, and makes room on this rank: two whose rings to each other are full would wait for each other.
    #[inline]
    pub(super) fn go_on_sending(&mut self, requests: &mut Requests<Message>) {
        if !self.waiting.is_empty() {
            self.send_waiting(requests);
        }
    }

    #[cold]
    fn send_waiting(&mut self, requests: &mut Requests<Message>) {
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
            for node_rank in 0..self.ranks.len() {
                while self.take_in(requests, node_rank) {}
            }
        }
    }
}

fn short(requests: &mut Requests<Message>, request: RequestId) -> &mut ShortMessage {
    match requests.get_mut(request) {
        Message::Short(message) => message,
        Message::Long(_) => unreachable!("only short messages are in these lists"),
    }
}
