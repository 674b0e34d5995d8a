//! How a rank waits: it looks at its messages, and lets others have the core between looks.

use std::thread;
use std::time::{Duration, Instant};

use super::communicator::MpiCommunicator;
use super::lifetime;
use super::message::Message;
use crate::error::Error;
use crate::request::{RequestId, Requests};

/// How often a wait looks before it turns to something else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// At MPI's messages, before other processes may run on this core.
    before_yield: u32,
    /// The same at shared memory, where a look takes less time.
    short_before_yield: u32,
    /// At shared memory, before MPI goes on with whatever else is under way.
    before_progress: u32,
}

impl Pace {
    /// Each rank has a core for itself.
    pub(super) const ALONE: Self = Self {
        before_yield: 1000,
        short_before_yield: 16_000,
        before_progress: 64,
    };
    /// Who is waited for may wait for this very core.
    pub(super) const IN_TURNS: Self = Self {
        before_yield: 1,
        short_before_yield: 1,
        before_progress: 1,
    };
}

impl MpiCommunicator {
    /// Whether a message is there, or sent.
    #[inline]
    fn is_complete(
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
        if let Message::Long(operation) = requests.get_mut(request) {
            return operation.test().map_err(|failure| match failure.truncated {
                true => truncated(operation.peer(), operation.capacity_bytes()),
                false => self.describe(failure),
            });
        }
        let looks = self.looks.get().wrapping_add(1);
        self.looks.set(looks);
        if looks.is_multiple_of(self.pace.before_progress) {
            let progress = self.raw.progress();
            progress.map_err(|failure| self.describe(failure))?;
        }
        let short = short.as_mut().expect("a short message has its way");
        let message = short.progress(requests, request);
        let is_complete = message.is_complete();
        is_complete.ok_or_else(|| truncated(message.peer, message.buffer.len()))
    }

    /// Looks until one of the requests is complete or `timeout` is over.
    pub(super) fn look(&self, awaited: &[RequestId], timeout: Duration) -> Result<bool, Error> {
        if lifetime::is_finalised() {
            return Err(Error::Finalised { rank: self.rank });
        }
        let mut requests = self.requests.borrow_mut();
        let mut is_short = |request: &RequestId| {
            let message = requests.get_mut(*request);
            matches!(message, Message::Short(_))
        };
        let looks = match awaited.iter().all(&mut is_short) {
            true => self.pace.short_before_yield,
            false => self.pace.before_yield,
        };
        let mut deadline = None;
        loop {
            for _ in 0..looks {
                for &request in awaited {
                    if self.is_complete(&mut requests, request)? {
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
