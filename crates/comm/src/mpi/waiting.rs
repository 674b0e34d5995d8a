//! How a rank waits: it polls its messages, and yields the core between polls.

use std::thread;
use std::time::{Duration, Instant};

use super::channel::Channels;
use super::communicator::MpiCommunicator;
use super::lifetime;
use super::message::Message;
use super::notice::Notice;
use super::raw::Failure;
use super::trouble;
use crate::error::Error;
use crate::request::{RequestId, Requests};
use crate::tag::Tag;

/// How often a wait polls before it turns to something else.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollLimits {
    /// Polls of MPI's requests before the rank yields its core.
    before_yield: u32,
    /// Polls of shared memory before the rank yields its core: each takes less time.
    local_before_yield: u32,
    /// Looks at shared memory before a message is left to a request: 8000 take about 5 microseconds.
    pub(super) before_request: u32,
    /// How long a wait yields its core before it sleeps instead.
    before_nap: Duration,
    /// Every poll of shared memory whose number is a multiple of this also drives MPI.
    before_progress: u32,
}

impl PollLimits {
    /// Each rank has a core for itself.
    pub(super) const OWN_CORE: Self = Self {
        before_yield: 1000,
        local_before_yield: 16_000,
        before_request: 8000,
        before_nap: Duration::MAX,
        before_progress: 64,
    };
    /// The peer may be waiting for this very core.
    pub(super) const SHARED_CORE: Self = Self {
        before_yield: 1,
        local_before_yield: 1,
        before_request: 1,
        before_nap: Duration::from_micros(100),
        before_progress: 1,
    };
}

/// How long a wait sleeps that has yielded for long. Beside a process that computes, a yield takes milliseconds and a short sleep a tenth of
/// one (Linux 6.18); and ranks that share cores with each other alone would only pass them around.
const NAP: Duration = Duration::from_micros(20);

/// A wait looks for trouble at most this often: it takes some microseconds.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// A wait asks as often whether it was interrupted.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(50);

/// A loop of tests asks for the time, to look for trouble, at every test whose number is a multiple of this.
const TESTS_BETWEEN_LOOKS: u32 = 256;

/// A wait that lasts as long says which exchange it is in; it says so again when it has lasted twice as long, and so on.
const BEFORE_NOTICE: Duration = Duration::from_millis(100);

/// What a wait is for, and since when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    peer: usize,
    tag: Tag,
    since: Instant,
    /// When it says where it is.
    next_notice: Duration,
}

impl Waiting {
    fn new(peer: usize, tag: Tag) -> Self {
        Self {
            peer,
            tag,
            since: Instant::now(),
            next_notice: BEFORE_NOTICE,
        }
    }
}

impl MpiCommunicator {
    /// Polls until one of the requests is complete, or has failed, or `timeout` is over.
    pub(super) fn poll_until(
        &self,
        awaited: &[RequestId],
        timeout: Duration,
    ) -> Result<bool, Error> {
        if lifetime::is_finalised() {
            return Err(Error::Finalised { rank: self.rank });
        }
        let mut deadline = None;
        let mut begin = None;
        loop {
            if let Some(is_complete) = self.poll_for_a_while(awaited, timeout, &mut deadline)? {
                return Ok(is_complete);
            }
            if self.is_interrupted() {
                return Err(Error::Interrupted { rank: self.rank });
            }
            if begin.get_or_insert_with(Instant::now).elapsed() < self.poll_limits.before_nap {
                thread::yield_now();
            } else {
                thread::sleep(NAP);
            }
        }
    }

    /// Polls, and looks for trouble, until it is time to yield the core; `None` then. The deadline is set when that is first so.
    fn poll_for_a_while(
        &self,
        awaited: &[RequestId],
        timeout: Duration,
        deadline: &mut Option<Option<Instant>>,
    ) -> Result<Option<bool>, Error> {
        let requests = &mut *self.requests.borrow_mut();
        let channels = &mut *self.channels.borrow_mut();
        let mut is_local = |request: &RequestId| {
            let message = requests.get_mut(*request);
            matches!(message, Message::Local(_))
        };
        let polls = match awaited.iter().all(&mut is_local) {
            true => self.poll_limits.local_before_yield,
            false => self.poll_limits.before_yield,
        };
        for _ in 0..polls {
            channels.go_on_sending(requests);
            for &request in awaited {
                if self.poll_one(requests, channels, request)? {
                    self.waiting.set(None);
                    return Ok(Some(true));
                }
            }
            if timeout.is_zero() {
                return self.after_a_test(requests, channels, awaited).map(Some);
            }
        }
        let now = Instant::now();
        let deadline = *deadline.get_or_insert_with(|| now.checked_add(timeout));
        if deadline.is_some_and(|deadline| now >= deadline) {
            return Ok(Some(false));
        }
        let found_trouble = self.look_sometimes(requests, channels, awaited)?;
        Ok(found_trouble.then_some(true))
    }

    /// Asks whether the wait is to end, unless a wait did so a moment ago. Nothing is borrowed meanwhile: what is asked may end handles.
    fn is_interrupted(&self) -> bool {
        let Some(asked) = self.interruption.borrow().clone() else {
            return false;
        };
        let now = Instant::now();
        if now.duration_since(self.last_asked.get()) < BETWEEN_QUESTIONS {
            return false;
        }
        self.last_asked.set(now);
        asked()
    }

    /// Whether a message has arrived, was sent, or never will be.
    #[inline]
    fn poll_one(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        request: RequestId,
    ) -> Result<bool, Error> {
        let tag = match requests.get_mut(request) {
            Message::Mpi(message) => {
                return message.test().map_err(|failure| self.explain(failure));
            }
            Message::Local(message) if message.is_over() => return Ok(true),
            Message::Local(message) => message.tag,
        };
        let polls = self.polls.get().wrapping_add(1);
        self.polls.set(polls);
        if polls.is_multiple_of(self.poll_limits.before_progress) {
            let progress = self.raw.make_progress();
            progress.map_err(|failure| self.explain(failure))?;
        }
        match channels.of(tag) {
            Some((channel, conversations)) => {
                let message = channel.local.progress(requests, conversations, request);
                Ok(message.is_over())
            }
            // The conversation was closed before its messages were cancelled.
            None => Ok(false),
        }
    }

    fn after_a_test(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        awaited: &[RequestId],
    ) -> Result<bool, Error> {
        let tests = self.tests.get().wrapping_add(1);
        self.tests.set(tests);
        match tests.is_multiple_of(TESTS_BETWEEN_LOOKS) {
            true => self.look_sometimes(requests, channels, awaited),
            false => Ok(false),
        }
    }

    /// Looks for trouble, unless it did so a moment ago. Says whether a request has failed.
    fn look_sometimes(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        awaited: &[RequestId],
    ) -> Result<bool, Error> {
        let now = Instant::now();
        if now.duration_since(self.last_look.get()) < BETWEEN_LOOKS {
            return Ok(false);
        }
        self.last_look.set(now);
        let first = awaited.first().expect("a wait is for something");
        let message = requests.get_mut(*first);
        let (peer, tag) = (message.peer(), message.tag());
        let failed = |failure: Failure| self.explain(failure);
        let is_same = |waiting: &Waiting| (waiting.peer, waiting.tag) == (peer, tag);
        let Some(mut waiting) = self.waiting.get().filter(is_same) else {
            self.waiting.set(Some(Waiting::new(peer, tag)));
            trouble::forget_the_past(requests, channels, tag).map_err(failed)?;
            return trouble::look(requests, channels, awaited).map_err(failed);
        };
        if now.duration_since(waiting.since) >= waiting.next_notice {
            waiting.next_notice *= 2;
            self.waiting.set(Some(waiting));
            let exchange = tag.exchange();
            self.send_notice(requests, channels, peer, tag, &Notice::Waiting { exchange })?;
        }
        let found_trouble = trouble::look(requests, channels, awaited).map_err(failed)?;
        self.answer_questions(requests, channels, awaited)?;
        Ok(found_trouble)
    }
}
