//! Code shared by the benches, the papers' exhibits and the campaign: timing loops with statistics, simulated schedules, and plots.
//! Re-exports crate `repro-check`: data sets, jobs of ranks, the compared algorithms and the reproducibility matrix.
//!
//! This crate handles the commands' files and processes; their options are in `xtask`.

pub mod bench;
pub mod campaign;
pub mod endurance;
pub mod markdown;
pub mod measured;
mod names;
pub mod plot;
pub mod simulation;
pub mod spread;

pub use checkout::machine;
// Shared with `repro-check`.
pub use repro_check::{
    Backend, Error, Order, Place, Runner, Sharing, Way, baselines, choices, data, job, matrix,
    ordinary, output, ranks, scattered,
};
