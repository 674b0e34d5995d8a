//! Collective algorithms as data: lists of steps that state what each position sends to which other position.
//!
//! *Positions* 0..p are the ranks in the order of their items. A message carries [`Piece`]s, each the reduction of a range of
//! positions. Merging adjacent ranges is associative, so every algorithm reduces in the order of the tree, and one executor
//! runs all algorithms. A [`Schedule`] computes a position's steps lazily, from the position's number alone, without a table of
//! all positions. [`check()`] proves for a given p that every position gets the pieces that it wants, that sends match
//! receives, and that no positions wait for each other in a cycle.
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
//! In the model of this crate, the sends and receives of a [`Step`] are posted together, and the sends use what the position held
//! *before* the step. Received pieces are kept unmerged, so that they can be sent on; adjacent pieces can be sent as one range
//! ([`tile()`]). Messages between two positions are matched in order.
//!
//! Read the modules in this order: the vocabulary of pieces and steps; the algorithms, one module each; the catalogue, which
//! names the algorithms and selects the program that runs; the checker; the cost formulas; with feature `baselines`, the simulator.
#![forbid(unsafe_code)]

mod algorithms;
mod catalogue;
mod check;
mod cost;
#[cfg(feature = "baselines")]
mod simulate;
mod vocabulary;

pub use catalogue::{Algorithm, Count, Error, Parameters, Schedule, UnknownAlgorithm};
pub use check::{Report, Violation, check, check_programs};
pub use cost::{Link, Load, Network};
#[cfg(feature = "baselines")]
pub use simulate::{
    Flight, Machine, Placement, SYMMETRY_RANKS, SharedPort, Simulation, flights, simulate,
    simulate_by_symmetry, simulate_unordered,
};
pub use vocabulary::{Collective, Piece, Step, Transfer, tile};
