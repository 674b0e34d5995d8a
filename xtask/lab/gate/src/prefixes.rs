//! A prefix with an installed treefold. Building it takes minutes, so that the stages of one run share it.

use std::fs;
use std::path::{Path, PathBuf};

use checkout::workspace::{target, workspace};
use launch::Error;

use super::steps::{Steps, Stop};
use super::tests;

/// Debian's MPI libraries, by the names that also end those of their compiler wrappers.
pub(super) const MPI_LIBRARIES: [&str; 2] = ["openmpi", "mpich"];

/// The folder of the installation, with spaces, as people's have.
const NAME: &str = "for all libraries";

/// A prefix with treefold: installed by the first stage that asks for it.
pub(super) fn prefix(steps: &mut Steps) -> Result<PathBuf, Stop> {
    let folder = target()?.join("prefixes");
    steps.prefix(|steps| install(steps, &folder))
}

/// Installs to a prefix, and moves it: nothing in it may depend on where it was.
fn install(steps: &mut Steps, folder: &Path) -> Result<PathBuf, Stop> {
    let (before, prefix) = (folder.join("before"), folder.join(NAME));
    for old in [&before, &prefix] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(|error| Stop::Error(Error::file(old, error)))?;
        }
    }
    let mut install = tests::xtask(steps)?;
    install.current_dir(workspace());
    install.arg("install").arg("--prefix").arg(&before);
    if !steps.mpi() {
        install.arg("--no-mpi");
    }
    // It needs Rust alone.
    for variable in ["MPICC", "PKG_CONFIG", "LIBCLANG_PATH"] {
        install.env(variable, "/nowhere");
    }
    steps.build("install", &mut install)?;
    fs::rename(&before, &prefix).map_err(|error| Stop::Error(Error::file(&prefix, error)))?;
    Ok(prefix)
}
