//! Programs that leave MPI to treefold, and duplicates for programs that call MPI themselves.

pub(crate) mod duplicate;
pub(crate) mod job;
