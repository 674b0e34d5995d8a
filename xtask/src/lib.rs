//! What a person runs: `cargo xtask repro-check`, `bench`, `simulate`, `schedules`, `papers`, `draw`, `numbers`, `campaign`,
//! `cluster`, `install`, `book` and `test`.
//!
//! The commands and their options. What they share with the benches and the papers is crate `harness`, the papers are crate `papers`,
//! `install` and `test` are crate `gate`.
//! The binary `xtask` needs nothing but Rust; the binary `mpi-runner` is what it builds and starts under `mpirun`, the binary `book` what
//! it builds and starts for `cargo xtask book`.

#![expect(clippy::print_stdout, reason = "commands print their results")]

pub mod bench;
pub mod book;
pub mod campaign;
pub mod cluster;
pub mod draw;
pub mod numbers;
pub mod papers;
pub mod repro_check;
pub mod schedules;
pub mod simulate;
