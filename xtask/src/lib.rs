//! What a person runs: `cargo xtask repro-check`, `bench`, `simulate`, `schedules`, `papers`, `draw`, `numbers`, `campaign`,
//! `cluster`, `install`, `book` and `test`.
//!
//! The commands and their options. What they share with the benches and the papers is crate `harness`, the papers are crate `papers`,
//! `install` is crate `install`, and `test` crate `gate`.
//! The binary `xtask` needs nothing but Rust; launchers of MPI start it as ranks. The binary `book` is what it builds and starts for
//! `cargo xtask book`.

#![expect(clippy::print_stdout, reason = "commands print their results")]

pub mod bench;
pub mod book;
pub mod campaign;
pub mod cluster;
pub mod draw;
pub mod mpi_runner;
pub mod numbers;
pub mod papers;
pub mod schedules;
pub mod simulate;
