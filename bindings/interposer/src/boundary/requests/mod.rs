//! Reductions behind requests: how they begin, what is under way, and what completes them.

pub mod complete;
pub(crate) mod flight;
pub mod fortran;
pub mod fortran_started;
pub mod functions;
pub(crate) mod gather;
pub(crate) mod persistent;
pub(crate) mod start;
pub mod started;
pub(crate) mod taken;
