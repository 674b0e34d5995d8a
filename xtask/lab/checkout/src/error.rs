//! Errors about the checkout and about starting ranks, each in one line.

use std::path::{Path, PathBuf};

use comm::text::printable;

/// A usage or input error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read, or its contents do not match its name.
    #[error("{}: {}", printable(&path.to_string_lossy()), printable(reason))]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// An option has an invalid value.
    #[error("{option}: {}", printable(reason))]
    Option {
        /// The option, as it is typed.
        option: &'static str,
        /// Why the value is invalid.
        reason: String,
    },
    /// `cargo` failed, or did not build the expected files.
    #[error("cargo: {0}")]
    Cargo(String),
    /// MPI is missing or does not work.
    #[error("{0}")]
    Mpi(String),
    /// A run failed.
    #[error("{0}")]
    Run(String),
}

impl Error {
    /// An error about a file.
    pub fn file(path: &Path, reason: impl ToString) -> Self {
        Error::File {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// An error about an option's value.
    pub fn option(option: &'static str, reason: impl ToString) -> Self {
        Error::Option {
            option,
            reason: reason.to_string(),
        }
    }
}
