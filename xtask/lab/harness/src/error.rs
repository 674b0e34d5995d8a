//! Everything that ends a command with exit status 2, reported in one line.

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
    /// MPI is missing or does not work.
    #[error("{0}")]
    Mpi(String),
    /// A run failed.
    #[error("{0}")]
    Run(String),
    /// Items cannot be distributed like this.
    #[error(transparent)]
    Distribution(#[from] distribution::Error),
    /// Threads could not be ranks.
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
    /// A message failed.
    #[error(transparent)]
    Transport(#[from] comm::Error),
    /// Something about the checkout.
    #[error(transparent)]
    Checkout(#[from] checkout::Error),
    /// What was to be written or read as JSON cannot be.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
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
