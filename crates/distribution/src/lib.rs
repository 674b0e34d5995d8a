//! Distributes N items over p ranks, and computes what a distribution costs a tree-ordered reduction.
//!
//! The assignment of items to ranks changes the speed of a tree-ordered reduction, but not its result. A boundary between two
//! ranks cuts subtrees, and the value of each cut subtree is sent as a message.
//!
//! - Even shares ([`Scheme::Lower`], [`Scheme::Upper`]) keep all ranks equally busy, but cut many subtrees.
//! - Shares of a [power of two](Scheme::PowerOfTwo) cut few subtrees, but leave all remaining items to the last rank.
//! - [Optimized](Scheme::Optimized) shares move each boundary a little to the left, to where it cuts fewer subtrees.
//! - [Score-optimal](Scheme::ScoreOptimal) shares have the lowest score (eq. 3.7). The score adds the times of all messages.
//! - [Path-optimal](Scheme::PathOptimal) shares have a short critical path. In its model, messages may overlap.
//!
//! "The thesis" is C. Stelz, *Core-Count Independent Reproducible Reduce*, Karlsruhe 2022. Its section 3.1.2 distributes
//! N = 504850 items over p = 256 ranks:
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
//! All distributions accept more ranks than items, and any N from 0 to `u64::MAX`.
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
mod rebalance;
mod roundest;
mod rules;
mod scheme;
mod searches;

pub use cost::Cost;
pub use distribution::Distribution;
pub use error::Error;
pub use optimized::ALPHA;
pub use ownership::Ownership;
pub use rebalance::{Move, Rebalance, Rebalanced, Source};
pub use scheme::{Scheme, UnknownScheme};
