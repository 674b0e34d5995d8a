//! The checkout that commands run in, their builds, and their progress messages. This crate contains nothing about reductions, because the
//! installer also needs it.

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
