//! Finds the checkout that commands run in, reads and writes files, runs builds and shows progress. This crate contains no code of
//! reductions, because the installer also needs it.

mod error;
pub mod files;
pub mod headers;
pub mod licences;
pub mod machine;
pub mod progress;
pub mod table;
mod usage;
pub mod workspace;

pub use error::Error;
pub use usage::{ended, names, parsed, refuse, shell_word};
