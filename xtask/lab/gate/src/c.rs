//! The stage `c`: installs the libraries, builds programs in C, C++ and Fortran against them as users would, and runs them.
//!
//! C is compiled with pkg-config's options; C++ and Fortran, and C with the static libraries, by CMake. Under MPI, each program runs on
//! several numbers of ranks with both of Debian's MPI libraries.

pub(crate) mod consumers;
mod findings;
pub(crate) mod footprint;
mod golden;
pub(crate) mod instrumented;
pub(crate) mod programs;
mod subproject;
pub(crate) mod symbols;

use std::path::Path;

use checkout::workspace::target;

use consumers::Consumers;

use crate::commands::Result;
use crate::files::{empty, remove};
use crate::libraries::{MPI_LIBRARIES, prefix};
use crate::setup;
use crate::steps::Steps;

/// Runs the stage.
pub(crate) fn c(steps: &mut Steps) -> Result {
    setup::install_compilers();
    let folder = target()?.join("c");
    empty(&folder)?;
    check(steps, &folder)?;
    // A gigabyte of programs, which is of no use if all passed.
    Ok(remove(&folder)?)
}

/// Builds programs in a folder and runs them.
fn check(steps: &mut Steps, folder: &Path) -> Result {
    golden::write(steps, folder)?;
    let prefix = prefix(steps)?;
    symbols::check(steps, &prefix)?;
    Consumers::of(&prefix, folder, None).check(steps)?;
    steps.part(|steps| subproject::check(steps, &folder.join("subproject")))?;
    if !steps.mpi {
        return Ok(());
    }
    steps.with_each_library(|steps, library| {
        Consumers::of(&prefix, folder, Some(library)).check(steps)?;
        if library == MPI_LIBRARIES[0] {
            steps.part(|steps| footprint::check(steps, &prefix, folder))?;
        }
        Ok(())
    })
}
