//! Channels, which are our duplicates of communicators: their conversations, lifetime and errors.

pub(crate) mod channel;
pub(crate) mod lifetime;
pub(crate) mod trouble;
