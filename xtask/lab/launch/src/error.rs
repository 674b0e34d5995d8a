//! Errors in starting ranks, each in one line.

use std::path::Path;

/// A usage or input error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or an option is wrong, or `cargo` failed.
    #[error(transparent)]
    Checkout(#[from] checkout::Error),
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
        checkout::Error::file(path, reason).into()
    }

    /// An error about an option's value.
    pub fn option(option: &'static str, reason: impl ToString) -> Self {
        checkout::Error::option(option, reason).into()
    }
}
