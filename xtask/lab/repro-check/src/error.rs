//! Errors that end a command with exit status 2, each reported in one line.

use std::path::Path;

/// A usage or input error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or an option is wrong, `cargo` failed, or MPI is missing.
    #[error(transparent)]
    Checkout(#[from] checkout::Error),
    /// MPI does not work.
    #[error("{0}")]
    Mpi(String),
    /// A run failed.
    #[error("{0}")]
    Run(String),
    /// A distribution is not possible.
    #[error(transparent)]
    Distribution(#[from] distribution::Error),
    /// Threads could not be started as ranks.
    #[error(transparent)]
    Threads(#[from] reduce::threads::RunError),
    /// Ranks could not agree on a plan.
    #[error(transparent)]
    Build(#[from] reduce::BuildError),
    /// A reduction failed.
    #[error(transparent)]
    Reduce(#[from] reduce::RunError),
    /// A local reduction failed.
    #[error(transparent)]
    Fold(#[from] reduce::FoldError),
    /// Sending or receiving a message failed.
    #[error(transparent)]
    Transport(#[from] comm::Error),
    /// JSON cannot be written or read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
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
