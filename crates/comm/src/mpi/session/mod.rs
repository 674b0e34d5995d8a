//! Jobs that leave MPI to treefold, and communicators of programs that do not.

pub(crate) mod duplicate;
pub(crate) mod job;
