//! Matches messages with receives. The state belongs to one rank; no other thread sees it.

use std::collections::HashMap;
use std::mem;

use super::group::Context;
use super::network::{Envelope, Letter, Return};
use super::queues::Queues;
use crate::conversation::{Conversations, GivenUp, Span};
use crate::error::Error;
use crate::request::{Request, RequestId, Requests};
use crate::tag::Tag;

/// Posted receives, and messages that have arrived before their receives.
///
/// Messages of one sender and conversation match receives in order. If a message and its receive belong to different exchanges, the
/// receive fails.
#[derive(Debug, Default)]
pub(super) struct Matching {
    requests: Requests<Posting>,
    conversations: Conversations,
    /// For each conversation's number: a rank that has left while this rank waited for it.
    left: HashMap<u64, usize>,
    /// The receives that have no message yet.
    posted: Queues<RequestId>,
    /// The messages that have no receive yet.
    unexpected: Queues<Envelope>,
    /// Empty between calls, but keeps its memory.
    arrived: Vec<Envelope>,
    /// Like `arrived`, empty between calls.
    returned: Vec<Return>,
    /// The number of messages for which each of these lists has memory.
    room: usize,
}

/// The state of a request.
#[derive(Debug)]
enum Posting {
    /// A send whose message is in the network. Holds a short message's own buffer, or the buffer that the receiver returned, if any.
    Sent(Vec<u8>),
    /// A receive without a message, and its buffer.
    Posted {
        from: usize,
        tag: Tag,
        buffer: Vec<u8>,
    },
    /// A receive with its message.
    Received {
        from: usize,
        capacity_bytes: usize,
        message: Vec<u8>,
    },
    /// A receive of one exchange, in a conversation in which a message of another exchange has arrived.
    Mismatched {
        from: usize,
        expected: Tag,
        found: Tag,
    },
    /// A receive in an exchange in which a rank has given up.
    GivenUp(GivenUp),
}

/// Which lost rank makes this rank give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhoLeft {
    Nobody,
    Rank(usize),
    /// Another rank has notified all others already.
    Announced,
}

impl Matching {
    /// Allocates memory for `messages` more messages, and returns the number for which there is memory now.
    pub(super) fn reserve(&mut self, messages: usize) -> usize {
        self.room += messages;
        let room = self.room;
        self.requests.reserve(room);
        self.posted.reserve(room);
        self.unexpected.reserve(room);
        self.arrived.reserve(room);
        self.returned.reserve(room);
        room
    }

    /// Ends a reservation.
    pub(super) fn release(&mut self, messages: usize) {
        self.room = self.room.saturating_sub(messages);
    }

    /// Makes the request of a send, which is complete at once, and the content of its envelope.
    pub(super) fn send(&mut self, message: Vec<u8>) -> (Request, Letter) {
        if let Some(letter) = Letter::short(&message) {
            return (self.requests.insert(Posting::Sent(message)), letter);
        }
        let request = self.requests.insert(Posting::Sent(Vec::new()));
        let send = request.id();
        (request, Letter::Long { message, send })
    }

    /// Posts a receive, and gives it the oldest unexpected message that matches.
    pub(super) fn post(
        &mut self,
        from: usize,
        tag: Tag,
        buffer: Vec<u8>,
        give_back: impl FnOnce(usize, Return),
    ) -> Request {
        // After a rank has given up, an unexpected message may belong to an earlier receive that failed, not to this one.
        if let Some(given_up) = self.conversations.who_gave_up(tag) {
            return self.requests.insert(Posting::GivenUp(given_up));
        }
        let stream = (from, tag.number());
        let envelope = self.unexpected.pop(stream);
        let request = self.requests.insert(Posting::Posted { from, tag, buffer });
        match envelope {
            Some(mut envelope) => self.receive(request.id(), &mut envelope, give_back),
            None => self.posted.push(stream, request.id()),
        }
        request
    }

    /// Gives an envelope's message to its receive. A sender whose buffer contains the message gets the receive's buffer in return.
    fn receive(
        &mut self,
        request: RequestId,
        envelope: &mut Envelope,
        give_back: impl FnOnce(usize, Return),
    ) {
        let posting = self.requests.get_mut(request);
        let Posting::Posted { from, tag, buffer } = posting else {
            unreachable!("a receive gets one message");
        };
        let (from, expected, mut buffer) = (*from, *tag, mem::take(buffer));
        if envelope.tag != expected {
            let found = envelope.tag;
            *posting = Posting::Mismatched {
                from,
                expected,
                found,
            };
            return self.end_receives(found, |expected| {
                Some(Posting::Mismatched {
                    from,
                    expected,
                    found,
                })
            });
        }
        let capacity_bytes = buffer.len();
        let message = match &mut envelope.letter {
            Letter::Short { length, bytes } => {
                buffer.clear();
                buffer.extend_from_slice(&bytes[..usize::from(*length)]);
                buffer
            }
            Letter::Long { message, send } => {
                let (context, send) = (envelope.context.take(), *send);
                give_back(
                    from,
                    Return {
                        context,
                        send,
                        buffer,
                    },
                );
                mem::take(message)
            }
        };
        *posting = Posting::Received {
            from,
            capacity_bytes,
            message,
        };
    }

    /// The rank whose message `request` still lacks; `None` if the request is complete.
    pub(super) fn awaited(&mut self, request: RequestId) -> Option<usize> {
        match self.requests.get_mut(request) {
            Posting::Posted { from, .. } => Some(*from),
            Posting::Sent(_)
            | Posting::Received { .. }
            | Posting::Mismatched { .. }
            | Posting::GivenUp(_) => None,
        }
    }

    /// Lets `collect` fetch envelopes, and gives each to the oldest receive that matches it. Returns what `collect` returns.
    pub(super) fn match_arrivals(
        &mut self,
        collect: impl FnOnce(&mut Vec<Envelope>) -> Result<bool, Error>,
        give_back: impl Fn(usize, Return),
    ) -> Result<bool, Error> {
        let mut arrived = mem::take(&mut self.arrived);
        let came = collect(&mut arrived);
        for mut envelope in arrived.drain(..) {
            if envelope.tag.is_notice() {
                self.note_given_up(&envelope);
                continue;
            }
            let stream = (envelope.from, envelope.tag.number());
            match self.posted.pop(stream) {
                None if self.conversations.is_closed(envelope.tag) => {}
                None => self.unexpected.push(stream, envelope),
                Some(request) => self.receive(request, &mut envelope, &give_back),
            }
        }
        self.arrived = arrived;
        came
    }

    /// Notes that a rank has given up, and ends the receives of the exchanges that it has given up.
    #[cold]
    fn note_given_up(&mut self, notice: &Envelope) {
        let Envelope {
            from: rank, tag, ..
        } = *notice;
        let left = notice.letter.named();
        let silent = left.map(|first| Span { first, count: 1 });
        self.conversations
            .note_given_up(GivenUp { rank, silent }, tag);
        let who = self.conversations.who_gave_up(tag);
        self.end_receives(tag, |expected| {
            let is_void = tag.turns_to(expected) >= 0;
            who.filter(|_| is_void).map(Posting::GivenUp)
        });
    }

    /// Ends those receives of a conversation for whose tags `end` returns an outcome.
    #[cold]
    fn end_receives(&mut self, tag: Tag, end: impl Fn(Tag) -> Option<Posting>) {
        for (stream, request) in self.posted.take_all(tag.number()) {
            let posting = self.requests.get_mut(request);
            let Posting::Posted { tag: expected, .. } = *posting else {
                unreachable!("a receive on the list has no message");
            };
            match end(expected) {
                Some(ended) => *posting = ended,
                None => self.posted.push(stream, request),
            }
        }
    }

    /// Notes that a rank for which a request waits has left.
    #[cold]
    pub(super) fn note_left(&mut self, rank: usize, request: RequestId) {
        if let Posting::Posted { tag, .. } = *self.requests.get_mut(request) {
            self.left.insert(tag.number(), rank);
        }
    }

    /// The rank whose loss makes this rank give up in an exchange: that rank has left while this rank waited for it.
    pub(super) fn who_left(&self, tag: Tag) -> WhoLeft {
        let given_up = self.conversations.who_gave_up(tag);
        if given_up.is_some_and(|given_up| given_up.silent.is_some()) {
            return WhoLeft::Announced;
        }
        let left = self.left.get(&tag.number());
        left.map_or(WhoLeft::Nobody, |&rank| WhoLeft::Rank(rank))
    }

    pub(super) fn open(&mut self, tag: Tag) {
        self.conversations.open(tag);
    }

    /// Forgets a conversation, and its messages.
    pub(super) fn close(&mut self, tag: Tag) {
        self.conversations.close(tag);
        self.left.remove(&tag.number());
        drop(self.unexpected.take_all(tag.number()));
    }

    /// Calls `fetch` for the buffers that receivers have returned for messages, and gives each to its send, unless the send has
    /// ended. Buffers for sends of another communicator are dropped.
    pub(super) fn take_back(&mut self, own: &Context, fetch: impl FnOnce(&mut Vec<Return>)) {
        fetch(&mut self.returned);
        let returned = self.returned.drain(..);
        for Return { send, buffer, .. } in returned.filter(|returned| returned.context == *own) {
            if let Some(Posting::Sent(returned)) = self.requests.find(send) {
                *returned = buffer;
            }
        }
    }

    /// Ends a complete request and returns its message or buffer. `rank` is this rank, for errors.
    pub(super) fn take(&mut self, rank: usize, request: Request) -> Result<Vec<u8>, Error> {
        self.unpost(request.id());
        match self.requests.remove(request) {
            Posting::Received {
                from,
                capacity_bytes,
                message,
            } if message.len() > capacity_bytes => Err(Error::Truncated {
                rank,
                from,
                capacity_bytes,
            }),
            Posting::Received { message, .. } => Ok(message),
            Posting::Mismatched {
                from,
                expected,
                found,
            } => Err(Error::Mismatched {
                rank,
                from,
                expected,
                found,
            }),
            Posting::GivenUp(given_up) => Err(match given_up.silent {
                None => Error::GivenUp {
                    rank: given_up.rank,
                    awaited_by: rank,
                },
                Some(left) => Error::Left {
                    rank: left.first,
                    awaited_by: given_up.rank,
                },
            }),
            Posting::Posted { buffer, .. } | Posting::Sent(buffer) => Ok(buffer),
        }
    }

    /// Forgets a request, complete or not.
    pub(super) fn cancel(&mut self, request: Request) {
        self.unpost(request.id());
        self.requests.remove(request);
    }

    /// Removes a request from its queue, if it is a receive without a message.
    fn unpost(&mut self, request: RequestId) {
        if let Posting::Posted { from, tag, .. } = *self.requests.get_mut(request) {
            self.posted
                .remove((from, tag.number()), |other| *other == request);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Matching;

    #[test]
    fn room_that_is_released_is_used_again() {
        let mut matching = Matching::default();
        assert_eq!(matching.reserve(5), 5);
        assert_eq!(matching.reserve(2), 7);
        matching.release(5);
        assert_eq!(matching.reserve(3), 5);
    }
}
