//! The functions of `treefold.h` and `treefold_mpi.h`, which crates `treefold_c` and `treefold_c_mpi` export.

pub use treefold_c_mpi;
