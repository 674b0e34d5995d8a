//! How a rank waits: it polls its messages, and yields the core between polls.

use std::thread;
use std::time::{Duration, Instant};

use super::communicator::MpiCommunicator;
use super::lifetime;
use super::message::Message;
use crate::error::Error;
use crate::request::{RequestId, Requests};

/// How often a wait polls before it turns to something else.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollLimits {
    /// Polls of MPI's requests before the rank yields its core.
    before_yield: u32,
    /// Polls of shared memory before the rank yields its core: each takes less time.
    short_before_yield: u32,
    /// Every poll of shared memory whose number is a multiple of this also drives MPI.
    before_progress: u32,
}

impl PollLimits {
    /// Each rank has a core for itself.
    pub(super) const OWN_CORE: Self = Self {
        before_yield: 1000,
        short_before_yield: 16_000,
        before_progress: 64,
    };
    /// The peer may be waiting for this very core.
    pub(super) const SHARED_CORE: Self = Self {
        before_yield: 1,
        short_before_yield: 1,
        before_progress: 1,
    };
}

impl MpiCommunicator {
    /// Whether a message has arrived, or was sent.
    #[inline]
    fn poll_one(
        &self,
        requests: &mut Requests<Message>,
        request: RequestId,
    ) -> Result<bool, Error> {
        let truncated = |from, capacity_bytes| Error::Truncated {
            rank: self.rank,
            from,
            capacity_bytes,
        };
        let mut short = self.short.borrow_mut();
        if let Some(short) = &mut *short {
            short.go_on_sending(requests);
        }
        if let Message::Long(pending) = requests.get_mut(request) {
            return pending.test().map_err(|failure| match failure.truncated {
                true => truncated(pending.peer(), pending.capacity_bytes()),
                false => failure.on(self.rank),
            });
        }
        let polls = self.polls.get().wrapping_add(1);
        self.polls.set(polls);
        if polls.is_multiple_of(self.poll_limits.before_progress) {
            let progress = self.raw.probe();
            progress.map_err(|failure| failure.on(self.rank))?;
        }
        let short = short.as_mut().expect("a short message has its way");
        let message = short.progress(requests, request);
        let is_complete = message.is_complete();
        is_complete.ok_or_else(|| truncated(message.peer, message.buffer.len()))
    }

    /// Polls until one of the requests is complete or `timeout` is over.
    pub(super) fn poll_until(
        &self,
        awaited: &[RequestId],
        timeout: Duration,
    ) -> Result<bool, Error> {
        if lifetime::is_finalised() {
            return Err(Error::Finalised { rank: self.rank });
        }
        let mut requests = self.requests.borrow_mut();
        let mut is_short = |request: &RequestId| {
            let message = requests.get_mut(*request);
            matches!(message, Message::Short(_))
        };
        let polls = match awaited.iter().all(&mut is_short) {
            true => self.poll_limits.short_before_yield,
            false => self.poll_limits.before_yield,
        };
        let mut deadline = None;
        loop {
            for _ in 0..polls {
                for &request in awaited {
                    if self.poll_one(&mut requests, request)? {
                        return Ok(true);
                    }
                }
                if timeout.is_zero() {
                    return Ok(false);
                }
            }
            let now = Instant::now();
            let deadline = *deadline.get_or_insert_with(|| now.checked_add(timeout));
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(false);
            }
            thread::yield_now();
        }
    }
}
