//! Exact sums by key over ranks.

mod by_key;
mod form;
mod hashed;
mod plan;
mod rows;

pub(crate) use by_key::ByKey;
pub use hashed::HashedPlan;
pub use plan::{KeyedPlan, KeyedState};
pub(crate) use rows::{CombineRows, CombineTerms};
