//! Why a plan cannot be built or run, and why a reduction in one process failed.

mod build;
mod fold;
mod run;

pub use build::{BuildError, UnknownName};
pub use fold::FoldError;
pub use run::{RunError, Turn};
