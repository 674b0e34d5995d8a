//! What a case consists of.

use std::fmt;
use std::ops::Range;

use comm::text::counted;
use distribution::Ownership;
use reduce::{Algorithm, Operation};
use serde::{Deserialize, Serialize};

use super::exact::Figure;
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
            let is_missing = match operation {
                Operation::Exscan => !has_empty,
                Operation::Broadcast => self.kind.is_exact(),
                _ => false,
            };
            if is_missing || !(is_scheduled || is_reduction) {
                continue;
            }
            calls.push((operation, Mode::Blocking));
            if is_scheduled && operation != Operation::Broadcast {
                calls.push((operation, Mode::Split));
            }
        }
        calls
    }

    /// What ranks could own instead, so that a rank has the same items, or as many; `None` if nothing.
    pub(super) fn other_ownership(&self, rank: usize) -> Option<Vec<Vec<Range<u64>>>> {
        let mut others = (0..self.extents.len()).filter(|&other| other != rank);
        let is_contiguous = Ownership::from_extents(&self.extents)
            .is_ok_and(|ownership| ownership.as_distribution().is_some());
        let mut extents = self.extents.clone();
        if !is_contiguous {
            let one = others.next()?;
            let another = others.find(|&other| extents[other] != extents[one])?;
            extents.swap(one, another);
            return Some(extents);
        }
        let giving = others.clone().find(|&other| !extents[other].is_empty())?;
        let taking = others.find(|&other| other != giving)?;
        let mut start = 0;
        for (owner, own) in extents.iter_mut().enumerate() {
            let items = own
                .iter()
                .fold(0, |sum, range| sum + range.end - range.start);
            let end = start + items + u64::from(owner == taking) - u64::from(owner == giving);
            *own = std::iter::once(start..end).collect();
            start = end;
        }
        Some(extents)
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
    /// An exact sum of `f64`, or what is made of it. Ranks have the items of their extents, but the plan does not know it.
    Exact(Figure),
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::SumF64,
        Self::ProductF32,
        Self::MaxI64,
        Self::Affine,
        Self::CustomF64,
        Self::Exact(Figure::Sum),
        Self::Exact(Figure::Dot),
        Self::Exact(Figure::Norm),
    ];

    /// Whether it is an exact sum, which has neither an ownership nor an operator.
    pub(super) fn is_exact(self) -> bool {
        matches!(self, Self::Exact(_))
    }

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
    /// The error that nothing came for long, and the ranks whose silence it names.
    Silent(String, Range<usize>),
    /// The error that a run of the plan is under way.
    UnderWay,
    /// The error that no rank can go on.
    Deadlock(String),
    /// A loop of tests that does not end.
    Endless,
}

impl Outcome {
    /// The error's text.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Failed(text) | Self::Silent(text, _) | Self::Deadlock(text) => Some(text),
            _ => None,
        }
    }

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
            Self::Failed(error) | Self::Silent(error, _) | Self::Deadlock(error) => {
                write!(f, "the error `{error}`")
            }
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
