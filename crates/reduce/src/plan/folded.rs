//! Runs on rows that were folded elsewhere, such as on a GPU.

use bytemuck::Pod;

use super::pending::{items, items_of_root};
use super::{AnyPending, Operands, Pending, Plan};
use crate::error::RunError;
use crate::operation::Operation;
use crate::operator::Operator;

impl<T: Pod, O: Operator<T> + 'static> Plan<T, O> {
    /// Like [`allreduce_into`](Plan::allreduce_into), for rows that were folded elsewhere. `nodes` has one row, the fold, for each run of rows
    /// in [`own_node_lengths`](crate::AnyPlan::own_node_lengths). If `nodes` is an error, which says why there are no folds, the call fails on
    /// all ranks. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce_into`](Plan::allreduce_into), or an error if the algorithm is not a schedule.
    pub fn allreduce_folded(
        &self,
        nodes: Result<&[T], String>,
        result: &mut [T],
    ) -> Result<(), RunError> {
        self.run_folded(Operation::Allreduce, nodes, result)
            .map(drop)
    }

    /// Like [`allreduce_folded`](Plan::allreduce_folded), but makes the call [`reduce_into`](Plan::reduce_into). Collective.
    ///
    /// # Errors
    /// Those of [`reduce_into`](Plan::reduce_into), or an error if the algorithm is not a schedule.
    pub fn reduce_folded(
        &self,
        nodes: Result<&[T], String>,
        result: &mut [T],
    ) -> Result<bool, RunError> {
        self.run_folded(Operation::Reduce, nodes, result)
    }

    /// Like [`allreduce_folded`](Plan::allreduce_folded), but makes the call [`reduce_scatter`](Plan::reduce_scatter). Collective.
    ///
    /// # Errors
    /// Those of [`reduce_scatter`](Plan::reduce_scatter), or an error if the algorithm is not a schedule.
    pub fn reduce_scatter_folded(
        &self,
        nodes: Result<&[T], String>,
        result: &mut [T],
    ) -> Result<(), RunError> {
        self.run_folded(Operation::ReduceScatter, nodes, result)
            .map(drop)
    }

    /// Starts [`allreduce_folded`](Plan::allreduce_folded), like [`start_allreduce_row`](Plan::start_allreduce_row). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce_row`](Plan::start_allreduce_row), or an error if the algorithm is not a schedule.
    pub fn start_allreduce_folded(
        &self,
        nodes: Result<&[T], String>,
    ) -> Result<Pending<Vec<T>>, RunError> {
        self.start_folded(Operation::Allreduce, nodes, items)
    }

    /// Starts [`reduce_folded`](Plan::reduce_folded), like [`start_allreduce_folded`](Plan::start_allreduce_folded). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce_folded`](Plan::start_allreduce_folded).
    pub fn start_reduce_folded(
        &self,
        nodes: Result<&[T], String>,
    ) -> Result<Pending<Option<Vec<T>>>, RunError> {
        self.start_folded(Operation::Reduce, nodes, items_of_root)
    }

    /// Starts [`reduce_scatter_folded`](Plan::reduce_scatter_folded), like [`start_allreduce_folded`](Plan::start_allreduce_folded).
    /// Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce_folded`](Plan::start_allreduce_folded).
    pub fn start_reduce_scatter_folded(
        &self,
        nodes: Result<&[T], String>,
    ) -> Result<Pending<Vec<T>>, RunError> {
        self.start_folded(Operation::ReduceScatter, nodes, items)
    }

    fn start_folded<R: 'static>(
        &self,
        operation: Operation,
        nodes: Result<&[T], String>,
        read: impl FnOnce(AnyPending) -> Result<R, RunError> + 'static,
    ) -> Result<Pending<R>, RunError> {
        let nodes = nodes.as_ref().map(|nodes| bytemuck::cast_slice(nodes));
        let nodes = Operands::Nodes(nodes.map_err(String::as_str));
        let run = self.plan.start(operation, nodes)?;
        Ok(Pending::new(run, read))
    }

    fn run_folded(
        &self,
        operation: Operation,
        nodes: Result<&[T], String>,
        result: &mut [T],
    ) -> Result<bool, RunError> {
        let nodes = nodes.as_ref().map(|nodes| bytemuck::cast_slice(nodes));
        let nodes = Operands::Nodes(nodes.map_err(String::as_str));
        let result = bytemuck::cast_slice_mut(result);
        self.plan.run(operation, nodes, result)
    }
}
