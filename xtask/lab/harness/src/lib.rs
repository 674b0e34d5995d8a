//! What benches, papers and checks share: data sets, jobs of ranks, the ways that are compared, the matrix of reproducibility, the
//! measured loops with their statistics, and plots.
//!
//! The files and processes that the commands of `xtask` need are here; their options are in `xtask`.

pub mod bench;
pub mod campaign;
pub mod endurance;
pub mod machine;
pub mod markdown;
pub mod measured;
pub mod plot;
pub mod simulation;
pub mod spread;

// What `repro-check` is made of, too.
pub use repro_check::{
    Backend, Error, Order, Place, Runner, Sharing, Way, baselines, choices, data, job, matrix,
    ordinary, output, ranks,
};
