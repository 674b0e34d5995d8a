//! Tests a project that builds treefold as a subproject, by CMake's FetchContent.

use std::path::Path;

use checkout::workspace::workspace;

use super::consumers::BY_CMAKE;
use crate::commands::{Result, command};
use crate::libraries::MPI_LIBRARIES;
use crate::setup::needs;
use crate::steps::Steps;

/// Its programs without ranks.
const PROGRAMS: [&str; 4] = ["shared", "static", "cpp", "fortran"];

/// The program of ranks, and its numbers of ranks.
const ON_RANKS: (&str, usize) = ("ranks", 2);

/// Configures, builds and runs it. Cargo reuses what an installation has built in the target folder.
pub(super) fn check(steps: &mut Steps, build: &Path) -> Result {
    needs("a project that builds treefold", &BY_CMAKE)?;
    let title = "as a part of a project";
    let treefold = format!("-DTREEFOLD={}", workspace().display());
    let mpi = if steps.mpi {
        format!("-DMPI_C_COMPILER=mpicc.{}", MPI_LIBRARIES[0])
    } else {
        "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON".to_owned()
    };
    let configure = "cmake -S bindings/c/tests/subproject -B";
    let configure = command!(configure, build, treefold, mpi);
    steps.build(format!("{title}: cmake and cargo"), configure)?;
    let make = command!("cmake --build", build, "--parallel 2");
    steps.build(format!("{title}: cmake builds"), make)?;
    for program in PROGRAMS {
        let step = format!("{title}: {program}");
        steps.step(step, command!(build.join(program)))?;
    }
    if !steps.mpi {
        return Ok(());
    }
    steps.with_library(MPI_LIBRARIES[0], |steps| {
        let (program, ranks) = ON_RANKS;
        let command = steps.installation.command(ranks, &build.join(program));
        steps.step(format!("{title}: {program}, p = {ranks}"), command)
    })
}
