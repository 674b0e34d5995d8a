//! Why a plan cannot be built or run.

use crate::environment::EnvironmentError;

/// Why [`Builder::build`](crate::Builder::build) failed. Every rank gets the same error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two ranks want different things.
    #[error(
        "ranks disagree on the {subject}: rank {}: {}; rank {}: {}",
        .first.0, .first.1, .second.0, .second.1
    )]
    Disagreement {
        /// What they disagree on.
        subject: &'static str,
        /// A rank, and what it wants.
        first: (usize, String),
        /// The first rank that wants something else, and what.
        second: (usize, String),
    },
    /// A rank cannot take part.
    #[error("rank {rank}: {reason}")]
    Rejected {
        /// The first such rank.
        rank: usize,
        /// Why.
        reason: String,
    },
    /// The ranks' items are not as many as a rank was told.
    #[error("rank {rank} was told of {expected} items, but the ranks have {found} in all")]
    ItemCount {
        /// The rank that was told.
        rank: usize,
        /// What it was told.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// The ranks' items are more than 2^64 - 1.
    #[error("the ranks have more than 2^64 - 1 items in all")]
    TooManyItems,
    /// There are no items, and the operator does not say what that gives.
    #[error("there are no items on any rank, and `{operator}` has no empty value")]
    NoItems {
        /// The operator.
        operator: String,
    },
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] comm::Error),
}

/// Why a run of a [`Plan`](crate::Plan) failed.
///
/// Whatever goes wrong on one rank, the ranks that depend on it get an error, too, and none hangs. The plan is spent
/// then: later runs return [`RunError::Spent`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The slice is not as long as planned.
    #[error("rank {rank}: the plan is for {planned} items on this rank, not {given}")]
    WrongLength {
        /// This rank.
        rank: usize,
        /// The number of items planned.
        planned: u64,
        /// The number of items given.
        given: u64,
    },
    /// This thread's floating-point environment has changed.
    #[error("rank {rank}: {error}")]
    Environment {
        /// This rank.
        rank: usize,
        /// What is wrong with it.
        error: EnvironmentError,
    },
    /// Another rank failed in this run; it knows why.
    #[error("rank {rank} failed in this reduction")]
    RankFailed {
        /// The rank that failed first.
        rank: usize,
    },
    /// A message is not what the plan says it is. Another plan's, or another program's.
    #[error("rank {rank}: a message from rank {from} is not what the plan expects: {reason}")]
    WrongMessage {
        /// This rank.
        rank: usize,
        /// The sender.
        from: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// An earlier run of the plan failed.
    #[error("rank {rank}: an earlier run of this plan failed; build a new one")]
    Spent {
        /// This rank.
        rank: usize,
    },
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] comm::Error),
}

/// Why [`fold`](crate::fold) failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldError {
    /// There are no items, and the operator does not say what that gives.
    #[error("there are no items, and `{operator}` has no empty value")]
    NoItems {
        /// The operator.
        operator: String,
    },
    /// This thread's floating-point environment is not IEEE 754's default.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}
