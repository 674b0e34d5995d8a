//! Which message belongs to which receive: one rank's own books, in no other thread's hands.

use std::collections::VecDeque;

use super::Envelope;
use crate::communicator::{Request, Tag};
use crate::error::Error;
use crate::requests::Requests;

/// Posted receives and messages that nobody has asked for yet.
///
/// Both are lists in order of time, so that messages of one sender and tag match receives first
/// come, first served.
#[derive(Debug, Default)]
pub(super) struct Matching {
    requests: Requests<Operation>,
    /// The receives still without a message, oldest first.
    posted: Vec<Posted>,
    /// The messages still without a receive, oldest first.
    unexpected: VecDeque<Envelope>,
    /// Kept between calls for its memory; empty.
    arrived: Vec<Envelope>,
}

#[derive(Debug)]
enum Operation {
    /// A send: the network has taken its message.
    Sent,
    /// A receive, and its message once that is there.
    Receive {
        from: usize,
        capacity_bytes: usize,
        message: Option<Vec<u8>>,
    },
}

#[derive(Debug)]
struct Posted {
    from: usize,
    tag: Tag,
    /// The receive's own handle; the caller holds its twin.
    request: Request,
}

impl Matching {
    /// A send that is complete.
    pub(super) fn sent(&mut self) -> Request {
        self.requests.insert(Operation::Sent)
    }

    /// Posts a receive; the oldest unexpected message that fits it is its own.
    pub(super) fn post(&mut self, from: usize, tag: Tag, capacity_bytes: usize) -> Request {
        let message = self
            .unexpected
            .iter()
            .position(|envelope| envelope.from == from && envelope.tag == tag)
            .and_then(|index| self.unexpected.remove(index))
            .map(|envelope| envelope.message);
        let waits = message.is_none();
        let request = self.requests.insert(Operation::Receive {
            from,
            capacity_bytes,
            message,
        });
        if waits {
            self.posted.push(Posted {
                from,
                tag,
                request: twin(&request),
            });
        }
        request
    }

    /// The rank whose message `request` still lacks; `None` if it is complete.
    pub(super) fn awaited(&mut self, request: &Request) -> Option<usize> {
        match self.requests.get_mut(request) {
            Operation::Receive {
                from,
                message: None,
                ..
            } => Some(*from),
            _ => None,
        }
    }

    /// Lets `collect` fetch envelopes and hands each to the oldest receive that fits it.
    pub(super) fn match_arrivals(
        &mut self,
        collect: impl FnOnce(&mut Vec<Envelope>) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let came = collect(&mut self.arrived)?;
        for envelope in self.arrived.drain(..) {
            let fits = |posted: &Posted| posted.from == envelope.from && posted.tag == envelope.tag;
            let Some(index) = self.posted.iter().position(fits) else {
                self.unexpected.push_back(envelope);
                continue;
            };
            let posted = self.posted.remove(index);
            if let Operation::Receive { message, .. } = self.requests.get_mut(&posted.request) {
                *message = Some(envelope.message);
            }
        }
        Ok(came)
    }

    /// Ends a complete request and returns its message, on behalf of `rank`.
    pub(super) fn take(&mut self, rank: usize, request: Request) -> Result<Vec<u8>, Error> {
        self.unpost(&request);
        match self.requests.remove(request) {
            Operation::Receive {
                from,
                capacity_bytes,
                message: Some(message),
            } if message.len() > capacity_bytes => Err(Error::Truncated {
                rank,
                from,
                capacity_bytes,
            }),
            Operation::Receive { message, .. } => Ok(message.unwrap_or_default()),
            Operation::Sent => Ok(Vec::new()),
        }
    }

    /// Forgets a request, complete or not.
    pub(super) fn cancel(&mut self, request: Request) {
        self.unpost(&request);
        self.requests.remove(request);
    }

    fn unpost(&mut self, request: &Request) {
        self.posted.retain(|posted| {
            (posted.request.slot, posted.request.generation) != (request.slot, request.generation)
        });
    }
}

fn twin(request: &Request) -> Request {
    Request {
        slot: request.slot,
        generation: request.generation,
    }
}
