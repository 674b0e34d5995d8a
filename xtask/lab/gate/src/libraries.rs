//! The MPI libraries that steps run with, and on how many ranks.

use harness::Installation;

use super::setup;
use super::steps::{Steps, Stop};

/// Rank counts of the MPI tests.
pub(super) const MPI_RANKS: [usize; 4] = [1, 2, 3, 5];

/// Those with a second library, which runs what was built for the first: only its own ways are new.
pub(super) const MPI_RANKS_OF_SECOND: [usize; 2] = [2, 5];

/// Runs steps with another MPI library than the chosen one.
pub(super) fn with_library(
    steps: &mut Steps,
    name: &str,
    run: impl FnOnce(&mut Steps) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let installation = Installation::find(Some(name), None).map_err(Stop::Error)?;
    setup::install(&installation).map_err(Stop::Error)?;
    steps.with_installation(installation, run)
}
