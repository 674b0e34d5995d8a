//! What a case consists of.

use std::fmt;
use std::ops::Range;

use comm::text::counted;
use reduce::{Algorithm, Operation};
use serde::{Deserialize, Serialize};

use super::fault::{Fault, FaultKind};
use super::names;

/// A program that all ranks run together, and at most one fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The number of ranks, p.
    pub ranks: usize,
    /// It draws the items, and on threads the order in which ranks run and messages arrive.
    pub seed: u64,
    /// The plans.
    pub plans: Vec<Spec>,
    /// What every rank does, one after the other.
    pub steps: Vec<Step>,
    /// What goes wrong, if anything does.
    pub fault: Option<Fault>,
}

impl Case {
    /// Whether no rank can go on after the fault, under MPI.
    pub(super) fn ends_job(&self) -> bool {
        self.fault.is_some_and(|fault| fault.kind.ends_job())
    }

    /// The step whose items a step folds: itself, unless a rank skips a build. Its later builds may meet the others' earlier ones of
    /// plans that are alike, and all ranks make the same calls from there on: nothing could tell that they mean different items.
    pub(super) fn items_step(&self, index: usize) -> usize {
        let skipped = self.fault.filter(|fault| fault.kind == FaultKind::Skip);
        let skipped = skipped.map(|fault| self.steps[fault.step].action);
        match skipped {
            Some(Action::Build | Action::Rebuild(_)) => 0,
            _ => index,
        }
    }

    /// What a rank does in a step: what all ranks do, unless its fault is another collective.
    pub(super) fn action(&self, rank: usize, index: usize) -> Action {
        let action = self.steps[index].action;
        match (self.fault, action) {
            (
                Some(Fault {
                    kind: FaultKind::OtherCollective,
                    instead: Some(instead),
                    rank: faulty,
                    step,
                    ..
                }),
                Action::Call(_, mode),
            ) if (faulty, step) == (rank, index) => Action::Call(instead, mode),
            _ => action,
        }
    }
}

/// A plan, as its builder is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The element type and the operator.
    pub kind: Kind,
    /// Each rank's ranges of items, in the order in which it owns them.
    pub extents: Vec<Vec<Range<u64>>>,
    /// Whether each rank passes its own extents alone, to be gathered. Otherwise each passes the whole ownership.
    pub gathers_extents: bool,
    /// Elements of an item.
    pub width: usize,
    /// The algorithm; `None` for the plan's own choice.
    #[serde(with = "names::optional")]
    pub algorithm: Option<Algorithm>,
    /// The rank that gets the result of a reduce.
    pub root: usize,
    /// The most elements of a message.
    pub message_limit: Option<usize>,
    /// The column blocks of a row.
    pub blocks: Option<usize>,
}

impl Spec {
    /// The calls that the plan offers.
    pub(super) fn calls(&self) -> Vec<(Operation, Mode)> {
        let is_scheduled = self.algorithm.is_none_or(Algorithm::is_scheduled);
        let has_empty = self.kind.has_empty();
        let mut calls = Vec::new();
        for &operation in Operation::ALL {
            let is_reduction = matches!(operation, Operation::Reduce | Operation::Allreduce);
            if !(is_scheduled || is_reduction) || (operation == Operation::Exscan && !has_empty) {
                continue;
            }
            calls.push((operation, Mode::Blocking));
            if is_scheduled && operation != Operation::Broadcast {
                calls.push((operation, Mode::Split));
            }
        }
        calls
    }

    /// Operations that may be called in place of another.
    pub(super) fn others(&self, operation: Operation, mode: Mode) -> Vec<Operation> {
        let calls = self.calls().into_iter();
        calls
            .filter(|&(other, its_mode)| other != operation && its_mode == mode)
            .map(|(other, _)| other)
            .collect()
    }
}

/// Element types with an operator each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Sums of `f64`, of wildly different size.
    SumF64,
    /// Products of `f32`.
    ProductF32,
    /// Maxima of `i64`.
    MaxI64,
    /// Affine maps over `[u64; 2]`, composed: the operator does not commute.
    Affine,
    /// An operator of the program's on `f64`, which makes NaNs of large numbers.
    CustomF64,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::SumF64,
        Self::ProductF32,
        Self::MaxI64,
        Self::Affine,
        Self::CustomF64,
    ];

    /// Whether nothing can be reduced.
    pub(super) fn has_empty(self) -> bool {
        !matches!(self, Self::MaxI64 | Self::CustomF64)
    }
}

/// A call on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The plan, by its number in [`Case::plans`].
    pub plan: usize,
    /// What is done with it.
    pub action: Action,
}

/// What is done with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// It is built; a plan that was there before is dropped.
    Build,
    /// A call in a mode.
    Call(#[serde(with = "names")] Operation, Mode),
    /// A run that was started is tested once.
    Test,
    /// A run that was started is waited for.
    Wait,
    /// A run that was started is given up, on all ranks.
    GiveUp,
    /// The plan is dropped.
    Drop,
    /// The plan is built, used by an allreduce and dropped, so many times.
    Rebuild(u32),
}

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// It returns the result.
    Blocking,
    /// It starts a run.
    Split,
}

/// What a step gave on a rank.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A result, as bytes.
    Value(Vec<u8>),
    /// No result, and no error: the step has none on this rank.
    Nothing,
    /// An error.
    Failed(String),
    /// The error that a run of the plan is under way.
    UnderWay,
    /// The error that no rank can go on.
    Deadlock(String),
    /// A loop of tests that does not end.
    Endless,
}

impl Outcome {
    /// The first byte in which two values of a length differ.
    pub(super) fn difference(&self, other: &Self) -> Option<usize> {
        match (self, other) {
            (Self::Value(left), Self::Value(right)) if left.len() == right.len() => left
                .iter()
                .zip(right)
                .position(|(left, right)| left != right),
            _ => None,
        }
    }
}

impl fmt::Debug for Outcome {
    /// Bytes in hexadecimal, unless they are many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Failed(error) | Self::Deadlock(error) => write!(f, "the error `{error}`"),
            Self::UnderWay => f.write_str("the error that a run is under way"),
            Self::Endless => f.write_str("tests without end"),
            Self::Value(bytes) => {
                write!(f, "{} ", counted(bytes.len(), "byte"))?;
                let shown = &bytes[..bytes.len().min(SHOWN)];
                shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if bytes.len() > SHOWN { "…" } else { "" })
            }
        }
    }
}
