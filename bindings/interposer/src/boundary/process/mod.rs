//! This process: how far it has come, what its threads are in, and how it begins and ends.

pub(crate) mod bypass;
pub(crate) mod control;
pub(crate) mod finish;
pub mod init;
pub(crate) mod inside;
pub(crate) mod phase;
pub(crate) mod site;
