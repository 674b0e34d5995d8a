//! The state of this process and its threads, and what happens when MPI starts and ends.

pub(crate) mod bypass;
pub(crate) mod control;
pub(crate) mod finish;
mod init;
pub(crate) mod inside;
pub(crate) mod phase;
pub(crate) mod site;
