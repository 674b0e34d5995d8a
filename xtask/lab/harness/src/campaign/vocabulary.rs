//! What cases consist of: specifications of plans, and steps with actions.

use std::ops::Range;

use distribution::Ownership;
use reduce::{Algorithm, Builder, Operation, Plan, World};
use serde::{Deserialize, Serialize};

use crate::names;

/// The specification of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The element type and the operator.
    pub kind: Kind,
    /// Each rank's ranges of items, in the order in which it owns them.
    pub extents: Vec<Vec<Range<u64>>>,
    /// Whether each rank passes only its own extents, to be gathered. Otherwise each passes the whole ownership.
    pub gathers_extents: bool,
    /// The number of elements in an item.
    pub width: usize,
    /// The algorithm; `None` for the plan's own choice.
    #[serde(with = "names::optional")]
    pub algorithm: Option<Algorithm>,
    /// The rank that gets the result of a reduce.
    pub root: usize,
    /// The most elements in a message.
    pub message_limit: Option<usize>,
    /// The number of column blocks in a row.
    pub blocks: Option<usize>,
}

impl Spec {
    /// N, the number of items.
    pub(super) fn items(&self) -> u64 {
        let own = self.extents.iter().flatten();
        own.fold(0, |items, range| items + (range.end - range.start))
    }

    /// A builder with all settings except the items and the operator.
    pub(super) fn builder(&self, world: &World) -> Builder {
        let mut builder = Plan::builder(world).width(self.width).root(self.root);
        if let Some(algorithm) = self.algorithm {
            builder = builder.algorithm(algorithm);
        }
        if let Some(limit) = self.message_limit {
            builder = builder.message_limit(limit);
        }
        if let Some(blocks) = self.blocks {
            builder = builder.blocks(blocks);
        }
        builder
    }

    /// The calls that the plan offers.
    pub(super) fn calls(&self) -> Vec<(Operation, Mode)> {
        let is_scheduled = self.algorithm.is_none_or(Algorithm::is_scheduled);
        let has_empty = self.kind.has_empty();
        let mut calls = Vec::new();
        for &operation in Operation::ALL {
            let is_reduction = matches!(operation, Operation::Reduce | Operation::Allreduce);
            let is_missing = match operation {
                Operation::Exscan if !has_empty => true,
                Operation::Scan | Operation::Exscan => matches!(self.kind, Kind::Keyed(_)),
                Operation::Broadcast => self.kind.is_exact() || self.kind == Kind::Started,
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

    /// Another ownership in which a rank has the same items, or equally many; `None` if there is none.
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

    /// The operations that a faulty rank may call instead of this one.
    pub(super) fn others(&self, operation: Operation, mode: Mode) -> Vec<Operation> {
        let calls = self.calls().into_iter();
        calls
            .filter(|&(other, its_mode)| other != operation && its_mode == mode)
            .map(|(other, _)| other)
            .collect()
    }
}

/// The value that is computed from an exact sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Figure {
    /// The sum of the items.
    Sum,
    /// The sum of the items' products with other items.
    Dot,
    /// The square root of the sum of the items' squares.
    Norm,
}

/// A kind of sums by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keyed {
    /// Sums of `f64`, with dense keys.
    Sums,
    /// Sums of `f32`, with dense keys.
    Floats,
    /// Numbers of items, means and variances, with dense keys.
    Moments,
    /// Sums of `f64`, with any keys of 64 bits.
    Hashed,
}

/// The element type and the operator of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Sums of `f64` of widely varying magnitude.
    SumF64,
    /// Products of `f32`.
    ProductF32,
    /// Maxima of `i64`.
    MaxI64,
    /// Compositions of affine maps over `[u64; 2]`. The operator is not commutative.
    Affine,
    /// A user-defined operator on `f64`, which turns large numbers into NaNs.
    CustomF64,
    /// An exact figure of `f64`. Ranks have the items of their extents, but the plan does not know the extents.
    Exact(Figure),
    /// Exact sums by key, with a key for each element of an item. The plan does not know which rank has which items.
    Keyed(Keyed),
    /// Sums of `f64` by MPI's own non-blocking functions through the interposer, with one item per rank and without a plan.
    Started,
}

impl Kind {
    /// All kinds that have plans.
    pub const ALL: &[Self] = &[
        Self::SumF64,
        Self::ProductF32,
        Self::MaxI64,
        Self::Affine,
        Self::CustomF64,
        Self::Exact(Figure::Sum),
        Self::Exact(Figure::Dot),
        Self::Exact(Figure::Norm),
        Self::Keyed(Keyed::Sums),
        Self::Keyed(Keyed::Floats),
        Self::Keyed(Keyed::Moments),
        Self::Keyed(Keyed::Hashed),
    ];

    /// Whether the plan is of an exact sum, which has neither an ownership nor an operator.
    pub(super) fn is_exact(self) -> bool {
        matches!(self, Self::Exact(_) | Self::Keyed(_))
    }

    /// Whether the keys of the plan are hashed. No algorithm can be chosen for such a plan.
    pub(super) fn is_hashed(self) -> bool {
        self == Self::Keyed(Keyed::Hashed)
    }

    /// Whether the reduction of no items has a value.
    pub(super) fn has_empty(self) -> bool {
        !matches!(self, Self::MaxI64 | Self::CustomF64)
    }
}

/// A step of a program: an action on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The plan, by its number in [`Case::plans`](super::Case::plans).
    pub plan: usize,
    /// The action on this plan.
    pub action: Action,
}

/// An action on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// The plan is built; an earlier one is dropped.
    Build,
    /// A call in a mode.
    Call(#[serde(with = "names")] Operation, Mode),
    /// A run that was started is tested once.
    Test,
    /// A run that was started is waited for.
    Wait,
    /// A run that was started is cancelled, on all ranks.
    GiveUp,
    /// The plan is dropped.
    Drop,
    /// The plan is built, used for an allreduce and dropped, this many times.
    Rebuild(u32),
}

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// The call returns the result.
    Blocking,
    /// The call starts a run.
    Split,
}

/// The state of a plan in a program, which determines the allowed actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlanState {
    /// There is no plan, or a spent one.
    Unbuilt,
    /// There is a plan, and no run.
    Ready,
    /// A run is under way.
    InFlight {
        /// The operation of the run.
        operation: Operation,
        /// The step that started the run.
        start: usize,
    },
}

impl PlanState {
    /// The state after an action in a step; `None` if the plan does not allow the action.
    pub(super) fn after(self, step: usize, action: Action) -> Option<Self> {
        match (self, action) {
            (_, Action::Build) | (Self::Ready, Action::Call(_, Mode::Blocking)) => {
                Some(Self::Ready)
            }
            (Self::Unbuilt | Self::Ready, Action::Rebuild(_)) => Some(Self::Unbuilt),
            (Self::Ready, Action::Call(operation, Mode::Split)) => {
                let start = step;
                Some(Self::InFlight { operation, start })
            }
            (Self::InFlight { .. }, Action::Test) => Some(self),
            (Self::InFlight { .. }, Action::Wait) => Some(Self::Ready),
            // A plan whose run was cancelled is spent.
            (Self::InFlight { .. }, Action::GiveUp) => Some(Self::Unbuilt),
            (Self::Ready | Self::InFlight { .. }, Action::Drop) => Some(Self::Unbuilt),
            _ => None,
        }
    }
}
