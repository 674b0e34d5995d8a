//! Non-blocking and persistent reductions: what starts them, which are under way, and what completes them.

mod complete;
pub(crate) mod flight;
mod functions;
pub(crate) mod gather;
pub(crate) mod persistent;
pub(crate) mod start;
pub(crate) mod taken;
