//! Makes progress on messages in rings: matches or keeps messages that have arrived, and sends messages that wait for room.

use crate::conversation::Conversations;
use crate::mpi::messages::message::{LocalMessage, LocalState, Message, Trouble};
use crate::mpi::messages::notice::{NOTICE_BYTES_MAX, Notice};
use crate::mpi::node::lanes::from_wire;
use crate::mpi::node::local::{LocalMessages, Unexpected, local};
use crate::request::{RequestId, Requests};
use crate::tag::Tag;

impl LocalMessages {
    /// Makes progress on a message, and returns it. The same rank's earlier messages are passed to their receives.
    #[inline]
    pub(crate) fn progress<'r>(
        &mut self,
        requests: &'r mut Requests<Message>,
        conversations: &mut Conversations,
        request: RequestId,
    ) -> &'r LocalMessage {
        let node_rank = local(requests, request).node_rank;
        while local(requests, request).state == LocalState::Receiving
            && self.take_in(requests, conversations, node_rank)
        {}
        local(requests, request)
    }

    /// Receives the next message of a rank, if one has arrived. Returns whether a message was received.
    #[inline]
    fn take_in(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
        node_rank: usize,
    ) -> bool {
        let now_ms = self.now_ms;
        let Some(rings) = self.rings_to(node_rank) else {
            return false;
        };
        let (ring, lane) = rings.from(node_rank);
        let Some((wire, length)) = lane.reader.next(ring) else {
            return false;
        };
        lane.heard_ms = now_ms;
        let tag = from_wire(wire, self.first_number);
        if tag.is_notice() {
            self.take_notice(requests, conversations, node_rank, tag, length);
        } else if let Some(index) = self.first_posted(requests, node_rank, tag) {
            let message = local(requests, self.posted.remove(index));
            self.read(node_rank, length, message.accept(tag, length));
            if message.tag != tag {
                self.end_mismatched(requests, conversations, node_rank, tag);
            }
        } else {
            self.keep_unexpected(conversations, node_rank, tag, length);
        }
        true
    }

    /// Reads as much of another rank's next message as fits into `into`. The whole message has `length` bytes.
    #[inline]
    fn read(&mut self, node_rank: usize, length: usize, into: &mut [u8]) {
        let rings = self.rings_to(node_rank);
        let (ring, lane) = rings.expect("the message is in a ring").from(node_rank);
        lane.reader.read(ring, length, into);
    }

    /// Receives everything that has arrived.
    #[cold]
    pub(crate) fn take_all_in(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
    ) {
        for node_rank in 0..self.ranks.len() {
            while self.take_in(requests, conversations, node_rank) {}
        }
    }

    /// Receives the next message of a rank, which is a notice of this length.
    #[cold]
    fn take_notice(
        &mut self,
        requests: &mut Requests<Message>,
        conversations: &mut Conversations,
        node_rank: usize,
        tag: Tag,
        length: usize,
    ) {
        let mut bytes = [0; NOTICE_BYTES_MAX];
        let bytes = &mut bytes[..length];
        self.read(node_rank, length, bytes);
        let Some(notice) = Notice::from_bytes(bytes) else {
            return;
        };
        let has_given_up = matches!(notice, Notice::GivenUp { .. });
        notice.note(conversations, self.ranks[node_rank], tag);
        if has_given_up {
            self.end_receives(requests, |tag| {
                conversations.who_gave_up(tag).map(Trouble::GivenUp)
            });
        }
    }

    /// Keeps the next message of a rank until its receive is posted.
    #[cold]
    fn keep_unexpected(
        &mut self,
        conversations: &Conversations,
        node_rank: usize,
        tag: Tag,
        length: usize,
    ) {
        let spare = self.spare.pop();
        let mut bytes = spare.unwrap_or_else(|| Vec::with_capacity(self.longest_bytes));
        bytes.resize(length, 0);
        self.read(node_rank, length, &mut bytes);
        if conversations.is_closed(tag) {
            self.keep_spare(node_rank, bytes);
        } else {
            self.unexpected.push_back(Unexpected {
                node_rank,
                tag,
                bytes,
            });
        }
    }

    /// Sends the waiting messages for which there is room. If there is room for none, receives what has arrived: otherwise two ranks whose
    /// rings to each other are full would wait for each other.
    #[inline]
    pub(crate) fn go_on_sending(
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
        let rings = self.rings.as_mut();
        let rings = rings.expect("only sends through rings wait");
        for lane in &mut rings.lanes {
            lane.is_full = false;
        }
        let before = self.waiting.len();
        self.waiting.retain(|&request| {
            let message = local(requests, request);
            let (ring, lane) = rings.to(message.node_rank);
            let is_sent = lane.send(ring, message.tag, &message.buffer);
            if is_sent {
                message.state = LocalState::Sent;
            }
            !is_sent
        });
        if self.waiting.len() == before {
            self.take_all_in(requests, conversations);
        }
    }
}
