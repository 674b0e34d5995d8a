//! What benches, papers and the campaign share: measured loops with their statistics, simulated schedules, and plots; and, from crate `repro-check`,
//! data sets, jobs of ranks, the ways that are compared and the matrix of reproducibility.
//!
//! The files and processes that the commands of `xtask` need are here; their options are in `xtask`.

pub mod bench;
pub mod campaign;
pub mod endurance;
pub mod machine;
pub mod markdown;
pub mod measured;
mod names;
pub mod plot;
pub mod simulation;
pub mod spread;

// What `repro-check` is made of, too.
pub use repro_check::{
    Backend, Error, Order, Place, Runner, Sharing, Way, baselines, choices, data, job, matrix,
    ordinary, output, ranks, scattered,
};
