//! A project that builds treefold as a part of itself, by CMake's FetchContent.

use std::path::Path;
use std::process::Command;

use checkout::workspace::workspace;

use super::consumers::lacking;
use crate::libraries::with_library;
use crate::prefixes::MPI_LIBRARIES;
use crate::steps::{Steps, Stop};

/// Its programs of one process.
const PROGRAMS: [&str; 4] = ["shared", "static", "cpp", "fortran"];

/// The program of ranks, and on how many it runs.
const ON_RANKS: (&str, usize) = ("ranks", 2);

/// Configures, builds and runs it. Cargo finds in the target folder what an installation has built before.
pub(super) fn check(steps: &mut Steps, build: &Path) -> Result<(), Stop> {
    if let Some(lacking) = lacking(&["cmake", "make", "cc", "c++", "gfortran"]) {
        println!("skipped: a project that builds treefold, for want of {lacking}");
        return Ok(());
    }
    let mut configure = Command::new("cmake");
    configure.arg("-S");
    configure.arg(workspace().join("bindings/c/tests/subproject"));
    configure.arg("-B").arg(build);
    configure.arg(format!("-DTREEFOLD={}", workspace().display()));
    if steps.mpi() {
        configure.arg(format!("-DMPI_C_COMPILER=mpicc.{}", MPI_LIBRARIES[0]));
    } else {
        configure.arg("-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON");
    }
    steps.build("as a part of a project: cmake and cargo", &mut configure)?;
    let mut make = Command::new("cmake");
    make.arg("--build").arg(build).args(["--parallel", "2"]);
    steps.build("as a part of a project: cmake builds", &mut make)?;
    for program in PROGRAMS {
        let mut command = Command::new(build.join(program));
        steps.step(&format!("as a part of a project: {program}"), &mut command)?;
    }
    if !steps.mpi() {
        return Ok(());
    }
    with_library(steps, MPI_LIBRARIES[0], |steps| {
        let (program, ranks) = ON_RANKS;
        let mut command = steps.installation().command(ranks, &build.join(program));
        let step = format!("as a part of a project: {program}, p = {ranks}");
        steps.step(&step, &mut command)
    })
}
