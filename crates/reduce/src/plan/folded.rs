//! Runs on rows that were folded elsewhere, as on a GPU.

use bytemuck::Pod;

use super::{Operands, Pending, Plan, call};
use crate::error::RunError;
use crate::operation::Operation;
use crate::operator::Operator;

impl<T: Pod, O: Operator<T> + 'static> Plan<T, O> {
    /// The runs of this rank's rows that a reduction folds, each by itself, before ranks communicate: the rows of each, in order. `None` if
    /// the [algorithm](Plan::algorithm) is not a schedule.
    ///
    /// For rows that are folded elsewhere, as on a GPU: [`allreduce_folded`](Plan::allreduce_folded) and its kin take the folds of these
    /// runs, a row for each, in place of the rows.
    ///
    /// ```
    /// use reduce::{Operation, Plan, threads};
    ///
    /// let totals = threads::run(2, |world| {
    ///     let local = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]][world.rank()];
    ///     let plan = Plan::builder(world).local_items(3).build::<f64>().unwrap();
    ///     let mut rest = &local[..];
    ///     let mut fold = |length| reduce::sum(rest.split_off(..length).unwrap()).unwrap();
    ///     let lengths = plan.own_node_lengths(Operation::Allreduce).unwrap();
    ///     let nodes: Vec<f64> = lengths.into_iter().map(&mut fold).collect();
    ///     let mut total = [0.0];
    ///     plan.allreduce_folded(Ok(&nodes), &mut total).unwrap();
    ///     total[0]
    /// })?;
    /// let sum = reduce::sum(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
    /// assert_eq!(totals, [sum, sum]);
    /// # Ok::<(), threads::RunError>(())
    /// ```
    pub fn own_node_lengths(&self, operation: Operation) -> Option<Vec<usize>> {
        self.plan.engine.own_node_lengths(operation)
    }

    /// [`allreduce_into`](Plan::allreduce_into) of rows that were folded elsewhere: `nodes` has the fold of each of the runs of
    /// [`own_node_lengths`](Plan::own_node_lengths), or says why there are none, of which the other ranks hear. Collective.
    ///
    /// # Errors
    /// As [`allreduce_into`](Plan::allreduce_into), or the algorithm is not a schedule.
    pub fn allreduce_folded(
        &self,
        nodes: Result<&[T], String>,
        result: &mut [T],
    ) -> Result<(), RunError> {
        self.run_folded(Operation::Allreduce, nodes, result)
            .map(drop)
    }

    /// [`reduce_into`](Plan::reduce_into), as [`allreduce_folded`](Plan::allreduce_folded). Collective.
    ///
    /// # Errors
    /// As [`reduce_into`](Plan::reduce_into), or the algorithm is not a schedule.
    pub fn reduce_folded(
        &self,
        nodes: Result<&[T], String>,
        result: &mut [T],
    ) -> Result<bool, RunError> {
        self.run_folded(Operation::Reduce, nodes, result)
    }

    /// [`reduce_scatter`](Plan::reduce_scatter), as [`allreduce_folded`](Plan::allreduce_folded). Collective.
    ///
    /// # Errors
    /// As [`reduce_scatter`](Plan::reduce_scatter), or the algorithm is not a schedule.
    pub fn reduce_scatter_folded(
        &self,
        nodes: Result<&[T], String>,
        result: &mut [T],
    ) -> Result<(), RunError> {
        self.run_folded(Operation::ReduceScatter, nodes, result)
            .map(drop)
    }

    /// Starts [`allreduce_folded`](Plan::allreduce_folded), as [`start_allreduce_row`](Plan::start_allreduce_row). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce_row`](Plan::start_allreduce_row), or the algorithm is not a schedule.
    pub fn start_allreduce_folded(
        &self,
        nodes: Result<&[T], String>,
    ) -> Result<Pending<call::AllreduceRow, T>, RunError> {
        self.start_folded(Operation::Allreduce, nodes, self.width())
    }

    /// Starts [`reduce_folded`](Plan::reduce_folded), as [`start_allreduce_folded`](Plan::start_allreduce_folded). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce_folded`](Plan::start_allreduce_folded).
    pub fn start_reduce_folded(
        &self,
        nodes: Result<&[T], String>,
    ) -> Result<Pending<call::ReduceRow, T>, RunError> {
        self.start_folded(Operation::Reduce, nodes, self.width())
    }

    /// Starts [`reduce_scatter_folded`](Plan::reduce_scatter_folded), as [`start_allreduce_folded`](Plan::start_allreduce_folded).
    /// Collective.
    ///
    /// # Errors
    /// As [`start_allreduce_folded`](Plan::start_allreduce_folded).
    pub fn start_reduce_scatter_folded(
        &self,
        nodes: Result<&[T], String>,
    ) -> Result<Pending<call::ReduceScatter, T>, RunError> {
        let length = self.scattered_columns().len();
        self.start_folded(Operation::ReduceScatter, nodes, length)
    }

    /// As [`start`](Plan::start), with the reductions of this rank's own nodes in place of its rows, or why there are none.
    fn start_folded<C>(
        &self,
        operation: Operation,
        nodes: Result<&[T], String>,
        result_length: usize,
    ) -> Result<Pending<C, T>, RunError> {
        let nodes = nodes.as_ref().map(|nodes| bytemuck::cast_slice(nodes));
        let nodes = Operands::Nodes(nodes.map_err(String::as_str));
        let started = self
            .plan
            .start(operation, operation.into(), nodes, result_length);
        started.map(Pending::new)
    }

    /// As [`run`](Plan::run), with the reductions of this rank's own nodes in place of its rows, or why there are none.
    pub(super) fn run_folded(
        &self,
        operation: Operation,
        nodes: Result<&[T], String>,
        result: &mut [T],
    ) -> Result<bool, RunError> {
        let nodes = nodes.as_ref().map(|nodes| bytemuck::cast_slice(nodes));
        let nodes = Operands::Nodes(nodes.map_err(String::as_str));
        let result = bytemuck::cast_slice_mut(result);
        self.plan.run(operation, operation.into(), nodes, result)
    }
}
