//! Exports the functions of `treefold.h` and `treefold_mpi.h`, which crates `treefold_c` and `treefold_c_mpi` define.

pub use treefold_c_mpi;
