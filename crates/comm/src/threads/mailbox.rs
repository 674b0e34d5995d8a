//! The network of [`run`](super::run): a mailbox for every rank, each behind its own lock.
//!
//! A rank that waits sleeps until its mailbox's bell rings, so hundreds of ranks on two cores cost nothing while they
//! wait. If there is a core for every rank, a rank spins for a moment before it sleeps; otherwise it yields its core
//! twice. Only the awaited message wakes a rank: there is at most one wake-up per message.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Instant;

use super::group::Group;
use super::meetings::AllMeetings;
use super::network::{
    Awaited, CollectWait, Envelope, Network, Outcome, Purpose, Return, Successor, diagnose,
};
use super::sync::{
    AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, cores, spin_loop, yield_now,
};
use crate::error::Error;

/// The number of times that a rank with a core of its own polls its mailbox before it sleeps. These polls take a few microseconds.
const SPINS_BEFORE_SLEEP: usize = 2000;

/// The number of times that a rank yields a shared core before it sleeps: a yield takes half as long as falling asleep and being woken.
const YIELDS_BEFORE_SLEEP: usize = 2;

/// A mailbox for each rank, and which ranks sleep.
#[derive(Debug)]
pub(super) struct Mailboxes {
    mailboxes: Vec<Mailbox>,
    meetings: Mutex<AllMeetings>,
    /// Signalled when a meeting ends.
    met: Condvar,
    /// The number of ranks that have left, wait in a meeting or sleep without a time limit. If it equals the number of all ranks, no rank
    /// is left to wake the sleepers, since a sender wakes a sleeper and decreases this number in one step.
    idle: AtomicUsize,
    failure: OnceLock<Error>,
    spins: usize,
    yields: usize,
}

#[derive(Debug, Default)]
struct Mailbox {
    content: Guarded,
    /// Whether there may be a message in `content`. It is read without the lock.
    rung: Apart<AtomicBool>,
    returned: Returned,
    /// Whether the rank has left. A rank that leaves sets this before it looks for sleepers that wait for it.
    left: AtomicBool,
}

/// A value on its own cache lines, so that a write by one rank does not slow down reads of other data. The next two types are alike.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

#[derive(Debug, Default)]
#[repr(align(128))]
struct Guarded {
    content: Mutex<Content>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Content {
    arrived: Vec<Envelope>,
    sleeper: Option<Sleeper>,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Returned {
    buffers: Mutex<Vec<Return>>,
    /// Whether there are any buffers. It is read without the lock.
    any: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Sleeper {
    awaited: Awaited,
    /// Whether the rank sleeps without a time limit, and so counts as idle.
    idle: bool,
}

impl Mailboxes {
    pub(super) fn new(ranks: usize) -> Self {
        let (spins, yields) = if ranks <= cores() {
            (SPINS_BEFORE_SLEEP, 0)
        } else {
            (0, YIELDS_BEFORE_SLEEP)
        };
        Self {
            mailboxes: (0..ranks).map(|_| Mailbox::default()).collect(),
            meetings: Mutex::new(AllMeetings::new(ranks)),
            met: Condvar::new(),
            idle: AtomicUsize::new(0),
            failure: OnceLock::new(),
            spins,
            yields,
        }
    }

    fn lock(&self, rank: usize) -> MutexGuard<'_, Content> {
        // No code panics while it holds the lock, so a poisoned mailbox is still consistent.
        let content = &self.mailboxes[rank].content.content;
        content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_meetings(&self) -> MutexGuard<'_, AllMeetings> {
        // As for a mailbox: no code panics while it holds the lock.
        self.meetings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the ranks, if any, that have waited in a meeting that has just ended.
    fn end_meeting(&self, waited_count: usize) {
        if waited_count > 0 {
            self.idle.fetch_sub(waited_count, Ordering::AcqRel);
            self.met.notify_all();
        }
    }

    fn bell(&self, rank: usize) -> &Condvar {
        &self.mailboxes[rank].content.bell
    }

    fn rung(&self, rank: usize) -> &AtomicBool {
        &self.mailboxes[rank].rung.0
    }

    /// The buffers that were given back to a rank, and whether there are any.
    fn returned(&self, rank: usize) -> (MutexGuard<'_, Vec<Return>>, &AtomicBool) {
        let Returned { buffers, any } = &self.mailboxes[rank].returned;
        (buffers.lock().unwrap_or_else(PoisonError::into_inner), any)
    }

    fn check(&self) -> Result<(), Error> {
        self.failure().map_or(Ok(()), Err)
    }

    /// Notes that a rank's bell has rung, and wakes the rank if it slept. The caller does not hold the rank's lock.
    fn ring(&self, to: usize, slept: bool) {
        self.rung(to).store(true, Ordering::Release);
        if slept {
            self.bell(to).notify_one();
        }
    }

    /// Polls for a while, without the lock, whether the bell has rung.
    fn poll(&self, rank: usize) {
        let rung = self.rung(rank);
        for poll in 0..self.spins + self.yields {
            if rung.load(Ordering::Acquire) {
                return;
            }
            if poll < self.spins {
                spin_loop();
            } else {
                yield_now();
            }
        }
    }

    /// Sleeps until the bell rings or the time is up. Returns what ended the sleep.
    fn sleep<'m>(
        &'m self,
        rank: usize,
        mut content: MutexGuard<'m, Content>,
        awaited: Awaited,
        deadline: Option<Instant>,
    ) -> (MutexGuard<'m, Content>, Wakeup) {
        let idle = deadline.is_none();
        content.sleeper = Some(Sleeper { awaited, idle });
        if idle && self.idle.fetch_add(1, Ordering::AcqRel) + 1 == self.mailboxes.len() {
            return (content, Wakeup::NobodyAwake);
        }
        let bell = self.bell(rank);
        let mut wakeup = Wakeup::Bell;
        match deadline {
            None => content = bell.wait(content).unwrap_or_else(PoisonError::into_inner),
            Some(deadline) => {
                let wait = deadline.saturating_duration_since(Instant::now());
                let waited = bell.wait_timeout(content, wait);
                let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                content = woken;
                if timeout.timed_out() {
                    wakeup = Wakeup::TimeUp;
                }
            }
        }
        self.wake(&mut content);
        (content, wakeup)
    }

    /// Removes the sleeper. Returns whether there was one.
    fn wake(&self, content: &mut Content) -> bool {
        let sleeper = content.sleeper.take();
        if sleeper.is_some_and(|sleeper| sleeper.idle) {
            self.idle.fetch_sub(1, Ordering::AcqRel);
        }
        sleeper.is_some()
    }

    /// Makes the network fail with an error that says which rank waits for which, if any rank waits.
    fn fail_deadlocked(&self) {
        let sleepers = (0..self.mailboxes.len())
            .filter_map(|rank| Some((rank, self.lock(rank).sleeper?.awaited.rank)));
        let sleepers: Vec<(usize, usize)> = sleepers.collect();
        // A rank that has just left counts as idle before it has notified the ranks that wait for it.
        let has_left = |rank: usize| self.mailboxes[rank].left.load(Ordering::Acquire);
        if let Some(error) = diagnose(&sleepers, has_left) {
            self.fail(error);
            return;
        }
        // The remaining ranks wait for each other in meetings, unless one was just woken: that rank counts as idle until it is awake, and
        // may still come to a meeting.
        let mut meetings = self.lock_meetings();
        if !meetings.have_all_ranks() {
            return;
        }
        self.end_meeting(meetings.give_up().len());
    }

    /// A rank's locked mailbox, if there is a message in it.
    fn look(
        &self,
        rank: usize,
        awaited: Awaited,
    ) -> Result<Option<MutexGuard<'_, Content>>, Error> {
        // A rank delivers all its messages before it leaves: if the awaited rank has left by now, they have arrived.
        let has_left = self.mailboxes[awaited.rank].left.load(Ordering::Acquire);
        self.check()?;
        if has_left || self.rung(rank).load(Ordering::Acquire) {
            let content = self.lock(rank);
            if !content.arrived.is_empty() {
                return Ok(Some(content));
            }
            // The bell rang late, for a message that had already been collected.
            self.rung(rank).store(false, Ordering::Relaxed);
        }
        if has_left {
            // The network does not fail, since this rank may not need the message.
            return Err(awaited.left(rank));
        }
        // Without this, a loop of tests would keep the core from the awaited ranks.
        if self.yields > 0 {
            yield_now();
        }
        Ok(None)
    }

    /// Waits for a message in a rank's mailbox, and returns the locked mailbox; `None` if the deadline comes first.
    fn wait_for_content(
        &self,
        rank: usize,
        awaited: Awaited,
        deadline: Option<Instant>,
    ) -> Result<Option<MutexGuard<'_, Content>>, Error> {
        self.poll(rank);
        let mut content = self.lock(rank);
        let mut time_is_up = false;
        loop {
            self.check()?;
            if !content.arrived.is_empty() {
                return Ok(Some(content));
            }
            // The bell may have rung late, for a message that had already been collected.
            if self.rung(rank).swap(false, Ordering::Relaxed) {
                drop(content);
                self.poll(rank);
                content = self.lock(rank);
                continue;
            }
            if time_is_up {
                return Ok(None);
            }
            if self.mailboxes[awaited.rank].left.load(Ordering::Acquire) {
                drop(content);
                self.fail(awaited.left(rank));
                self.check()?;
                content = self.lock(rank);
                continue;
            }
            let wakeup;
            (content, wakeup) = self.sleep(rank, content, awaited, deadline);
            time_is_up = wakeup == Wakeup::TimeUp;
            if wakeup == Wakeup::NobodyAwake {
                drop(content);
                self.fail_deadlocked();
                content = self.lock(rank);
                self.wake(&mut content);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wakeup {
    Bell,
    TimeUp,
    /// The sleep did not begin: all other ranks sleep or have left.
    NobodyAwake,
}

impl Network for Mailboxes {
    fn deliver(&self, to: usize, envelope: Envelope) -> Result<(), Error> {
        self.check()?;
        let mut content = self.lock(to);
        let from = envelope.from;
        content.arrived.push(envelope);
        // Other messages can wait until the awaited one wakes their receiver.
        let is_awaited =
            |Sleeper { awaited, .. }: Sleeper| awaited.rank == from || awaited.or_others;
        let slept = content.sleeper.is_some_and(is_awaited) && self.wake(&mut content);
        drop(content);
        self.ring(to, slept);
        Ok(())
    }

    fn announce(&self, _from: usize, mut notices: Vec<(usize, Envelope)>) {
        // Only here does a rank lock several mailboxes. It locks them in ascending order, so two ranks never wait for each other's lock.
        notices.sort_unstable_by_key(|(to, _)| *to);
        let ranks: Vec<usize> = notices.iter().map(|(to, _)| *to).collect();
        let mut contents: Vec<_> = ranks.iter().map(|&to| self.lock(to)).collect();
        let mut slept = Vec::with_capacity(ranks.len());
        for (content, (_, notice)) in contents.iter_mut().zip(notices) {
            content.arrived.push(notice);
            slept.push(self.wake(content));
        }
        drop(contents);
        for (to, slept) in ranks.into_iter().zip(slept) {
            self.ring(to, slept);
        }
    }

    fn collect(
        &self,
        rank: usize,
        wait: CollectWait,
        arrived: &mut Vec<Envelope>,
    ) -> Result<bool, Error> {
        let content = match wait {
            CollectWait::None(awaited) => self.look(rank, awaited),
            CollectWait::Until(awaited, deadline) => {
                self.wait_for_content(rank, awaited, Some(deadline))
            }
            CollectWait::Unlimited(awaited) => self.wait_for_content(rank, awaited, None),
        };
        let Some(mut content) = content? else {
            return Ok(false);
        };
        self.rung(rank).store(false, Ordering::Relaxed);
        // The two lists swap their memory, so neither allocates once both have grown.
        if arrived.is_empty() {
            std::mem::swap(arrived, &mut content.arrived);
        } else {
            arrived.append(&mut content.arrived);
        }
        Ok(true)
    }

    fn reserve(&self, rank: usize, messages: usize) {
        let content = &mut *self.lock(rank);
        let free = |used: usize| messages.saturating_sub(used);
        content.arrived.reserve(free(content.arrived.len()));
        let (mut returned, _) = self.returned(rank);
        let more = free(returned.len());
        returned.reserve(more);
    }

    fn give_back(&self, to: usize, buffer: Return) {
        let (mut returned, any) = self.returned(to);
        returned.push(buffer);
        any.store(true, Ordering::Release);
    }

    fn take_back(&self, rank: usize, returned: &mut Vec<Return>) {
        if self.mailboxes[rank].returned.any.load(Ordering::Acquire) {
            let (mut buffers, any) = self.returned(rank);
            returned.append(&mut buffers);
            any.store(false, Ordering::Relaxed);
        }
    }

    fn meet(&self, rank: usize, group: &Group, purpose: Purpose) -> Outcome {
        let mut meetings = self.lock_meetings();
        let own = meetings.of(group);
        let before_count = own.ended_count();
        if let Some(here) = own.come(rank, purpose, another) {
            let outcome = own.outcome();
            self.end_meeting(here.len() - 1);
            return outcome;
        }
        if self.idle.fetch_add(1, Ordering::AcqRel) + 1 == self.mailboxes.len() {
            // The other ranks cannot come: they have left, or wait for messages or meetings that will not come.
            drop(meetings);
            self.fail_deadlocked();
            meetings = self.lock_meetings();
        }
        while meetings.of(group).ended_count() == before_count {
            let woken = self.met.wait(meetings);
            meetings = woken.unwrap_or_else(PoisonError::into_inner);
        }
        meetings.of(group).outcome()
    }

    fn successors(&self) -> Vec<Successor> {
        self.lock_meetings().successors()
    }

    fn leave(&self, rank: usize) {
        self.mailboxes[rank].left.store(true, Ordering::Release);
        self.idle.fetch_add(1, Ordering::AcqRel);
        for waiting in 0..self.mailboxes.len() {
            let sleeper = self.lock(waiting).sleeper;
            if let Some(Sleeper { awaited, .. }) = sleeper.filter(|of| of.awaited.rank == rank) {
                self.fail(awaited.left(waiting));
            }
        }
        let mut meetings = self.lock_meetings();
        self.end_meeting(meetings.leave(rank, another).len());
        drop(meetings);
        // If this rank was the last to become idle, nobody else detects that the others cannot go on.
        if self.idle.load(Ordering::Acquire) == self.mailboxes.len() {
            self.fail_deadlocked();
        }
    }

    fn fail(&self, error: Error) {
        // The first failure is the cause; later failures follow from it.
        if self.failure.set(error).is_ok() {
            for (rank, mailbox) in self.mailboxes.iter().enumerate() {
                // The lock ensures that the rank is not between its check and its sleep.
                let _content = self.lock(rank);
                mailbox.rung.0.store(true, Ordering::Release);
                mailbox.content.bell.notify_all();
            }
        }
    }

    fn failure(&self) -> Option<Error> {
        self.failure.get().cloned()
    }
}

/// Makes a network for this number of surviving ranks.
fn another(ranks: usize) -> Arc<dyn Network> {
    Arc::new(Mailboxes::new(ranks))
}
