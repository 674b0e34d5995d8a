//! Engines carry out the collective operations of plans. They know nothing about plans.
//!
//! There are four engines: [`scheduled`] sends fragments along a schedule, [`native`] passes fragments to the transport's own reductions,
//! [`algorithm1`] is the thesis' algorithm, and [`exact`](crate::exact) adds exact sums by the transport's own sum of integers. Each engine
//! has its own message format. Sums by key use an [`exchange`] for what does not fit in their rows.

pub(crate) mod algorithm1;
pub(crate) mod exchange;
pub(crate) mod native;
pub(crate) mod scheduled;
pub(crate) mod terms;
pub(crate) mod values;

use std::fmt;
use std::rc::Rc;

use schedule::Schedule;

use self::terms::Terms;
use crate::algorithm::Algorithm;
use crate::error::RunError;
use crate::operation::Operation;
use crate::world::patience::Patience;
use crate::world::{Progress, World};

/// Carries out collective operations as the ranks have agreed. Items are bytes, aligned for their type; only
/// [`Values`](values::Values) knows what the bytes mean.
pub(crate) trait Engine {
    /// Runs an operation on this rank's rows, and leaves the result in `result`. Returns whether this rank gets a result. For a
    /// broadcast, `result` already holds the root's row.
    ///
    /// An error instead of rows means that this rank cannot take part: the ranks that depend on it learn that it failed, and `run` returns
    /// the error.
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[u8], RunError>,
        result: &mut [u8],
    ) -> Result<bool, RunError>;

    /// Lengths, in rows, of this rank's own nodes, which a run folds before it communicates. `None` if the engine has no such nodes.
    fn own_node_lengths(&self, _operation: Operation) -> Option<Vec<usize>> {
        None
    }

    /// Like [`run`](Engine::run), with the reductions of this rank's own nodes in place of its rows.
    fn run_folded(
        &self,
        _operation: Operation,
        _nodes: &[u8],
        _result: &mut [u8],
    ) -> Result<bool, RunError> {
        unreachable!("only an engine that names its own nodes is given their reductions")
    }

    /// Starts an operation on this rank's rows. Without rows this rank cannot take part: the ranks that depend on it learn that it
    /// failed.
    fn start(&self, operation: Operation, rows: Option<&[u8]>) -> Result<Rc<dyn Flight>, RunError>;

    /// Like [`start`](Engine::start), with the reductions of this rank's own nodes in place of its rows.
    fn start_folded(
        &self,
        _operation: Operation,
        _nodes: Option<&[u8]>,
    ) -> Result<Rc<dyn Flight>, RunError> {
        unreachable!("only an engine that names its own nodes is given their reductions")
    }

    /// The algorithm that runs for an operation; `None` if the engine does not offer the operation.
    fn algorithm(&self, operation: Operation) -> Option<Algorithm>;

    /// The schedule that runs for an operation; `None` if the engine uses no schedules.
    fn schedule(&self, _operation: Operation) -> Option<Schedule> {
        None
    }

    /// Whether a reduction only folds this rank's rows, each of which is one value.
    fn is_local_fold(&self) -> bool {
        false
    }

    /// The number of steps in which the last blocking run sent or received; `None` before the first run, or if the engine has no steps.
    fn rounds(&self) -> Option<u64> {
        None
    }

    /// A remark about an allreduce, which a printed plan shows after the algorithm's name.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Prints what this rank does in an allreduce, step by step, if the engine has steps.
    fn write(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// The engine of a plan whose runs are only exchanges.
pub(crate) struct NoEngine;

/// Why [`NoEngine`] never runs an operation.
const ARE_EXCHANGES: &str = "the runs of such a plan are exchanges";

impl Engine for NoEngine {
    fn run(
        &self,
        _operation: Operation,
        _rows: Result<&[u8], RunError>,
        _result: &mut [u8],
    ) -> Result<bool, RunError> {
        unreachable!("{ARE_EXCHANGES}")
    }

    fn start(
        &self,
        _operation: Operation,
        _rows: Option<&[u8]>,
    ) -> Result<Rc<dyn Flight>, RunError> {
        unreachable!("{ARE_EXCHANGES}")
    }

    fn algorithm(&self, _operation: Operation) -> Option<Algorithm> {
        None
    }
}

/// The error of an engine that supports only blocking reduce and allreduce.
pub(crate) fn not_offered(world: &World, terms: &Terms) -> RunError {
    RunError::NotOffered {
        rank: world.rank(),
        algorithm: terms.choice.algorithm,
    }
}

/// An operation under way.
pub(crate) trait Flight: Progress {
    /// Continues until the operation is over or `patience` is exhausted, and drives the other runs in flight. Returns whether the
    /// operation is over.
    fn drive(&self, patience: Patience) -> Result<bool, RunError>;

    /// Whether the operation is over, successfully or not.
    fn is_over(&self) -> bool;

    /// The ranks that the operation waits for, because they have not yet sent a message, or have not yet received this rank's message.
    fn awaited_ranks(&self) -> Vec<usize>;

    /// Waits for the end of the run, and drops the result.
    fn wait_without_result(&self) -> Result<(), RunError>;

    /// Waits for the end of the run and leaves the result in `result`. Returns whether this rank gets a result.
    fn wait_and_deliver(&self, result: &mut [u8]) -> Result<bool, RunError>;

    /// Abandons the run: the world keeps its requests until they are cancelled, and nothing is sent.
    fn abandon(&self);
}
