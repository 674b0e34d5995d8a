//! What a step gives.

use std::fmt;
use std::ops::Range;

use comm::text::counted;
use reduce::{BuildError, RunError};

/// What a step gave on a rank.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A result, as bytes.
    Value(Vec<u8>),
    /// No result, and no error: the step has none on this rank.
    Nothing,
    /// An error.
    Failed(String),
    /// The error that nothing came for long, and the ranks whose silence it names.
    Silent(String, Range<usize>),
    /// The error that a run of the plan is under way.
    UnderWay,
    /// The error that no rank can go on.
    Deadlock(String),
    /// A loop of tests that does not end.
    Endless,
}

impl Outcome {
    /// The error's text.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Failed(text) | Self::Silent(text, _) | Self::Deadlock(text) => Some(text),
            _ => None,
        }
    }

    /// The first byte in which two values of a length differ.
    pub(super) fn difference(&self, other: &Self) -> Option<usize> {
        match (self, other) {
            (Self::Value(left), Self::Value(right)) if left.len() == right.len() => left
                .iter()
                .zip(right)
                .position(|(left, right)| left != right),
            _ => None,
        }
    }
}

impl fmt::Debug for Outcome {
    /// Bytes in hexadecimal, unless they are many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Failed(error) | Self::Silent(error, _) | Self::Deadlock(error) => {
                write!(f, "the error `{error}`")
            }
            Self::UnderWay => f.write_str("the error that a run is under way"),
            Self::Endless => f.write_str("tests without end"),
            Self::Value(bytes) => {
                write!(f, "{} ", counted(bytes.len(), "byte"))?;
                let shown = &bytes[..bytes.len().min(SHOWN)];
                shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if bytes.len() > SHOWN { "…" } else { "" })
            }
        }
    }
}

impl From<Option<Vec<u8>>> for Outcome {
    fn from(result: Option<Vec<u8>>) -> Self {
        result.map_or(Self::Nothing, Self::Value)
    }
}

impl From<RunError> for Outcome {
    fn from(error: RunError) -> Self {
        match error {
            RunError::UnderWay { .. } => Self::UnderWay,
            RunError::Transport(comm::Error::Deadlock(_)) => Self::Deadlock(error.to_string()),
            RunError::Transport(comm::Error::Silent { ref peers, .. }) => {
                Self::Silent(error.to_string(), peers.clone())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<BuildError> for Outcome {
    /// A rank may find all others waiting where ranks build different plans.
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Transport(comm::Error::Silent { ref peers, .. }) => {
                Self::Silent(error.to_string(), peers.clone())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}
