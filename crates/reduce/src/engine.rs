//! What an engine is: it carries out the collective operations of a plan, and knows nothing of plans.
//!
//! There are three: [`scheduled`](crate::scheduled) runs fragments along a schedule, [`native`](crate::native) hands them to the
//! transport's own reductions, and [`algorithm1`](crate::algorithm1) is the thesis' way. What an engine's messages carry is its
//! own business.

use std::fmt;
use std::rc::Rc;

use crate::error::RunError;
use crate::patience::Patience;
use crate::world::Progress;

/// The collective operations of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
    Broadcast,
}

impl Operation {
    /// How many there are.
    pub(crate) const COUNT: usize = 6;
}

/// Carries out collective operations of what the ranks have agreed on.
pub(crate) trait Engine<T> {
    /// Runs an operation to its end, on this rank's rows; leaves the result in `result`, and says whether this rank gets one. Of a
    /// broadcast, `result` holds the row.
    ///
    /// Without rows this rank cannot take part, for the given reason: the ranks that depend on it learn that it failed, and the
    /// reason is returned.
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[T], RunError>,
        result: &mut [T],
    ) -> Result<bool, RunError>;

    /// Starts an operation on this rank's rows. Without rows this rank cannot take part: the ranks that depend on it learn that it
    /// failed.
    fn start(
        &self,
        operation: Operation,
        rows: Option<&[T]>,
    ) -> Result<Rc<dyn Flight<T>>, RunError>;

    /// The steps of the last run in which this rank communicated, if there are steps and there was a run.
    fn rounds(&self) -> Option<u64> {
        None
    }

    /// What is to be said of an allreduce beyond the algorithm's name.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Prints this rank's part in an allreduce, step by step, if there are steps.
    fn write(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// An operation under way. Dropping it gives it up, and communicates nothing.
pub(crate) trait Flight<T>: Progress {
    /// Goes on until the operation is over, or patience is, and drives whatever else is in flight. Says whether it is over.
    fn drive(&self, patience: Patience) -> Result<bool, RunError>;

    /// The ranks that it waits for: for their messages, or for them to take ours.
    fn awaited_ranks(&self) -> Vec<usize>;

    /// Waits for the end, and leaves the result alone.
    fn end(&self) -> Result<(), RunError>;

    /// Waits for the end and leaves the result in `result`; says whether this rank gets one. `rows` are needed by scans.
    fn finish(&self, rows: &[T], result: &mut [T]) -> Result<bool, RunError>;

    /// Gives it up: its requests go to the world, and nothing is sent.
    fn give_up(&self);
}
