//! Exact sums by key over ranks.

mod exchange;
mod hashed;
mod pending;
mod plan;
mod rows;
mod shared;
mod steps;

pub use hashed::HashedPlan;
pub use pending::KeyedPending;
pub use plan::KeyedPlan;
pub(crate) use rows::{AddRows, CombineTerms};
pub(crate) use shared::Shared;
