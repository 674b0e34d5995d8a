//! The stage `c`: the libraries are installed, and programs in C, C++ and Fortran are built against them as users build theirs, and run.
//!
//! C is compiled with what pkg-config says; C++ and Fortran, and C with the static libraries, by CMake. Under MPI, each program runs on
//! several numbers of ranks of both of Debian's MPI libraries.

pub(super) mod consumers;
mod findings;
pub(crate) mod footprint;
mod golden;
pub(super) mod instrumented;
pub(crate) mod pkg_config;
pub(super) mod programs;
mod subproject;
pub(super) mod symbols;

use std::fs;
use std::path::Path;

use checkout::workspace::{target, workspace};
use launch::Error;

use consumers::Consumers;

use super::libraries::with_library;
use super::prefixes::{self, MPI_LIBRARIES};
use super::setup;
use super::steps::{Steps, Stop};

/// Runs the stage.
pub(super) fn c(steps: &mut Steps) -> Result<(), Stop> {
    setup::install_compilers();
    let folder = target()?.join("c");
    let failed = |error| Stop::Error(Error::file(&folder, error));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    check(steps, &folder)?;
    // It has a gigabyte of programs, which nobody looks at if all passed.
    fs::remove_dir_all(&folder).map_err(failed)
}

/// Builds programs in a folder, and runs them.
fn check(steps: &mut Steps, folder: &Path) -> Result<(), Stop> {
    let golden = folder.join("golden.txt");
    steps.check("golden vectors as lines of words", || {
        golden::write(&golden)
    })?;
    let bytes = folder.join("bytes.txt");
    steps.check("golden vectors of bytes as lines of words", || {
        golden::write_bytes(&bytes)
    })?;

    let package = workspace().join("bindings/c");
    let prefix = prefixes::prefix(steps)?;
    let mpi_package = workspace().join("bindings/c-mpi");
    let headers = [
        package.join("include/treefold.h"),
        mpi_package.join("include/treefold_mpi.h"),
    ];
    symbols::check(steps, &prefix, "libtreefold", &headers)?;
    let headers = [mpi_package.join("include/binary_tree_summation.h")];
    symbols::check(steps, &prefix, "libtreefold_reprored", &headers)?;
    symbols::check_names(steps, &prefix)?;
    let consumers = Consumers {
        package: &package,
        prefix: &prefix,
        build: &folder.join("local"),
        golden: &bytes,
        mpi: None,
    };
    consumers.check(steps)?;
    subproject::check(steps, &folder.join("subproject"))?;

    if !steps.mpi() {
        return Ok(());
    }
    for library in MPI_LIBRARIES {
        with_library(steps, library, |steps| {
            let consumers = Consumers {
                package: &mpi_package,
                prefix: &prefix,
                build: &folder.join(library),
                golden: &golden,
                mpi: Some(library),
            };
            consumers.check(steps)?;
            if library == MPI_LIBRARIES[0] {
                footprint::check(steps, &prefix, folder)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}
