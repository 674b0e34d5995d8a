//! Runs that begin in one call and end in another (paper 4's split phase).

use bytemuck::Pod;

use super::pending::{item, item_of_root, items, items_of_root};
use super::{AnyPending, Operands, Pending, Plan};
use crate::error::RunError;
use crate::operation::Operation;
use crate::operator::Operator;

impl<T: Pod, O: Operator<T> + 'static> Plan<T, O> {
    /// Starts [`allreduce`](Plan::allreduce) and returns when this rank's items are folded; `local` is then free for other use. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs). If items are rows, every rank that makes this call gets an error. The wait, not this
    /// call, returns errors about `local` and about this rank's environment.
    pub fn start_allreduce(&self, local: &[T]) -> Result<Pending<T>, RunError> {
        let run = self.start_one(Operation::Allreduce, local)?;
        Ok(Pending::new(run, item))
    }

    /// Starts [`allreduce_into`](Plan::allreduce_into), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_allreduce_row(&self, local: &[T]) -> Result<Pending<Vec<T>>, RunError> {
        self.start(Operation::Allreduce, local, items)
    }

    /// Starts [`reduce`](Plan::reduce), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce(&self, local: &[T]) -> Result<Pending<Option<T>>, RunError> {
        let run = self.start_one(Operation::Reduce, local)?;
        Ok(Pending::new(run, item_of_root))
    }

    /// Starts [`reduce_into`](Plan::reduce_into), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_row(&self, local: &[T]) -> Result<Pending<Option<Vec<T>>>, RunError> {
        self.start(Operation::Reduce, local, items_of_root)
    }

    /// Starts [`reduce_scatter`](Plan::reduce_scatter), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_scatter(&self, local: &[T]) -> Result<Pending<Vec<T>>, RunError> {
        self.start(Operation::ReduceScatter, local, items)
    }

    /// Starts [`scan`](Plan::scan), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// The end of a scan needs the items again, so the plan keeps a copy of them, in memory that later runs reuse.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan(&self, local: &[T]) -> Result<Pending<Vec<T>>, RunError> {
        self.start(Operation::Scan, local, items)
    }

    /// Starts [`exscan`](Plan::exscan), in the same way as [`start_scan`](Plan::start_scan). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce), or an error if the operator has no empty value.
    pub fn start_exscan(&self, local: &[T]) -> Result<Pending<Vec<T>>, RunError> {
        self.start(Operation::Exscan, local, items)
    }

    fn start<R: 'static>(
        &self,
        operation: Operation,
        local: &[T],
        read: impl FnOnce(AnyPending) -> Result<R, RunError> + 'static,
    ) -> Result<Pending<R>, RunError> {
        let items = Operands::Items(bytemuck::cast_slice(local));
        let run = self.plan.start(operation, items)?;
        Ok(Pending::new(run, read))
    }

    /// Like [`start`](Self::start), for a result of one element.
    fn start_one(&self, operation: Operation, local: &[T]) -> Result<AnyPending, RunError> {
        let items = Operands::Items(bytemuck::cast_slice(local));
        self.plan.start_items(operation.into(), items, 1)
    }
}
