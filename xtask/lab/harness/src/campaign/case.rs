//! What a case consists of.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::fault::{Fault, FaultKind, Trait};
use super::vocabulary::{Action, Spec, Step};

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
    /// The fault, if it is of this kind.
    pub(super) fn fault_that(&self, is: Trait) -> Option<Fault> {
        self.fault.filter(|fault| fault.kind.is(is))
    }

    /// The fault, unless every rank must get all its results in spite of it.
    pub(super) fn harm(&self) -> Option<Fault> {
        self.fault.filter(|fault| !fault.kind.is(Trait::Harmless))
    }

    /// Whether no rank can go on after the fault, under MPI.
    pub(super) fn ends_job(&self) -> bool {
        self.fault_that(Trait::EndsJob).is_some()
    }

    /// A rank's part of a plan.
    pub(super) fn own(&self, plan: usize, rank: usize) -> Own {
        Own {
            spec: self.plans[plan].clone(),
            seed: self.seed,
            rank,
        }
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

/// A rank's part of a plan.
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
