//! How a rank waits: it polls its messages, and yields the core between polls.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::mpi::calls::failure::Failure;
use crate::mpi::channels::channel::Channels;
use crate::mpi::channels::lifetime;
use crate::mpi::channels::trouble;
use crate::mpi::communicator::MpiCommunicator;
use crate::mpi::messages::message::Message;
use crate::mpi::messages::notice::Notice;
use crate::mpi::messages::poll_limits::WaitLimit;
use crate::request::{RequestId, Requests};

/// How long a wait sleeps at a time, after it has yielded for a while. If a process that computes shares the core, a yield takes
/// milliseconds, but a short sleep takes 0.1 ms (Linux 6.18). If ranks shared cores only with each other, yields would be enough.
const NAP: Duration = Duration::from_micros(20);

/// A wait looks for trouble at most once in this time, since a look takes a few microseconds.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// A wait calls the program's interruption function at most once in this time.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(50);

impl MpiCommunicator {
    /// Polls until one of the requests is complete or has failed, or the limit is reached.
    ///
    /// # Errors
    /// [`Error::Silent`] if this rank has waited for the first request until the silence limit; another error if the wait cannot go on.
    pub(crate) fn poll_until(
        &self,
        awaited: &[RequestId],
        limit: WaitLimit,
    ) -> Result<bool, Error> {
        if lifetime::is_finalised() {
            return Err(Error::Finalised { rank: self.rank });
        }
        let mut deadline = None;
        let mut begin = None;
        loop {
            if let Some(is_complete) = self.poll_for_a_while(awaited, limit, &mut deadline)? {
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

    /// Polls, and looks for trouble. Returns `None` when it is time to yield the core. The first call sets the deadline.
    fn poll_for_a_while(
        &self,
        awaited: &[RequestId],
        limit: WaitLimit,
        deadline: &mut Option<Option<Instant>>,
    ) -> Result<Option<bool>, Error> {
        let channels = &mut *self.free_channels()?;
        let requests = &mut *self.requests.borrow_mut();
        let mut is_local = |request: &RequestId| {
            let message = requests.get_mut(*request);
            matches!(message, Message::Local(_))
        };
        let polls = if awaited.iter().all(&mut is_local) {
            self.poll_limits.local_before_yield
        } else {
            self.poll_limits.before_yield
        };
        for _ in 0..polls {
            channels.go_on_sending(requests);
            for &request in awaited {
                if self.poll_one(requests, channels, request)? {
                    self.note_heard(requests, channels, request);
                    return Ok(Some(true));
                }
            }
            if matches!(limit, WaitLimit::InPassing | WaitLimit::Test) {
                let is_waiting = limit == WaitLimit::Test;
                let found_trouble = self.after_a_test(requests, channels, awaited, is_waiting)?;
                return Ok(Some(found_trouble));
            }
        }
        let now = self.clock.read();
        if let WaitLimit::For(timeout) = limit {
            let deadline = *deadline.get_or_insert_with(|| now.checked_add(timeout));
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(Some(false));
            }
        }
        let found_trouble = self.look_sometimes(requests, channels, awaited, true)?;
        Ok(found_trouble.then_some(true))
    }

    /// Notes that a request is complete: a message that has come shows that its sender is not silent.
    #[inline]
    fn note_heard(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        request: RequestId,
    ) {
        let message = requests.get_mut(request);
        if message.is_received() {
            self.heard.set(self.heard.get().wrapping_add(1));
            if let Message::Mpi(message) = message {
                channels.note_heard(message.pending.peer());
            }
        }
    }

    /// Calls the function that decides whether the wait ends, unless a wait has called it a moment ago. No `RefCell` is borrowed meanwhile,
    /// since the function may drop handles.
    fn is_interrupted(&self) -> bool {
        let Some(interruption) = self.interruption.borrow().clone() else {
            return false;
        };
        let now = Instant::now();
        if now.duration_since(self.last_asked.get()) < BETWEEN_QUESTIONS {
            return false;
        }
        self.last_asked.set(now);
        interruption()
    }

    /// Whether a request is complete or has failed.
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

    /// Looks for trouble after a test that found nothing. With `is_waiting`, the time counts as waiting. Returns whether a request failed.
    fn after_a_test(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        awaited: &[RequestId],
        is_waiting: bool,
    ) -> Result<bool, Error> {
        let has_read = self.clock.after_a_test();
        let inquires =
            is_waiting && self.record_wait(requests, awaited) >= self.before_inquiry_ms.get();
        if has_read || inquires {
            self.look_sometimes(requests, channels, awaited, is_waiting)
        } else {
            Ok(false)
        }
    }

    /// Records that the rank waits for the first request. Returns for how many milliseconds it has waited.
    fn record_wait(&self, requests: &mut Requests<Message>, awaited: &[RequestId]) -> u64 {
        let first = awaited.first().expect("a wait is for something");
        let wait_time = requests.get_mut(*first).wait_time();
        wait_time
            .record(self.clock.now_ms(), self.heard.get())
            .into()
    }

    /// Looks for trouble, unless this rank did so a moment ago. Returns whether a request has failed.
    fn look_sometimes(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        awaited: &[RequestId],
        is_waiting: bool,
    ) -> Result<bool, Error> {
        let waited_ms = if is_waiting {
            self.record_wait(requests, awaited)
        } else {
            0
        };
        let now = self.clock.now();
        let inquires = waited_ms >= self.before_inquiry_ms.get();
        if now.duration_since(self.last_look.get()) < BETWEEN_LOOKS && !inquires {
            return Ok(false);
        }
        self.last_look.set(now);
        channels.note_time(self.clock.now_ms());
        let first = awaited.first().expect("a wait is for something");
        let message = requests.get_mut(*first);
        let (peer, tag) = (message.peer(), message.tag());
        let failed = |failure: Failure| self.explain(failure);
        if message.wait_time().is_first_look() {
            trouble::forget_the_past(requests, channels, tag).map_err(failed)?;
        } else if is_waiting && message.wait_time().is_notice_due() {
            let exchange = tag.exchange();
            self.send_notice(requests, channels, peer, tag, &Notice::Waiting { exchange })?;
        }
        let found_trouble = trouble::look(requests, channels, awaited).map_err(failed)?;
        self.answer_questions(requests, channels, awaited)?;
        if inquires && !found_trouble {
            self.inquire(requests, channels, awaited, waited_ms)?;
        }
        if is_waiting {
            // If other processes compute on this core, each of MPI's probes may yield, so a look may take seconds.
            self.clock.read();
            let wait_time = requests.get_mut(*first).wait_time();
            wait_time.record_in_full(self.clock.now_ms());
        }
        Ok(found_trouble)
    }
}
