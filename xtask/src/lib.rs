//! What a person runs: `cargo xtask repro-check`, `bench`, `simulate`, `schedules`, `papers`, `draw`, `book` and `test`.
//!
//! This is the only place for files, environment variables, processes and progress bars. The binary
//! `xtask` needs nothing but Rust; the binary `mpi-runner` is what it builds and starts under `mpirun`,
//! the binary `book` what it builds and starts for `cargo xtask book`.

#![expect(clippy::print_stdout, reason = "commands print their results")]

pub mod bench;
pub mod book;
pub mod choices;
pub mod data;
pub mod draw;
pub mod error;
pub mod job;
pub mod markdown;
pub mod matrix;
pub mod mpi;
pub mod output;
pub mod papers;
pub mod plot;
pub mod repro_check;
pub mod schedules;
pub mod simulate;
pub mod table;
pub mod test;
