//! The calls that start a run: a [`Pending`](crate::Pending) is of the call that made it, and its `wait` returns what that call
//! returns.

/// [`Plan::start_allreduce`](crate::Plan::start_allreduce).
#[derive(Debug)]
pub enum Allreduce {}

/// [`Plan::start_allreduce_row`](crate::Plan::start_allreduce_row).
#[derive(Debug)]
pub enum AllreduceRow {}

/// [`Plan::start_reduce`](crate::Plan::start_reduce).
#[derive(Debug)]
pub enum Reduce {}

/// [`Plan::start_reduce_row`](crate::Plan::start_reduce_row).
#[derive(Debug)]
pub enum ReduceRow {}

/// [`Plan::start_reduce_scatter`](crate::Plan::start_reduce_scatter).
#[derive(Debug)]
pub enum ReduceScatter {}

/// [`Plan::start_scan`](crate::Plan::start_scan) and [`Plan::start_exscan`](crate::Plan::start_exscan).
#[derive(Debug)]
pub enum Scan {}
