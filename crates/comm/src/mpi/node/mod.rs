//! The ranks of a node: the memory that they share, and messages through it.

mod lanes;
pub(crate) mod local;
mod progress;
pub(crate) mod sharing;
pub(crate) mod window;
