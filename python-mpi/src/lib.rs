//! The shared library in the Python package `treefold-mpi`: the functions of `treefold_mpi.h`, which Python calls as they are.
#![cfg(feature = "mpi")]

pub use treefold_c_mpi::boundary;
