//! The mode `check`, which compares treefold's result of each call with the MPI library's result, on all ranks.

pub(crate) mod alike;
pub(crate) mod compared;
pub(crate) mod deferred;
pub(crate) mod digests;
mod freed;
