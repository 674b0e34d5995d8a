//! What keeps a rank from taking part in a plan, as numbers that all ranks see.

use crate::environment::EnvironmentError;
use crate::error::BuildError;

/// What can keep one rank from taking part, whatever the other ranks propose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// It does not say which items it has.
    NoShare,
    /// Its distribution is for this number of ranks.
    OtherSize(usize),
    /// Its floating-point environment.
    Environment(EnvironmentError),
    /// It cannot get this number of bytes, which a plan takes at least.
    Memory(u128),
}

/// Which obstacle, and its detail.
pub(super) type ObstacleWords = [u64; 3];

/// The errors of floating-point environments; messages contain an index into this list.
const ENVIRONMENTS: [EnvironmentError; 4] = [
    EnvironmentError::FlushToZero,
    EnvironmentError::DenormalsAreZero,
    EnvironmentError::Rounding,
    EnvironmentError::ControlRegister,
];

impl Obstacle {
    /// The error that it means on a rank of a world of `size` ranks.
    pub(super) fn into_error(self, rank: usize, size: usize) -> BuildError {
        let error = Obstacle::error(Obstacle::to_words(Some(self)), rank, size);
        error.expect("an obstacle has an error")
    }

    /// As numbers: which obstacle, and its detail.
    pub(super) fn to_words(obstacle: Option<Self>) -> ObstacleWords {
        match obstacle {
            None => [0; 3],
            Some(Obstacle::NoShare) => [1, 0, 0],
            Some(Obstacle::OtherSize(planned)) => [2, planned as u64, 0],
            Some(Obstacle::Environment(error)) => {
                let index = ENVIRONMENTS.iter().position(|&other| other == error);
                [3, index.unwrap_or(0) as u64, 0]
            }
            Some(Obstacle::Memory(bytes)) => {
                let [low, high] = bytemuck::cast(bytes);
                [4, low, high]
            }
        }
    }

    /// The error that a rank's numbers mean, if any.
    pub(super) fn error(
        [which, detail, more]: ObstacleWords,
        rank: usize,
        size: usize,
    ) -> Option<BuildError> {
        let number = usize::try_from(detail).unwrap_or(usize::MAX);
        match which {
            0 => None,
            1 => Some(BuildError::NoShare { rank }),
            2 => Some(BuildError::OtherSize {
                rank,
                planned: number,
                size,
            }),
            3 => Some(BuildError::Environment {
                rank,
                error: ENVIRONMENTS[number.min(ENVIRONMENTS.len() - 1)],
            }),
            _ => Some(BuildError::Memory {
                rank,
                bytes: bytemuck::cast([detail, more]),
            }),
        }
    }
}
