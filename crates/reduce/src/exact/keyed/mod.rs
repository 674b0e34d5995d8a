//! Exact sums by key over ranks.

mod by_key;
mod exchange;
mod form;
mod hashed;
mod plan;
mod rows;
mod steps;

pub(crate) use by_key::ByKey;
pub use hashed::HashedPlan;
pub use plan::KeyedPlan;
pub(crate) use rows::{AddRows, CombineTerms};
