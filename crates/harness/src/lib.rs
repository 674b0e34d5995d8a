//! What benches, papers and checks share: data sets, jobs and the launcher of ranks, the matrix of reproducibility, the measured
//! loops with their statistics, tables and plots.
//!
//! Files, environment variables and processes that the commands of `xtask` need are here; their options are in `xtask`.

pub mod bench;
pub mod choices;
pub mod data;
mod error;
pub mod job;
pub mod launcher;
pub mod markdown;
pub mod matrix;
pub mod output;
pub mod plot;
pub mod table;

pub use error::Error;
