//! Messages and notices, and what this rank knows of those that it waits for.

pub(crate) mod asking;
pub(crate) mod inquiry;
pub(crate) mod message;
pub(crate) mod notice;
pub(crate) mod patience;
