//! The mode `check`: compares treefold's and the library's result of each call, on all ranks.

pub(crate) mod alike;
pub(crate) mod compared;
pub(crate) mod deferred;
pub(crate) mod digests;
mod freed;
