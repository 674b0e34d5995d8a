//! A case: a program and its fault.

use std::ops::Range;
use std::str::FromStr;

use reduce::Operation;
use serde::{Deserialize, Serialize};

use super::environment::{self, Environment};
use super::vocabulary::{Action, Kind, Mode, Spec, Step};
use crate::{Backend, names};

/// A program that all ranks run together, and at most one fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The number of ranks, p.
    pub ranks: usize,
    /// The seed of the items and, on threads, of the order in which ranks run and messages arrive.
    pub seed: u64,
    /// The plans.
    pub plans: Vec<Spec>,
    /// The steps of every rank.
    pub steps: Vec<Step>,
    /// The fault, if there is one.
    pub fault: Option<Fault>,
}

impl Case {
    /// The fault, if it has this property.
    pub(super) fn fault_that(&self, is: Trait) -> Option<Fault> {
        self.fault.filter(|fault| fault.kind.is(is))
    }

    /// The fault, unless it is harmless. With a harmless fault, every rank must still get all its results.
    pub(super) fn harm(&self) -> Option<Fault> {
        self.fault.filter(|fault| !fault.kind.is(Trait::Harmless))
    }

    /// Whether, under MPI, the fault ends all ranks' processes.
    pub(super) fn ends_job(&self) -> bool {
        self.fault_that(Trait::EndsJob).is_some()
    }

    /// A plan as one rank sees it.
    pub(super) fn own(&self, plan: usize, rank: usize) -> Own {
        Own {
            spec: self.plans[plan].clone(),
            seed: self.seed,
            rank,
        }
    }

    /// The step whose items a step folds: usually the step itself. If a rank skips a build, all steps fold the items of step 0, because this
    /// rank's later builds may match other ranks' earlier builds of equal plans. Nothing could detect that their items differ.
    pub(super) fn items_step(&self, index: usize) -> usize {
        let skipped = self.fault.filter(|fault| fault.kind == FaultKind::Skip);
        let skipped = skipped.map(|fault| self.steps[fault.step].action);
        match skipped {
            Some(Action::Build | Action::Rebuild(_)) => 0,
            _ => index,
        }
    }

    /// A rank's action in a step: the step's own, unless the rank's fault is to call another collective.
    pub(super) fn action(&self, rank: usize, index: usize) -> Action {
        match (self.steps[index].action, self.fault) {
            (Action::Call(operation, mode), Some(fault))
                if (fault.rank, fault.step) == (rank, index) =>
            {
                Action::Call(fault.instead.unwrap_or(operation), mode)
            }
            (action, _) => action,
        }
    }
}

/// A plan as one rank sees it: the specification, the seed of the items, and the rank.
#[derive(Clone)]
pub(super) struct Own {
    pub(super) spec: Spec,
    pub(super) seed: u64,
    pub(super) rank: usize,
}

impl Own {
    pub(super) fn ranks(&self) -> usize {
        self.spec.extents.len()
    }

    /// The numbers of a rank's items, in the order in which it owns them.
    pub(super) fn items_of(&self, rank: usize) -> impl Iterator<Item = usize> {
        let items = self.spec.extents[rank].iter().cloned().flatten();
        items.map(|item| usize::try_from(item).expect("the items are in memory"))
    }

    /// A rank's columns of a reduce-scatter: the first `width` mod p ranks have one more.
    pub(super) fn columns_of(&self, rank: usize) -> Range<usize> {
        let (width, ranks) = (self.spec.width, self.ranks());
        let start = |rank: usize| width / ranks * rank + (width % ranks).min(rank);
        start(rank)..start(rank + 1)
    }
}

/// The number of tags that every MPI library has. Without further communicators, tags would be reused after this many plans.
pub(super) const TAGS: u32 = 1 << 15;

/// A fault of a program on one rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// The faulty rank.
    pub rank: usize,
    /// The number of the step in which the fault happens, or which the fault replaces.
    pub step: usize,
    /// The kind of fault.
    pub kind: FaultKind,
    /// Whether the faulty environment stays until the program ends.
    pub lasts: bool,
    /// The call that the faulty rank makes instead of the call that the other ranks make.
    #[serde(with = "names::optional")]
    pub instead: Option<Operation>,
}

impl Fault {
    /// Whether a rank has the fault.
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

/// The properties of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trait {
    /// Harmless: every rank must still get all its results.
    Harmless,
    /// The fault may last to the end of the program.
    Lasting,
    /// The fault ends all ranks' processes.
    EndsJob,
    /// The faulty step always fails, with the same reason on every rank.
    DetectedAtOnce,
    /// The faulty rank still makes all its calls.
    MakesAllCalls,
    /// The faulty rank detects the fault and continues, so it notifies the ranks that wait for it.
    NotifiesRanks,
    /// The fault can also happen to plans without ownership and operator.
    OfExactSums,
    /// The fault needs an operator or a plan, which MPI's own sums do not have.
    OfPlans,
    /// The fault affects a whole process.
    OfProcesses,
    /// The fault changes the floating-point environment.
    OfEnvironments,
}

macro_rules! faults {
    ($($(#[$doc:meta])* $kind:ident $name:literal [$($trait:ident)*])*) => {
        /// The kinds of faults.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum FaultKind {
            $($(#[$doc])* $kind,)*
        }

        impl FaultKind {
            /// All faults.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The fault's name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            fn traits(self) -> &'static [Trait] {
                match self {
                    $(Self::$kind => &[$(Trait::$trait),*],)*
                }
            }
        }
    };
}

faults! {
    /// The rank returns.
    Leave "leave" [OfExactSums]
    /// The rank panics.
    Panic "panic" [EndsJob OfExactSums]
    /// The operator panics, and the program catches the panic and continues.
    CaughtPanic "caught-panic" [MakesAllCalls NotifiesRanks]
    /// A slice is one element too long.
    WrongLength "wrong-length" [MakesAllCalls NotifiesRanks OfExactSums]
    /// The rank starts a run and cancels it at once, while the others make a blocking call.
    GiveUp "give-up" [NotifiesRanks OfExactSums]
    /// The rank tests its run more often than the others.
    ExtraTests "extra-tests" [Harmless OfExactSums]
    /// The rank sleeps before the step.
    Sleep "sleep" [Harmless OfExactSums]
    /// The rank's process is stopped for a while.
    Stop "stop" [Harmless OfExactSums OfProcesses]
    /// The rank's process is stopped for longer than the others wait.
    Silence "silence" [OfExactSums OfProcesses]
    /// The rank's process is killed.
    Kill "kill" [EndsJob OfExactSums OfProcesses]
    /// No rank has a fault: a plan is built more often than there are tags.
    TagReuse "tag-reuse" [Harmless OfExactSums]
    /// The rank skips the call.
    Skip "skip" [OfExactSums]
    /// The rank calls another operation.
    OtherCollective "other-collective" [OfExactSums]
    /// The rank calls the same operation for sums of products.
    OtherOperand "other-operand" [MakesAllCalls OfPlans]
    /// The processor flushes subnormal numbers to zero.
    FlushToZero "flush-to-zero" [Lasting NotifiesRanks OfExactSums OfEnvironments]
    /// The processor rounds up.
    Rounding "rounding" [Lasting NotifiesRanks OfExactSums OfEnvironments]
    /// The processors of all ranks round up while they wait for a run.
    AllRounding "all-rounding" [NotifiesRanks OfEnvironments]
    /// The operator makes a collective call on the world that runs it.
    NestedCall "nested-call" [Harmless OfPlans]
    /// A plan is built for a number of items that differs from its ownership's.
    OtherItems "other-items" [DetectedAtOnce MakesAllCalls NotifiesRanks]
    /// A plan is built with an operator that has another value for no items.
    OtherEmpty "other-empty" [DetectedAtOnce MakesAllCalls NotifiesRanks]
    /// A plan is built for another ownership, in which the rank itself has the same items, or equally many.
    OtherOwnership "other-ownership" [DetectedAtOnce MakesAllCalls NotifiesRanks]
    /// A plan of another kind is built, in as many lanes as an item has elements.
    OtherKind "other-kind" [DetectedAtOnce MakesAllCalls NotifiesRanks OfPlans]
}

impl FaultKind {
    pub(super) fn is(self, what: Trait) -> bool {
        self.traits().contains(&what)
    }

    /// Whether the fault can happen at an action on a plan.
    pub(super) fn suits(self, action: Action, plan: &Spec) -> bool {
        if plan.kind.is_exact() && !self.is(Trait::OfExactSums)
            || plan.kind == Kind::Started && self.is(Trait::OfPlans)
        {
            return false;
        }
        let called = match action {
            Action::Call(operation, mode) => Some((operation, mode)),
            _ => None,
        };
        let allreduces = called == Some((Operation::Allreduce, Mode::Blocking));
        match self {
            // Hashed sums may have any length: only a list of items can be longer than its list of keys.
            Self::WrongLength => called.is_some() && (!plan.kind.is_hashed() || allreduces),
            Self::CaughtPanic => called.is_some(),
            Self::NestedCall => called.is_some() || action == Action::Wait,
            Self::GiveUp => match called {
                Some((operation, _)) => plan.calls().contains(&(operation, Mode::Split)),
                None => action == Action::Wait,
            },
            Self::ExtraTests => matches!(action, Action::Wait | Action::Test),
            Self::AllRounding => action == Action::Wait,
            Self::OtherItems | Self::OtherEmpty | Self::OtherKind => action == Action::Build,
            // Ranks that pass only their own extents cannot disagree about the ownership.
            Self::OtherOwnership => action == Action::Build && !plan.gathers_extents,
            Self::OtherOperand => allreduces,
            Self::TagReuse => matches!(action, Action::Rebuild(times) if times >= TAGS),
            Self::OtherCollective => {
                called.is_some_and(|(operation, mode)| !plan.others(operation, mode).is_empty())
            }
            _ => true,
        }
    }

    /// Whether the fault can be injected on this machine, with ranks of this backend.
    pub(super) fn is_possible(self, backend: Backend) -> bool {
        (!self.is(Trait::OfProcesses) || cfg!(unix) && backend == Backend::Mpi)
            && (!self.is(Trait::OfEnvironments) || environment::CAN_BE_SET)
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
