//! Runs that end in another call than they begin (paper 4's split phase).

use std::rc::Rc;

use bytemuck::Pod;

use super::{Part, Pending, Plan, call};
use crate::engines::Flight;
use crate::error::RunError;
use crate::operation::{Call, Operation};
use crate::operator::Operator;
use crate::world::conversation::Claim;

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
        self.start(Operation::Allreduce, local, self.terms.width)
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
        self.start(Operation::Reduce, local, self.terms.width)
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
        self.start(Operation::Scan, local, self.local_length_on_this_machine())
    }

    /// Starts [`exscan`](Plan::exscan), as [`start_scan`](Plan::start_scan). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce), or the operator has no empty value.
    pub fn start_exscan(&self, local: &[T]) -> Result<Pending<call::Scan, T>, RunError> {
        self.start(
            Operation::Exscan,
            local,
            self.local_length_on_this_machine(),
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
        let claim = self.conversation.begin(&self.world, call)?;
        self.start_claimed(claim, operation, Ok(local), result_length)
            .map(Pending::new)
    }

    /// As [`start`](Self::start), in a call that has entered the world; or in place of `local` the reason why this rank takes no part.
    pub(crate) fn start_within(
        &self,
        operation: Operation,
        local: Result<&[T], RunError>,
        result_length: usize,
    ) -> Result<Part, RunError> {
        let claim = self.conversation.begin_within(operation)?;
        self.start_claimed(claim, operation, local, result_length)
    }

    fn start_claimed(
        &self,
        claim: Claim<'_>,
        operation: Operation,
        local: Result<&[T], RunError>,
        result_length: usize,
    ) -> Result<Part, RunError> {
        if let Err(error) = self.check_result_length(operation, result_length) {
            // No run is begun, so the others hear of it at once, wherever they wait for this rank.
            self.conversation.give_up();
            return claim.end(Err(error));
        }
        let checked = local.and_then(|local| {
            self.check(operation, local.len(), result_length)
                .map(|()| local)
        });
        let rows = checked.as_ref().ok().copied();
        let started = self.engine.start(operation, rows.map(bytemuck::cast_slice));
        self.under_way(claim, started, checked.err(), result_length)
    }

    /// A run that was started, in which this rank may have failed.
    pub(super) fn under_way(
        &self,
        claim: Claim<'_>,
        started: Result<Rc<dyn Flight>, RunError>,
        failure: Option<RunError>,
        result_length: usize,
    ) -> Result<Part, RunError> {
        match started {
            Ok(flight) => {
                let (world, conversation) = (&self.world, &self.conversation);
                claim.hand_over();
                Ok(Part::new(
                    world,
                    flight,
                    conversation,
                    failure,
                    result_length,
                ))
            }
            Err(error) => claim.end(Err(error)),
        }
    }
}
