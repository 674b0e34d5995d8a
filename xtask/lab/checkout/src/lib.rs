//! The checkout that commands run in, what they build there, and what they say meanwhile. The installer needs it as well: so it knows
//! nothing of reductions.

mod error;
pub mod headers;
pub mod licences;
pub mod machine;
pub mod progress;
pub mod table;
mod usage;
pub mod workspace;

pub use error::Error;
pub use usage::{in_a_line, names, refuse, shell_word};
