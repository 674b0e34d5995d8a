//! Communicators of our own, each with the conversations that it carries: how long they live, and what goes wrong on them.

pub(crate) mod channel;
pub(crate) mod lifetime;
pub(crate) mod trouble;
