//! The mode that compares: both results of a call, on all ranks.

pub(crate) mod alike;
pub(crate) mod compared;
pub(crate) mod deferred;
pub(crate) mod digests;
pub mod freed;
