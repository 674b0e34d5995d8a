//! What benches, papers and checks share: data sets, jobs of ranks, the ways that are compared, the matrix of reproducibility, the
//! measured loops with their statistics, and plots.
//!
//! The files and processes that the commands of `xtask` need are here; their options are in `xtask`.

mod backend;
pub mod baselines;
pub mod bench;
pub mod campaign;
pub mod choices;
pub mod data;
pub mod endurance;
mod error;
pub mod job;
pub mod machine;
pub mod markdown;
pub mod matrix;
pub mod measured;
pub mod ordinary;
pub mod output;
pub mod plot;
pub mod ranks;
mod runner;
mod sharing;
pub mod simulation;
pub mod spread;
mod way;

pub use backend::Backend;
pub use error::Error;
pub use ranks::Place;
pub use runner::Runner;
pub use sharing::Sharing;
pub use way::{Order, Way};
