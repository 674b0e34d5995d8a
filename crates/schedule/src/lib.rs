//! Collective algorithms as data: who sends the reduction of which ranks to whom, step by step.
//!
//! Whatever brings adjacent ranges of ranks together reduces correctly, because merging fragments is associative; so a
//! collective algorithm is nothing but a list of sends and receives of *pieces*, and one executor runs them all.
//! Positions stand for ranks in the order of their items, 0..p. A [`Schedule`] gives every position's steps lazily, from
//! its number alone; nobody holds a table of all ranks. [`check()`] proves a schedule for a given p: every item once and in
//! order wherever it is wanted, sends that match receives, and no cyclic wait.
//!
//! Recursive doubling, p = 4, position 2:
//!
//! ```
//! use schedule::{Algorithm, Collective, Schedule};
//!
//! let schedule = Schedule::new(Algorithm::RecursiveDoubling, Collective::Allreduce, 4)?;
//! let steps: Vec<String> = schedule.steps(2).map(|step| step.to_string()).collect();
//! assert_eq!(steps, ["send 2..3 to 3, receive 3..4 from 3", "send 2..4 to 0, receive 0..2 from 0"]);
//! assert_eq!(schedule::check(&schedule)?.messages, 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The model: a step's sends and receives are posted together, and its sends use what was held *before* it. What comes
//! stays as it is, so that it can be sent on; pieces that tile a range stand for it. Between two positions, messages are
//! matched in order.
#![forbid(unsafe_code)]

mod binomial;
mod bruck;
mod check;
mod circulant;
mod cost;
mod cyclic;
mod direct;
mod dissemination;
mod hierarchical;
mod model;
mod pairwise_exchange;
mod pipeline;
mod recursive_doubling;
mod reversed;
mod ring;
mod simulate;
mod tile;
mod trees;
mod two_tree;

pub use check::{Report, Violation, check, check_programs};
pub use cost::{Link, Load};
pub use model::{
    Algorithm, Collective, Error, Parameters, Piece, Schedule, Step, Transfer, UnknownAlgorithm,
};
pub use simulate::{
    Flight, Machine, Placement, SYMMETRY_RANKS, Simulation, flights, simulate,
    simulate_by_symmetry, simulate_unordered,
};
pub use tile::tile;
