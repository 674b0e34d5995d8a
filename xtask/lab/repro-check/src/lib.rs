//! `cargo xtask repro-check`: checks that every number of ranks, distribution, algorithm and backend gives the same bits.
//!
//! The binary is small, so that a fresh clone builds it quickly. Other commands share its modules: data sets, ranks and
//! their jobs, and the compared algorithms.

#![expect(clippy::print_stdout, reason = "commands print their results")]

pub mod baselines;
mod check;
pub mod choices;
pub mod data;
mod error;
pub mod job;
pub mod matrix;
pub mod ordinary;
pub mod output;
pub mod ranks;
mod way;

pub use baselines::Runner;
pub use check::{Draw, Options, run};
pub use error::Error;
pub use ranks::Place;
pub use way::{Backend, Order, Sharing, Way, scattered};
