//! treefold for C, C++ and Fortran: the reductions of one process.
//!
//! `include/treefold.h` is the interface, and says what each function does. The functions are in `boundary`, which uses `raw` to turn
//! pointers into slices and closures; everything else is safe code over crate `treefold`. Every call goes through
//! [`guard`](boundary::guard), which stores the error for `treefold_last_error` and catches panics.
//!
//! Crate `treefold-c-mpi` adds MPI ranks, and uses this crate's public functions.

#![cfg_attr(
    not(feature = "local"),
    allow(dead_code, unused_imports, reason = "only `local` uses them")
)]

mod accumulator;
mod aggregate;
pub mod boundary;
pub mod element;
mod exact;
pub mod failure;
pub mod figure;
mod handle;
pub mod keyed;
mod local;
pub mod operator;
pub mod raw;
pub mod states;
pub mod statistic;
pub mod table;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("treefold's C interface needs a 64-bit processor: handles are 64-bit numbers");
