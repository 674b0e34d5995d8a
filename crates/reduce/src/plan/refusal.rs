//! Why a rank cannot take part in a plan, as numbers that all ranks see.

use crate::environment::EnvironmentError;
use crate::error::BuildError;

/// Why one rank cannot take part, whatever the other ranks propose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The rank's program does not say which items the rank has.
    NoShare,
    /// The rank's distribution is for this number of ranks.
    OtherSize(usize),
    /// The rank's floating-point environment is not the default.
    Environment(EnvironmentError),
    /// The rank cannot allocate this number of bytes, the least that a plan takes.
    Memory(u128),
}

/// The number of a refusal's variant, and two words of detail.
pub(super) type RefusalWords = [u64; 3];

/// The errors of floating-point environments; messages contain an index into this list.
const ENVIRONMENTS: [EnvironmentError; 4] = [
    EnvironmentError::FlushToZero,
    EnvironmentError::DenormalsAreZero,
    EnvironmentError::Rounding,
    EnvironmentError::ControlRegister,
];

impl Refusal {
    /// The error for this refusal by a rank of a world of `size` ranks.
    pub(super) fn into_error(self, rank: usize, size: usize) -> BuildError {
        let error = Refusal::error(Refusal::to_words(Some(self)), rank, size);
        error.expect("a refusal has an error")
    }

    /// A refusal as numbers.
    pub(super) fn to_words(refusal: Option<Self>) -> RefusalWords {
        match refusal {
            None => [0; 3],
            Some(Refusal::NoShare) => [1, 0, 0],
            Some(Refusal::OtherSize(planned)) => [2, planned as u64, 0],
            Some(Refusal::Environment(error)) => {
                let index = ENVIRONMENTS.iter().position(|&other| other == error);
                [3, index.unwrap_or(0) as u64, 0]
            }
            Some(Refusal::Memory(bytes)) => {
                let [low, high] = bytemuck::cast(bytes);
                [4, low, high]
            }
        }
    }

    /// The error that a rank's numbers stand for, if any.
    pub(super) fn error(
        [which, detail, more]: RefusalWords,
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
