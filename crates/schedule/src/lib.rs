//! Collective algorithms as data: step by step, which position sends what to which other position.
//!
//! *Positions* 0..p are the ranks in the order of their items. A message carries [`Piece`]s, each the reduction of a range of
//! positions. Merging adjacent ranges is associative, so any algorithm that brings them together reduces in the order of the
//! tree, and one executor runs all algorithms. A [`Schedule`] makes every position's steps lazily, from its number alone;
//! nothing is a table of all positions. [`check()`] proves for a given p that every position gets what it wants, that sends
//! match receives, and that no positions wait for each other in a cycle.
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
//! The model: the sends and receives of a [`Step`] are posted together, and its sends use what the position held *before* the
//! step. Pieces that are received are kept as they are, so that they can be sent on; pieces that together make up a range
//! stand for it ([`tile()`]). Messages between two positions are matched in order.
//!
//! The crate reads from the bottom up: the vocabulary of pieces and steps; the algorithms, a module for each; the catalogue,
//! which names them and chooses among their programs; then the checker, the cost formulas and, with feature `baselines`, the
//! simulator.
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
