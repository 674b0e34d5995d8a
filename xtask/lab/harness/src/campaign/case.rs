//! What a case consists of.

use serde::{Deserialize, Serialize};

use super::fault::{Fault, FaultKind};
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
