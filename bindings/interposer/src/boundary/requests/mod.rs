//! Non-blocking and persistent reductions: starting them, keeping track of those under way, and completing them.

mod complete;
pub(crate) mod flight;
mod functions;
pub(crate) mod gather;
pub(crate) mod persistent;
pub(crate) mod start;
pub(crate) mod taken;
