//! A plan's traffic between ranks: whether the plan can be run, which of its runs a message belongs to, and how the other ranks are
//! notified when this rank cannot continue.

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

use comm::Tag;

use super::{Busy, World};
use crate::environment;
use crate::error::{BuildError, RunError, Turn};
use crate::operation::Call;

/// Whether a plan can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ready,
    UnderWay,
    /// A run failed or was abandoned, or an operator panicked in it.
    Spent,
}

/// What a plan, its engine and its run under way share. The last of them to be dropped closes the conversation.
#[derive(Debug)]
pub(crate) struct Conversation {
    world: World,
    status: Cell<Status>,
    /// The tag of the last run, whose number is `turn`.
    tag: Cell<Tag>,
    turn: Cell<u64>,
    /// Whether the other ranks were notified that this rank no longer takes part.
    has_given_up: Cell<bool>,
}

impl Conversation {
    /// Opens the world's next conversation. Collective.
    pub(crate) fn open(world: &World) -> Result<Rc<Self>, comm::Error> {
        Ok(Rc::new(Self {
            world: world.clone(),
            status: Cell::new(Status::Ready),
            tag: Cell::new(world.next_tag()?),
            turn: Cell::new(0),
            has_given_up: Cell::new(false),
        }))
    }

    /// The tag of the run under way.
    #[inline]
    pub(crate) fn tag(&self) -> Tag {
        self.tag.get()
    }

    /// Whether a run can begin.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.status.get() == Status::Ready
    }

    /// Begins a run, if the plan is ready. `world` is the caller's handle to this conversation's world, because reading the conversation's own
    /// handle could cost one more cache miss.
    #[inline]
    pub(crate) fn begin<'c>(
        &'c self,
        world: &'c World,
        call: impl Into<Call>,
    ) -> Result<Claim<'c>, RunError> {
        let busy = world.enter()?;
        self.claim(call.into(), Some(busy))
    }

    /// Like [`begin`](Self::begin), within a call that has already entered the world.
    pub(crate) fn begin_within(&self, call: impl Into<Call>) -> Result<Claim<'_>, RunError> {
        self.claim(call.into(), None)
    }

    /// Refuses a call because of `error`. Notifies the other ranks, and returns the call's error. The caller must have entered the world.
    #[cold]
    pub(crate) fn refuse_within(&self, call: impl Into<Call>, error: RunError) -> RunError {
        match self.begin_within(call) {
            Ok(claim) => {
                self.give_up();
                claim.fail(error)
            }
            Err(refused) => refused,
        }
    }

    #[inline]
    fn claim<'c>(&'c self, call: Call, busy: Option<Busy<'c>>) -> Result<Claim<'c>, RunError> {
        if !self.is_ready() {
            return Err(self.refusal());
        }
        self.status.set(Status::UnderWay);
        self.turn.set(self.turn.get() + 1);
        let tag = self.tag.get();
        self.tag
            .set(tag.with_exchange(self.turn.get(), call.kind()));
        Ok(Claim {
            conversation: self,
            _busy: busy,
        })
    }

    /// Why the plan cannot be run.
    #[cold]
    fn refusal(&self) -> RunError {
        let rank = self.world.rank();
        if self.status.get() == Status::UnderWay {
            return RunError::UnderWay { rank };
        }
        // Usually this rank gave up when the plan was spent. If another rank had failed first, this rank did not, and gives up now.
        self.give_up_from(self.next_turn());
        RunError::Spent { rank }
    }

    /// Notifies the other ranks, once, that this rank takes no part in the last run or in later runs. If the transport's error shows that
    /// another rank is still in an earlier run, the notice covers that run, too. Does nothing if another rank has given up: that rank has
    /// notified all ranks itself, and a second notice could make this rank appear to be the first that failed.
    #[cold]
    pub(crate) fn give_up_for(&self, error: &comm::Error) {
        let tag = self.tag.get();
        match *error {
            comm::Error::GivenUp { .. } => {}
            comm::Error::Mismatched { found, .. } if tag.turns_to(found) < 0 => {
                self.give_up_from(found);
            }
            _ => self.give_up_from(tag),
        }
    }

    /// Notifies the other ranks, once, that this rank takes no part in the last run or in later runs.
    #[cold]
    pub(crate) fn give_up(&self) {
        self.give_up_from(self.tag.get());
    }

    #[cold]
    fn give_up_from(&self, tag: Tag) {
        if !self.has_given_up.replace(true) {
            self.world.transport().give_up(tag);
        }
    }

    /// Spends the plan after a failed run: this rank takes part in no later run. This rank notifies the others, unless another rank failed
    /// first and notifies them. If the transport failed, the notice also covers this run, because some of its messages may be missing.
    #[cold]
    pub(crate) fn spend(&self, error: &RunError) {
        self.status.set(Status::Spent);
        match error {
            RunError::RankFailed { .. } => {}
            RunError::Transport(_) => self.give_up_from(self.tag.get()),
            _ => self.give_up_from(self.next_turn()),
        }
    }

    /// Spends the plan after a run in stages has failed in a stage of another plan. This rank takes part in no later run of this plan, either.
    #[cold]
    pub(crate) fn spend_between_runs(&self) {
        if self.status.replace(Status::Spent) == Status::Ready {
            self.give_up_from(self.next_turn());
        }
    }

    /// Like [`spend_between_runs`](Self::spend_between_runs), but does not communicate: the next call on this world notifies the other ranks.
    #[cold]
    pub(crate) fn abandon_between_runs(&self) {
        let was_ready = self.status.replace(Status::Spent) == Status::Ready;
        if was_ready && !self.has_given_up.replace(true) {
            self.world.owe_notice(self.next_turn());
        }
    }

    /// The first tag after the last run's tag.
    fn next_turn(&self) -> Tag {
        self.tag.get().with_exchange(self.turn.get() + 1, 0)
    }

    /// Ends a run after which the plan can be run again.
    #[inline]
    pub(crate) fn settle(&self) {
        self.status.set(Status::Ready);
    }

    /// Ends a failed run, and returns the error of this rank's call.
    #[cold]
    fn end_with(&self, error: RunError) -> RunError {
        let error = match error {
            RunError::Transport(error) => {
                self.give_up_for(&error);
                self.explain(error)
            }
            error => error,
        };
        match error {
            // Nothing was sent for an operation that is not offered.
            RunError::NotOffered { .. } | RunError::NoOwnNodes { .. } => self.settle(),
            _ => self.spend(&error),
        }
        self.own_first(error)
    }

    /// Gives up the run, but does not communicate: the next call on this world notifies the other ranks.
    #[cold]
    pub(crate) fn abandon(&self) {
        self.status.set(Status::Spent);
        if !self.has_given_up.replace(true) {
            self.world.owe_notice(self.tag.get());
        }
    }

    /// The error that this rank returns for a failed run. If another rank failed first, but this rank's environment is wrong, too, this rank
    /// returns its own error. Ranks that all make the same mistake therefore get the same error, whichever of them failed first.
    #[cold]
    pub(crate) fn own_first(&self, error: RunError) -> RunError {
        let is_heard = matches!(
            error,
            RunError::RankFailed { .. } | RunError::RanksFailed { .. }
        );
        match environment::check() {
            Err(error) if is_heard => RunError::Environment {
                rank: self.world.rank(),
                error,
            },
            _ => error,
        }
    }

    /// Converts a transport's error to an error of this plan.
    #[cold]
    pub(crate) fn explain(&self, error: comm::Error) -> RunError {
        if let comm::Error::GivenUp { rank, .. } = error {
            return RunError::RankFailed { rank };
        }
        match self.turns(&error) {
            Some(Turns {
                rank,
                own,
                from,
                other,
            }) => RunError::Mismatched {
                rank,
                own,
                from,
                other,
            },
            None => RunError::Transport(error),
        }
    }

    /// Converts an error of this plan's construction to the error that the builder returns.
    #[cold]
    pub(crate) fn explain_build(&self, error: BuildError) -> BuildError {
        let turns = match &error {
            BuildError::Transport(error) => self.turns(error),
            _ => None,
        };
        match turns {
            Some(Turns {
                rank, from, other, ..
            }) => BuildError::Mismatched { rank, from, other },
            None => error,
        }
    }

    /// The error for a rank `from` that is in a call of another kind, `kind`, in the run under way.
    #[cold]
    pub(crate) fn mismatched(&self, from: usize, kind: u8) -> RunError {
        let rank = self.world.rank();
        let (expected, run) = (self.tag.get(), self.turn.get());
        self.explain(comm::Error::Mismatched {
            rank,
            from,
            expected,
            found: expected.with_exchange(run, kind),
        })
    }

    /// Two ranks' calls on this plan, if the transport has detected that they differ. `None` if a tag belongs to the program's own messages
    /// or to a measurement, not to a call on a plan.
    fn turns(&self, error: &comm::Error) -> Option<Turns> {
        let comm::Error::Mismatched {
            rank,
            from,
            expected,
            found,
        } = *error
        else {
            return None;
        };
        let run = self.turn.get();
        Some(Turns {
            rank,
            own: turn(expected, run)?,
            from,
            other: turn(found, run.saturating_add_signed(expected.turns_to(found)))?,
        })
    }
}

/// Two ranks' calls on a plan.
struct Turns {
    rank: usize,
    own: Turn,
    from: usize,
    other: Turn,
}

fn turn(tag: Tag, run: u64) -> Option<Turn> {
    let call = Call::of_kind(tag.kind())?;
    Some(Turn { call, run })
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.world.transport().close(self.tag.get());
    }
}

/// A plan's run while a call on this thread's stack performs it. If an operator panics in that call, the plan is spent.
pub(crate) struct Claim<'c> {
    conversation: &'c Conversation,
    _busy: Option<Busy<'c>>,
}

impl Claim<'_> {
    /// Ends the run.
    #[inline]
    pub(crate) fn end<R>(self, outcome: Result<R, RunError>) -> Result<R, RunError> {
        if outcome.as_ref().err().is_none_or(RunError::is_of_all) {
            self.conversation.settle();
            return outcome;
        }
        outcome.map_err(|error| self.conversation.end_with(error))
    }

    /// Ends a run that has failed, and returns its error.
    #[cold]
    pub(crate) fn fail(self, error: RunError) -> RunError {
        let Err(error) = self.end::<Infallible>(Err(error));
        error
    }

    /// Leaves the run under way when the call ends. The run's handle ends the run later.
    pub(crate) fn hand_over(self) {
        let conversation = self.conversation;
        conversation.settle();
        drop(self);
        conversation.status.set(Status::UnderWay);
    }
}

impl Drop for Claim<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.conversation.status.get() == Status::UnderWay {
            self.conversation.abandon();
        }
    }
}
