//! What goes wrong around a checkout, in one line.

use std::path::{Path, PathBuf};

use comm::text::printable;

/// A usage or input error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read, or is not what its name says.
    #[error("{}: {}", printable(&path.to_string_lossy()), printable(reason))]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An option has a value that it cannot have.
    #[error("{option}: {}", printable(reason))]
    Option {
        /// The option, as it is typed.
        option: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// `cargo` failed, or did not build what it was to.
    #[error("cargo: {0}")]
    Cargo(String),
}

impl Error {
    /// What is wrong with a file.
    pub fn file(path: &Path, reason: impl ToString) -> Self {
        Error::File {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// What is wrong with an option's value.
    pub fn option(option: &'static str, reason: impl ToString) -> Self {
        Error::Option {
            option,
            reason: reason.to_string(),
        }
    }
}
