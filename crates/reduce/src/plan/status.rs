//! Whether a plan can be run.

use std::cell::Cell;

/// A plan between its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    UnderWay,
    /// A run failed or was abandoned, or an operator panicked in it; its messages may still be under way.
    Spent,
}

/// A plan's run while it is on this thread's stack. If an operator panics there, the plan is spent.
pub(super) struct Claim<'p>(&'p Cell<Status>);

impl<'p> Claim<'p> {
    /// Claims the plan, or returns why it cannot be run.
    #[inline]
    pub(super) fn new(status: &'p Cell<Status>) -> Result<Self, Status> {
        match status.get() {
            Status::Ready => {
                status.set(Status::UnderWay);
                Ok(Self(status))
            }
            other => Err(other),
        }
    }

    /// Ends the run.
    #[inline]
    pub(super) fn end(self, status: Status) {
        self.0.set(status);
    }

    /// Leaves the run to its handle.
    pub(super) fn hand_over(self) {
        std::mem::forget(self);
    }
}

impl Drop for Claim<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.0.get() == Status::UnderWay {
            self.0.set(Status::Spent);
        }
    }
}
