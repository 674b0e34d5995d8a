//! The errors of building and running plans, and of reductions in one process.

mod build;
mod fold;
mod run;

pub use build::{BuildError, UnknownName};
pub use fold::FoldError;
pub use run::{RunError, Turn};
