//! The MPI libraries and numbers of ranks of steps, and the installed treefold that they share.

use std::fs;
use std::path::PathBuf;

use checkout::workspace::target;
use launch::Installation;

use crate::commands::{Result, with_rust_alone, words};
use crate::files;
use crate::setup;
use crate::steps::Steps;
use crate::tests;

/// Debian's MPI libraries, by the suffixes of their compiler wrappers.
pub(crate) const MPI_LIBRARIES: [&str; 2] = ["openmpi", "mpich"];

/// The numbers of ranks for a library; each number is used with one of the two. MPICH's ranks wait busily, and if
/// there are more of them than cores, most programs take minutes.
pub(crate) fn ranks_of(library: &str) -> &'static [usize] {
    match library {
        "mpich" => &[2],
        _ => &[1, 3, 5],
    }
}

impl Steps {
    /// Runs steps with another MPI library than the selected one.
    pub(crate) fn with_library(
        &mut self,
        name: &str,
        run: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let installation = Installation::find(Some(name), None)?;
        setup::install(&installation)?;
        self.with_installation(installation, run)
    }

    /// Runs steps with each of Debian's libraries.
    pub(crate) fn with_each_library(
        &mut self,
        mut run: impl FnMut(&mut Self, &'static str) -> Result,
    ) -> Result {
        let mut libraries = MPI_LIBRARIES.into_iter();
        libraries.try_for_each(|name| self.with_library(name, |steps| run(steps, name)))
    }
}

/// The folder of the installation, with spaces, as users may have.
const PREFIX: &str = "for all libraries";

/// A prefix with treefold. Building it takes minutes, so the stages of a run share it: the first one that needs it installs it,
/// and moves it, since nothing in it may depend on its location.
pub(crate) fn prefix(steps: &mut Steps) -> Result<PathBuf> {
    let install = |steps: &mut Steps| {
        let folder = target()?.join("prefixes");
        let (before, prefix) = (folder.join("before"), folder.join(PREFIX));
        files::remove(&before)?;
        files::remove(&prefix)?;
        let mut install = tests::xtask(steps, words!["install --prefix", before])?;
        if !steps.mpi {
            install.arg("--no-mpi");
        }
        steps.build("install", with_rust_alone(&mut install))?;
        fs::rename(&before, &prefix)?;
        Ok(prefix)
    };
    steps.once(|run| &run.prefix, install)
}
