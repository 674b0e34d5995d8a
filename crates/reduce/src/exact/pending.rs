//! An exact sum under way.

use std::fmt;
use std::time::Duration;

use bytemuck::Zeroable;
use exact_sum::Accumulator;

use super::words::{of_words, sums};
use crate::error::RunError;
use crate::plan::wait_all::{AnyPending, Sealed};
use crate::plan::{self, call};

/// A run of an exact [`Plan`](super::Plan) between its start and its end, as [`Pending`](crate::Pending) is of a plan.
#[must_use = "a run that is dropped is abandoned"]
pub struct Pending<C, A: Accumulator> {
    run: plan::Pending<C, A::Words>,
}

impl<C, A: Accumulator> fmt::Debug for Pending<C, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.run.fmt(f)
    }
}

impl<C, A: Accumulator> Pending<C, A> {
    pub(super) fn new(run: plan::Pending<C, A::Words>) -> Self {
        Self { run }
    }

    /// Makes progress without blocking; true if `wait` would return at once.
    ///
    /// # Errors
    /// The transport failed.
    pub fn test(&self) -> Result<bool, RunError> {
        self.run.test()
    }

    /// Waits until the run is over, at most `timeout`.
    ///
    /// # Errors
    /// [`RunError::TimedOut`] says which ranks are awaited: the run continues, and may be waited for again. Or the transport failed.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        self.run.wait_timeout(timeout)
    }

    /// Abandons the run. The plan is spent then: build another.
    pub fn cancel(self) {
        self.run.cancel();
    }
}

impl<C, A: Accumulator> Sealed for Pending<C, A> {
    fn wait_until_over(&self) -> Result<(), RunError> {
        self.run.wait_until_over()
    }
}

impl<C, A: Accumulator> AnyPending for Pending<C, A> {
    fn test(&self) -> Result<bool, RunError> {
        self.test()
    }
}

impl<A: Accumulator> Pending<call::Allreduce, A> {
    /// Waits for the run and returns its result.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<A, RunError> {
        let rank = self.run.rank();
        of_words(rank, &self.run.wait()?)
    }
}

impl<A: Accumulator> Pending<call::Reduce, A> {
    /// Waits for the run and returns its result on the root, `None` on the others.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Option<A>, RunError> {
        let rank = self.run.rank();
        let words = self.run.wait()?;
        words.map(|words| of_words(rank, &words)).transpose()
    }
}

impl<A: Accumulator> Pending<call::AllreduceRow, A> {
    /// Waits for the run and returns the row.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Vec<A>, RunError> {
        let rank = self.run.rank();
        sums(rank, &self.run.wait()?)
    }
}

impl<A: Accumulator> Pending<call::ReduceRow, A> {
    /// Waits for the run and returns the row on the root, `None` on the others.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Option<Vec<A>>, RunError> {
        let rank = self.run.rank();
        let words = self.run.wait()?;
        words.map(|words| sums(rank, &words)).transpose()
    }
}

impl<A: Accumulator> Pending<call::ReduceScatter, A> {
    /// Waits for the run and returns this rank's columns of the row.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Vec<A>, RunError> {
        let rank = self.run.rank();
        sums(rank, &self.run.wait()?)
    }
}

impl<A: Accumulator> Pending<call::Scan, A> {
    /// Waits for the run and returns the sum up to this rank, or before it.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<A, RunError> {
        let rank = self.run.rank();
        let mut result = [A::Words::zeroed()];
        self.run.wait_into(&mut result)?;
        of_words(rank, &result[0])
    }

    /// The same for rows.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait_row(self) -> Result<Vec<A>, RunError> {
        let rank = self.run.rank();
        sums(rank, &self.run.wait()?)
    }
}
