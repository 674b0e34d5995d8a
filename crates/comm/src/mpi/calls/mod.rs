//! MPI's functions, as safe functions of Rust.

pub(crate) mod attribute;
pub(crate) mod collectives;
pub(crate) mod communicator;
pub(crate) mod failure;
pub(crate) mod library;
pub(crate) mod misdirected;
pub(crate) mod pending;
mod processes;
pub(crate) mod survivors;
pub(crate) mod ulfm;
pub(crate) mod user_operation;
