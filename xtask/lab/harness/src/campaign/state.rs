//! What state a program has a plan in.

use reduce::Operation;

use super::vocabulary::{Action, Mode};

/// Which actions a plan allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlanState {
    /// There is no plan, or a spent one.
    Unbuilt,
    /// There is a plan, and no run.
    Ready,
    /// A run is in flight.
    InFlight {
        /// What it computes.
        operation: Operation,
        /// The step that started it.
        start: usize,
    },
}

impl PlanState {
    /// The state after an action in a step; `None` if the plan does not allow it.
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
            // A plan whose run was given up is spent.
            (Self::InFlight { .. }, Action::GiveUp) => Some(Self::Unbuilt),
            (Self::Ready | Self::InFlight { .. }, Action::Drop) => Some(Self::Unbuilt),
            _ => None,
        }
    }
}
