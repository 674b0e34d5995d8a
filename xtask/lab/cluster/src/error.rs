//! What ends a cluster before its command does.

/// What ends a cluster before its command does.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option has a value that it cannot have.
    #[error("{option}: {reason}")]
    Option {
        /// The option, as it is typed.
        option: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// This machine, or this user, cannot have a cluster.
    #[error("{0}")]
    Unsupported(String),
    /// Something failed on the way.
    #[error("{what}: {reason}")]
    Failed {
        /// What was being done.
        what: String,
        /// Why it failed.
        reason: String,
    },
}

impl Error {
    /// What is wrong with an option's value.
    pub(crate) fn option(option: &'static str, reason: impl ToString) -> Self {
        Error::Option {
            option,
            reason: reason.to_string(),
        }
    }

    /// For `map_err`: what was being done.
    pub(crate) fn on<E: ToString>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |reason| Error::Failed {
            what,
            reason: reason.to_string(),
        }
    }
}
