//! The commands of `cargo xtask` and their options.
//!
//! Crate `harness` has the code that commands, benches and papers share. The papers' tables and figures are in crate `papers`, `install` in
//! crate `install`, and `test` in crate `gate`. The binary `xtask` needs nothing but Rust. MPI launchers also start this binary as ranks.

#![expect(clippy::print_stdout, reason = "commands print their results")]

pub mod bench;
pub mod campaign;
pub mod cluster;
pub mod draw;
pub mod mpi_runner;
pub mod numbers;
pub mod papers;
pub mod schedules;
pub mod simulate;
