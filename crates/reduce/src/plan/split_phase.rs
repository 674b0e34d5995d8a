//! Runs that end in another call than they begin (paper 4's split phase).

use bytemuck::Pod;

use super::{Operands, Part, Pending, Plan, call};
use crate::error::RunError;
use crate::operation::{Call, Operation};
use crate::operator::Operator;

impl<T: Pod, O: Operator<T> + 'static> Plan<T, O> {
    /// Starts [`allreduce`](Plan::allreduce) and returns when this rank's items are
    /// folded; from then on `local` is free. Collective.
    ///
    /// # Errors
    /// As [all runs](Plan#errors-of-all-runs), or items are rows, of which the other ranks hear that start such a run. The wait returns this
    /// rank's other errors, of `local` and of the environment.
    pub fn start_allreduce(&self, local: &[T]) -> Result<Pending<call::Allreduce, T>, RunError> {
        self.start(Operation::Allreduce, local, 1)
    }

    /// Starts [`allreduce_into`](Plan::allreduce_into), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_allreduce_row(
        &self,
        local: &[T],
    ) -> Result<Pending<call::AllreduceRow, T>, RunError> {
        self.start(Operation::Allreduce, local, self.width())
    }

    /// Starts [`reduce`](Plan::reduce), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce(&self, local: &[T]) -> Result<Pending<call::Reduce, T>, RunError> {
        self.start(Operation::Reduce, local, 1)
    }

    /// Starts [`reduce_into`](Plan::reduce_into), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_row(&self, local: &[T]) -> Result<Pending<call::ReduceRow, T>, RunError> {
        self.start(Operation::Reduce, local, self.width())
    }

    /// Starts [`reduce_scatter`](Plan::reduce_scatter), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_scatter(
        &self,
        local: &[T],
    ) -> Result<Pending<call::ReduceScatter, T>, RunError> {
        let length = self.scattered_columns().len();
        self.start(Operation::ReduceScatter, local, length)
    }

    /// Starts [`scan`](Plan::scan), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// The end of a scan needs the items again: the plan keeps a copy of them, in memory that later runs use again.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan(&self, local: &[T]) -> Result<Pending<call::Scan, T>, RunError> {
        self.start(
            Operation::Scan,
            local,
            self.plan.local_length_on_this_machine(),
        )
    }

    /// Starts [`exscan`](Plan::exscan), as [`start_scan`](Plan::start_scan). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce), or the operator has no empty value.
    pub fn start_exscan(&self, local: &[T]) -> Result<Pending<call::Scan, T>, RunError> {
        self.start(
            Operation::Exscan,
            local,
            self.plan.local_length_on_this_machine(),
        )
    }

    /// As [`run`](Plan::run), without the wait, for a result of `result_length`.
    #[doc(hidden)]
    pub fn start<C>(
        &self,
        call: impl Into<Call>,
        local: &[T],
        result_length: usize,
    ) -> Result<Pending<C, T>, RunError> {
        let call = call.into();
        self.start_by(call.operation, call, local, result_length)
    }

    /// As [`run_by`](Plan::run_by), without the wait.
    pub(crate) fn start_by<C>(
        &self,
        operation: Operation,
        call: Call,
        local: &[T],
        result_length: usize,
    ) -> Result<Pending<C, T>, RunError> {
        let items = Operands::Items(bytemuck::cast_slice(local));
        let started = self.plan.start(operation, call, items, result_length);
        started.map(Pending::new)
    }

    /// As [`start`](Self::start), in a call that has entered the world; or in place of `local` the reason why this rank takes no part.
    pub(crate) fn start_within(
        &self,
        operation: Operation,
        local: Result<&[T], RunError>,
        result_length: usize,
    ) -> Result<Part, RunError> {
        let items = local.map(|local| Operands::Items(bytemuck::cast_slice(local)));
        self.plan.start_within(operation, items, result_length)
    }
}
