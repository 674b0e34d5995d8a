//! The network of [`run_seeded`](super::run_seeded): one rank runs at a time, and a seed decides
//! what happens next.
//!
//! At every call on the communicator, the running rank may be suspended. Then the next
//! event is drawn from all possible events: a rank that is ready continues, or a message that is under
//! way arrives. Messages of one sender, receiver and conversation keep their order; other messages may overtake
//! each other. Time stands still: a time-out passes only when nothing else can happen.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use super::group::Group;
use super::mailbox::Mailboxes;
use super::meetings::AllMeetings;
use super::network::{
    CollectWait, Envelope, Network, Outcome, Purpose, Return, Successor, diagnose,
};
use crate::error::Error;

/// A network whose every choice follows from a seed.
#[derive(Debug)]
pub(super) struct SeededNetwork {
    state: Mutex<SeededState>,
}

#[derive(Debug)]
struct SeededState {
    seed: u64,
    choices: SplitMix64,
    ranks: Vec<Rank>,
    /// The rank whose turn it is.
    running: Option<usize>,
    /// Messages that have not arrived, oldest first, with their receivers.
    under_way: Vec<(usize, Envelope)>,
    failure: Option<Error>,
    meetings: AllMeetings,
    /// Whether ranks have several communicators.
    is_split: bool,
}

#[derive(Debug)]
struct Rank {
    phase: Phase,
    /// The thread that sleeps until it is the rank's turn.
    sleeper: Option<Thread>,
    arrived: Vec<Envelope>,
    returned: Vec<Return>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ready,
    /// Waits for a message of `awaited`, without a time limit unless `timed`.
    Waiting {
        awaited: usize,
        timed: bool,
    },
    TimedOut,
    /// In a meeting.
    Meeting,
    Left,
}

impl SeededNetwork {
    pub(super) fn new(ranks: usize, seed: u64) -> Self {
        let mut state = SeededState {
            seed,
            choices: SplitMix64(seed),
            ranks: Vec::with_capacity(ranks),
            running: None,
            under_way: Vec::new(),
            failure: None,
            meetings: AllMeetings::new(ranks),
            is_split: false,
        };
        state.ranks.resize_with(ranks, || Rank {
            phase: Phase::Ready,
            sleeper: None,
            arrived: Vec::new(),
            returned: Vec::new(),
        });
        if ranks > 0 {
            state.choose_next();
        }
        Self {
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SeededState> {
        // No code panics while it holds the lock, so a poisoned state is still consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the rank's turn, and sets its phase. Returns when the rank's next turn comes or the network fails.
    fn yield_turn<'s>(
        &'s self,
        rank: usize,
        mut state: MutexGuard<'s, SeededState>,
        phase: Phase,
    ) -> MutexGuard<'s, SeededState> {
        state.ranks[rank].phase = phase;
        let next = state.pass_turn();
        self.await_turn(rank, state, next)
    }

    /// Releases the lock, wakes the next rank, and sleeps until it is this rank's turn or the network fails.
    fn await_turn<'s>(
        &'s self,
        rank: usize,
        state: MutexGuard<'s, SeededState>,
        next: Option<Thread>,
    ) -> MutexGuard<'s, SeededState> {
        self.await_turn_after(rank, state, next, |_| true)
    }

    /// As `await_turn`, but also sleeps until a condition holds.
    fn await_turn_after<'s>(
        &'s self,
        rank: usize,
        mut state: MutexGuard<'s, SeededState>,
        mut next: Option<Thread>,
        holds: impl Fn(&SeededState) -> bool,
    ) -> MutexGuard<'s, SeededState> {
        let is_turn = |state: &SeededState| state.running == Some(rank) || state.failure.is_some();
        while !is_turn(&state) || !holds(&state) {
            state.ranks[rank].sleeper = Some(thread::current());
            drop(state);
            if let Some(next) = next.take() {
                next.unpark();
            }
            thread::park();
            state = self.lock();
        }
        state.ranks[rank].sleeper = None;
        state
    }
}

impl SeededState {
    /// Decides what happens next, and returns the thread that the caller must wake, if it sleeps. If the network fails, wakes all threads.
    fn pass_turn(&mut self) -> Option<Thread> {
        self.choose_next();
        if self.failure.is_some() {
            self.wake_all();
            return None;
        }
        self.ranks[self.running?].sleeper.take()
    }

    /// Releases the ranks of a meeting that has ended.
    fn end_meeting(&mut self, here: &[usize]) {
        for &rank in here {
            self.ranks[rank].phase = Phase::Ready;
        }
        if self.failure.is_some() {
            // After a failure, ranks take no turns.
            self.wake_all();
        }
    }

    fn wake_all(&self) {
        let sleepers = self.ranks.iter().filter_map(|rank| rank.sleeper.as_ref());
        sleepers.for_each(Thread::unpark);
    }

    /// Lets messages arrive until it is some rank's turn.
    fn choose_next(&mut self) {
        self.running = None;
        while self.failure.is_none() && self.running.is_none() {
            let ready: Vec<usize> = self.ranks_where(|phase| phase == Phase::Ready);
            let choices_count = ready.len() + self.under_way.len();
            if choices_count == 0 {
                if !self.let_time_pass() {
                    self.fail_deadlocked();
                    if self.failure.is_some() || !self.end_meetings() {
                        return;
                    }
                }
                continue;
            }
            let choice = self.choices.below(choices_count);
            match ready.get(choice) {
                Some(&rank) => self.running = Some(rank),
                None => self.arrive(choice - ready.len()),
            }
        }
    }

    /// Lets a message arrive: the oldest message that has the sender, receiver and conversation of the chosen message.
    fn arrive(&mut self, choice: usize) {
        let (to, chosen) = &self.under_way[choice];
        let (to, from, number) = (*to, chosen.from, chosen.tag.number());
        let same_stream = |(receiver, envelope): &(usize, Envelope)| {
            (*receiver, envelope.from, envelope.tag.number()) == (to, from, number)
                && envelope.context == chosen.context
        };
        let oldest = self
            .under_way
            .iter()
            .position(same_stream)
            .unwrap_or(choice);
        let (_, envelope) = self.under_way.remove(oldest);
        let receiver = &mut self.ranks[to];
        receiver.arrived.push(envelope);
        if let Phase::Waiting { .. } = receiver.phase {
            receiver.phase = Phase::Ready;
        }
    }

    /// Lets a wait with a time limit time out. Returns whether there was one.
    fn let_time_pass(&mut self) -> bool {
        let timed = self.ranks_where(|phase| matches!(phase, Phase::Waiting { timed: true, .. }));
        if timed.is_empty() {
            return false;
        }
        let rank = timed[self.choices.below(timed.len())];
        self.ranks[rank].phase = Phase::TimedOut;
        self.running = Some(rank);
        true
    }

    /// Ends meetings of groups that wait for each other. Returns whether there were any.
    fn end_meetings(&mut self) -> bool {
        let here = self.meetings.give_up();
        self.end_meeting(&here);
        !here.is_empty()
    }

    /// Makes the network fail, because nothing can happen any more, unless all ranks have left or wait in meetings.
    fn fail_deadlocked(&mut self) {
        let waits: Vec<(usize, usize)> = (0..self.ranks.len())
            .filter_map(|rank| match self.ranks[rank].phase {
                Phase::Waiting { awaited, .. } => Some((rank, awaited)),
                _ => None,
            })
            .collect();
        self.failure = diagnose(&waits, |rank| self.ranks[rank].phase == Phase::Left);
    }

    /// The seed for the network of the ranks that survive the next meeting, different for each meeting. `None` if ranks have several
    /// communicators: each of these would get its own network, and a rank could have its turn in one network while it waits in another.
    fn seed_of_another(&self) -> Option<u64> {
        let seed = (self.seed.rotate_left(1)).wrapping_add(self.meetings.ended_count() + 1);
        (!self.is_split).then_some(seed)
    }

    fn ranks_where(&self, condition: impl Fn(Phase) -> bool) -> Vec<usize> {
        (0..self.ranks.len())
            .filter(|&rank| condition(self.ranks[rank].phase))
            .collect()
    }

    fn check(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), Err)
    }
}

impl Network for SeededNetwork {
    fn enter(&self, rank: usize) {
        drop(self.await_turn(rank, self.lock(), None));
    }

    fn deliver(&self, to: usize, envelope: Envelope) -> Result<(), Error> {
        let mut state = self.lock();
        state.check()?;
        let from = envelope.from;
        state.under_way.push((to, envelope));
        self.yield_turn(from, state, Phase::Ready).check()
    }

    fn announce(&self, from: usize, notices: Vec<(usize, Envelope)>) {
        let mut state = self.lock();
        if state.failure.is_none() {
            state.under_way.extend(notices);
            drop(self.yield_turn(from, state, Phase::Ready));
        }
    }

    fn collect(
        &self,
        rank: usize,
        wait: CollectWait,
        arrived: &mut Vec<Envelope>,
    ) -> Result<bool, Error> {
        let mut state = self.lock();
        let tested = loop {
            state.check()?;
            let time_is_up = state.ranks[rank].phase == Phase::TimedOut;
            state.ranks[rank].phase = Phase::Ready;
            if !state.ranks[rank].arrived.is_empty() {
                arrived.append(&mut state.ranks[rank].arrived);
                return Ok(true);
            }
            let (awaited, timed) = match wait {
                _ if time_is_up => return Ok(false),
                CollectWait::None(awaited) => break awaited.rank,
                CollectWait::Until(awaited, _) => (awaited.rank, true),
                CollectWait::Unlimited(awaited) => (awaited.rank, false),
            };
            state = self.yield_turn(rank, state, Phase::Waiting { awaited, timed });
        };
        // A rank that only tests lets the others run, so that a loop of tests ends.
        let mut state = self.yield_turn(rank, state, Phase::Ready);
        state.check()?;
        arrived.append(&mut state.ranks[rank].arrived);
        let is_under_way = |(to, envelope): &(usize, Envelope)| {
            *to == rank && (envelope.from == tested || envelope.tag.is_notice())
        };
        if arrived.is_empty()
            && state.ranks[tested].phase == Phase::Left
            && !state.under_way.iter().any(is_under_way)
        {
            return Err(Error::Left {
                rank: tested,
                awaited_by: rank,
            });
        }
        Ok(!arrived.is_empty())
    }

    fn reserve(&self, _rank: usize, _messages: usize) {
        // Replays are for tests, which may allocate.
    }

    fn give_back(&self, to: usize, buffer: Return) {
        self.lock().ranks[to].returned.push(buffer);
    }

    fn take_back(&self, rank: usize, returned: &mut Vec<Return>) {
        returned.append(&mut self.lock().ranks[rank].returned);
    }

    fn meet(&self, rank: usize, group: &Group, purpose: Purpose) -> Outcome {
        let mut state = self.lock();
        let before_count = state.meetings.of(group).ended_count();
        state.ranks[rank].phase = Phase::Meeting;
        let seed = state.seed_of_another();
        let own = state.meetings.of(group);
        if let Some(here) = own.come(rank, purpose, another(seed)) {
            state.end_meeting(&here);
        }
        let next = match state.failure {
            None => state.pass_turn(),
            Some(_) => None,
        };
        let has_ended = |state: &SeededState| state.meetings.has_ended(group, before_count);
        let mut state = self.await_turn_after(rank, state, next, has_ended);
        state.meetings.of(group).outcome()
    }

    fn note_split(&self) {
        self.lock().is_split = true;
    }

    fn successors(&self) -> Vec<Successor> {
        self.lock().meetings.successors()
    }

    fn leave(&self, rank: usize) {
        let mut state = self.lock();
        state.ranks[rank].phase = Phase::Left;
        let seed = state.seed_of_another();
        let here = state.meetings.leave(rank, another(seed));
        if !here.is_empty() {
            state.end_meeting(&here);
        }
        if state.failure.is_some() {
            return;
        }
        let next = state.pass_turn();
        drop(state);
        if let Some(next) = next {
            next.unpark();
        }
    }

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.failure.get_or_insert(error);
        state.wake_all();
    }

    fn failure(&self) -> Option<Error> {
        self.lock().failure.clone()
    }
}

/// Makes a network for the surviving ranks.
fn another(seed: Option<u64>) -> impl Fn(usize) -> Arc<dyn Network> {
    move |ranks| match seed {
        Some(seed) => Arc::new(SeededNetwork::new(ranks, seed)),
        None => Arc::new(Mailboxes::new(ranks)),
    }
}

/// The pseudorandom generator of Steele, Lea and Flood (2014).
#[derive(Debug)]
struct SplitMix64(u64);

impl SplitMix64 {
    /// A number in `0..bound`; the bias of a remainder does not matter here.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        usize::try_from(z % bound as u64).expect("a remainder is below its divisor, a usize")
    }
}
