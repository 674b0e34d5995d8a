//! What benches, papers and checks share: data sets, jobs and the launcher of ranks, the ways that are compared, the matrix of
//! reproducibility, the measured loops with their statistics, tables and plots.
//!
//! The files, environment variables and processes that the commands of `xtask` need are here; their options are in `xtask`, but for those of all commands that start ranks.

mod backend;
pub mod baselines;
pub mod bench;
pub mod campaign;
pub mod choices;
pub mod data;
pub mod endurance;
mod error;
mod installation;
pub mod installed;
pub mod job;
pub mod launcher;
pub mod machine;
pub mod markdown;
pub mod matrix;
pub mod measured;
mod mpi_options;
pub mod ordinary;
pub mod output;
pub mod plot;
pub mod ranks;
mod runner;
mod sharing;
pub mod simulation;
pub mod spread;
pub mod table;
mod way;

pub use backend::Backend;
pub use error::Error;
pub use installation::{
    Installation, LAUNCHER_VARIABLE, LIBRARIES, LIBRARY_VARIABLE, Library, Source,
};
pub use mpi_options::MpiOptions;
pub use ranks::Place;
pub use runner::Runner;
pub use sharing::Sharing;
pub use way::{Order, Way};
