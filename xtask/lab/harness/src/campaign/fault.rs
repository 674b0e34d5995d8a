//! What a program does by accident.

use std::str::FromStr;

use reduce::Operation;
use serde::{Deserialize, Serialize};

use super::environment::{self, Environment};
use super::names;
use super::vocabulary::{Action, Kind, Mode, Spec};
use crate::Backend;

/// The tags of an MPI communicator of every library: after so many plans they would be used again, if tags ever were.
pub(super) const TAGS: u32 = 1 << 15;

/// Something that a program does by accident, on one rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// The rank that does it.
    pub rank: usize,
    /// The step, by its number, in place of which or in which it happens.
    pub step: usize,
    /// What it is.
    pub kind: FaultKind,
    /// Whether an environment is left as it is.
    pub lasts: bool,
    /// What the rank calls in place of what the others call.
    #[serde(with = "names::optional")]
    pub instead: Option<Operation>,
}

impl Fault {
    /// Whether every rank must get all its results in spite of it.
    pub(super) fn is_harmless(self) -> bool {
        matches!(
            self.kind,
            FaultKind::ExtraTests
                | FaultKind::TagReuse
                | FaultKind::Sleep
                | FaultKind::Stop
                | FaultKind::NestedCall
        )
    }

    /// Whether a rank does it.
    pub(super) fn is_of(self, rank: usize) -> bool {
        rank == self.rank || self.kind == FaultKind::AllRounding
    }

    /// The rank's floating-point environment in a step.
    pub(super) fn environment(self, step: usize) -> Environment {
        let is_time = step == self.step || (self.lasts && step > self.step);
        match self.kind {
            FaultKind::FlushToZero if is_time => Environment::FlushToZero,
            FaultKind::Rounding | FaultKind::AllRounding if is_time => Environment::RoundUp,
            _ => Environment::Default,
        }
    }
}

/// The faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FaultKind {
    /// The rank returns.
    Leave,
    /// The rank panics.
    Panic,
    /// The operator panics, and the program catches the panic and goes on.
    CaughtPanic,
    /// A slice is an element too long.
    WrongLength,
    /// A run is started where the others call and wait, and is given up at once.
    GiveUp,
    /// A run is tested more often than the others test theirs.
    ExtraTests,
    /// The rank sleeps before the step.
    Sleep,
    /// The rank's process is stopped for a while.
    Stop,
    /// The rank's process is stopped for longer than the others wait.
    Silence,
    /// The rank's process is killed.
    Kill,
    /// No rank's fault: a plan is built so often that tags are used again.
    TagReuse,
    /// The call is left out.
    Skip,
    /// Another operation is called.
    OtherCollective,
    /// The same operation is called, of products.
    OtherOperand,
    /// The processor takes subnormal numbers for zero.
    FlushToZero,
    /// The processor rounds up.
    Rounding,
    /// The processors of all ranks round up while they wait for a run.
    AllRounding,
    /// The operator makes a collective call on the world that runs it.
    NestedCall,
    /// A plan is built for another number of items than its ownership has.
    OtherItems,
    /// A plan is built with an operator that reduces nothing to another value.
    OtherEmpty,
    /// A plan is built for another ownership, in which the rank itself has the same items, or as many.
    OtherOwnership,
    /// A plan of another kind is built, in as many lanes as an item has elements.
    OtherKind,
}

impl FaultKind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Leave,
        Self::Panic,
        Self::CaughtPanic,
        Self::WrongLength,
        Self::GiveUp,
        Self::ExtraTests,
        Self::Sleep,
        Self::Stop,
        Self::Kill,
        Self::TagReuse,
        Self::Silence,
        Self::Skip,
        Self::OtherCollective,
        Self::OtherOperand,
        Self::FlushToZero,
        Self::Rounding,
        Self::AllRounding,
        Self::NestedCall,
        Self::OtherItems,
        Self::OtherEmpty,
        Self::OtherOwnership,
        Self::OtherKind,
    ];

    /// Whether it may last to the end of the program.
    pub(super) fn may_last(self) -> bool {
        matches!(self, Self::FlushToZero | Self::Rounding)
    }

    /// Whether it ends the processes of all ranks.
    pub(super) fn ends_job(self) -> bool {
        matches!(self, Self::Panic | Self::Kill)
    }

    /// Whether the step in which it happens fails on every rank, for the same reason, and cannot give anything else.
    pub(super) fn is_noticed_at_once(self) -> bool {
        matches!(
            self,
            Self::OtherItems | Self::OtherEmpty | Self::OtherOwnership | Self::OtherKind
        )
    }

    /// Whether the rank makes all its calls all the same.
    pub(super) fn makes_all_calls(self) -> bool {
        let is_same = matches!(
            self,
            Self::CaughtPanic | Self::WrongLength | Self::OtherOperand
        );
        is_same || self.is_noticed_at_once()
    }

    /// Whether the rank knows of it and goes on, so that it tells those that wait for it.
    pub(super) fn is_told(self) -> bool {
        matches!(
            self,
            Self::CaughtPanic
                | Self::WrongLength
                | Self::GiveUp
                | Self::FlushToZero
                | Self::Rounding
                | Self::AllRounding
                | Self::OtherItems
                | Self::OtherEmpty
                | Self::OtherOwnership
                | Self::OtherKind
        )
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Leave => "leave",
            Self::Panic => "panic",
            Self::CaughtPanic => "caught-panic",
            Self::WrongLength => "wrong-length",
            Self::GiveUp => "give-up",
            Self::ExtraTests => "extra-tests",
            Self::Sleep => "sleep",
            Self::Stop => "stop",
            Self::Silence => "silence",
            Self::Kill => "kill",
            Self::TagReuse => "tag-reuse",
            Self::Skip => "skip",
            Self::OtherCollective => "other-collective",
            Self::OtherOperand => "other-operand",
            Self::FlushToZero => "flush-to-zero",
            Self::Rounding => "rounding",
            Self::AllRounding => "all-rounding",
            Self::NestedCall => "nested-call",
            Self::OtherItems => "other-items",
            Self::OtherEmpty => "other-empty",
            Self::OtherOwnership => "other-ownership",
            Self::OtherKind => "other-kind",
        }
    }

    /// Whether it can happen at an action on a plan.
    pub(super) fn suits(self, action: Action, plan: &Spec) -> bool {
        if plan.kind.is_exact() && !self.suits_exact_sums() {
            return false;
        }
        // No operator is called here, and MPI's own sums are of no plan.
        let needs_plan = matches!(
            self,
            Self::NestedCall | Self::OtherOperand | Self::OtherKind
        );
        if plan.kind == Kind::Started && needs_plan {
            return false;
        }
        match (self, action) {
            // Hashed sums have any length: only items can lack keys.
            (Self::WrongLength, Action::Call(operation, mode)) => {
                let has_items = operation == Operation::Allreduce && mode == Mode::Blocking;
                !plan.kind.is_hashed() || has_items
            }
            (Self::CaughtPanic | Self::NestedCall, Action::Call(..)) => true,
            (Self::GiveUp, Action::Call(operation, _)) => {
                plan.calls().contains(&(operation, Mode::Split))
            }
            (
                Self::GiveUp | Self::ExtraTests | Self::AllRounding | Self::NestedCall,
                Action::Wait,
            ) => true,
            (Self::ExtraTests, Action::Test)
            | (Self::OtherItems | Self::OtherEmpty | Self::OtherKind, Action::Build)
            | (Self::OtherOperand, Action::Call(Operation::Allreduce, Mode::Blocking)) => true,
            (Self::TagReuse, Action::Rebuild(times)) => times >= TAGS,
            // What ranks gather has no other form.
            (Self::OtherOwnership, Action::Build) => !plan.gathers_extents,
            (Self::OtherCollective, Action::Call(operation, mode)) => {
                !plan.others(operation, mode).is_empty()
            }
            (
                Self::CaughtPanic
                | Self::WrongLength
                | Self::GiveUp
                | Self::ExtraTests
                | Self::TagReuse
                | Self::OtherCollective
                | Self::OtherOperand
                | Self::AllRounding
                | Self::NestedCall
                | Self::OtherItems
                | Self::OtherEmpty
                | Self::OtherOwnership
                | Self::OtherKind,
                _,
            ) => false,
            _ => true,
        }
    }

    /// Whether it can happen to a plan that has neither an ownership nor an operator.
    fn suits_exact_sums(self) -> bool {
        matches!(
            self,
            Self::Leave
                | Self::Panic
                | Self::WrongLength
                | Self::GiveUp
                | Self::ExtraTests
                | Self::Sleep
                | Self::Stop
                | Self::Silence
                | Self::Kill
                | Self::TagReuse
                | Self::Skip
                | Self::OtherCollective
                | Self::FlushToZero
                | Self::Rounding
        )
    }

    /// Whether it can be put in on this machine, with ranks of this backend.
    pub(super) fn is_possible(self, backend: Backend) -> bool {
        match self {
            Self::Stop | Self::Silence | Self::Kill => cfg!(unix) && backend == Backend::Mpi,
            Self::FlushToZero | Self::Rounding | Self::AllRounding => environment::CAN_BE_SET,
            _ => true,
        }
    }
}

impl FromStr for FaultKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.iter().copied();
        all.find(|kind| kind.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            format!("unknown fault `{name}`; known: {}", known.join(", "))
        })
    }
}
