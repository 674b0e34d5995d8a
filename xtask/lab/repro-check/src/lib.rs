//! `cargo xtask repro-check`: the same bits for every number of ranks, distribution, algorithm and backend, or not.
//!
//! The binary is small, so that a fresh clone has its verdict soon. What the matrix is made of is shared with other commands: data sets, jobs of
//! ranks, the ways to a sum that are compared, and the places where ranks live.

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
