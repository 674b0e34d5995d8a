//! MPI's functions, as safe functions of Rust.

mod attribute;
pub(crate) mod collectives;
pub(crate) mod communicator;
pub(crate) mod failure;
pub(crate) mod library;
pub(crate) mod misdirected;
pub(crate) mod pending;
pub(crate) mod survivors;
pub(crate) mod ulfm;
pub(crate) mod user_operation;
