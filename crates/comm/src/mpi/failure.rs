//! Failed MPI calls as errors.

use super::raw::Failure;
use crate::error::Error;

/// What went wrong on `rank`, in the library's words.
pub(super) fn describe(rank: usize, failure: Failure) -> Error {
    Error::Mpi {
        rank,
        call: failure.call,
        code: failure.code,
        text: failure.text,
    }
}
