//! treefold for C, C++ and Fortran: reductions over the ranks of MPI communicators.
//!
//! `include/treefold_mpi.h` is the interface, and says what each function does. `include/binary_tree_summation.h` is the interface of
//! `ReproRed`, which this crate implements with treefold's plans; `reprored/reprored.c` exports its functions under `ReproRed`'s names.
//! `libtreefold` also contains the functions of crate `treefold-c`, so it serves programs with and without MPI.
//!
//! A program holds handles, which are names, not addresses. The functions are in `boundary`, the only module that dereferences pointers and
//! calls MPI. Items are passed as bytes, so the Rust types of plans and runs do not depend on the type of the items.
//!
//! This crate is built without MPI, and runs with every MPI library that crate `mpi-library` knows.

pub mod boundary;
mod builder;
mod failure;
#[cfg(feature = "cuda")]
mod gpu;
mod handle;
mod hashed;
mod items;
mod operands;
mod plan;
mod reprored;
mod run;
mod words;

// The functions of treefold-c are exported together with this crate's.
pub use treefold_c as local;
