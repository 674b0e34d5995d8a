//! Messages and notices, and what this rank knows about the ranks that it waits for.

pub(crate) mod inquiry;
pub(crate) mod message;
pub(crate) mod notice;
pub(crate) mod poll_limits;
pub(crate) mod wait_time;
