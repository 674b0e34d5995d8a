//! The MPI libraries that steps run with, and on how many ranks.

use launch::Installation;

use super::setup;
use super::steps::{Steps, Stop};

/// On how many ranks programs run with a library: over both, each number once. MPICH's ranks wait without letting others run, and where
/// there are more of them than cores, most programs take minutes.
pub(super) fn ranks_of(library: &str) -> &'static [usize] {
    match library {
        "mpich" => &[2],
        _ => &[1, 3, 5],
    }
}

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
