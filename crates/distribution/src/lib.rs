//! How N items spread over p ranks, and what that costs a tree-ordered reduction.
//!
//! The result of a tree-ordered reduction does not depend on who owns which items; its speed does.
//! A boundary between two ranks cuts subtrees apart, and every cut is a message. Even shares keep
//! all ranks equally busy but cut anywhere; [aligned](Scheme::PowerOfTwo) ones cut little but
//! leave most of the work to one rank; the [optimized](Scheme::Optimized) ones move each boundary
//! a little way to the left, to where it cuts less. The [score-optimal](Scheme::ScoreOptimal) ones have the
//! least score of all. As that counts messages that pass at the same time as if they followed each
//! other, the [path-optimal](Scheme::PathOptimal) ones look at when the result is there.
//!
//! Thesis, section 3.1.2, with N = 504850 items on p = 256 ranks:
//!
//! ```
//! use distribution::{Cost, Distribution, Scheme};
//!
//! # fn main() -> Result<(), distribution::Error> {
//! let upper = Distribution::upper(504_850, 256)?;
//! assert_eq!(upper.message_count(), 1401);
//! assert_eq!(upper.score(&Cost::THESIS).round(), 401_869.0); // ns
//!
//! let optimized = Scheme::Optimized.distribute(504_850, 256)?;
//! assert_eq!(optimized.message_count(), 557);
//! assert_eq!(optimized.score(&Cost::THESIS).round(), 165_091.0); // ns
//!
//! let optimal = Scheme::ScoreOptimal.distribute(504_850, 256)?;
//! assert_eq!(optimal.message_count(), 61);
//! assert_eq!(optimal.score(&Cost::THESIS).round(), 51_138.0); // ns
//! # Ok(())
//! # }
//! ```
//!
//! Everything here is legal with more ranks than items, without any item, and with N up to
//! `u64::MAX`.
#![forbid(unsafe_code)]

mod block_cyclic;
mod cost;
mod critical_path;
mod distribution;
mod error;
mod even;
mod explicit;
pub mod lookup;
mod optimized;
mod ownership;
mod path_optimal;
mod scheme;
mod score_optimal;
mod share_limit;

pub use cost::Cost;
pub use distribution::Distribution;
pub use error::{Error, UnknownScheme};
pub use ownership::Ownership;
pub use scheme::{ALPHA, Scheme};
