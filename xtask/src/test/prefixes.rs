//! Prefixes with an installed treefold. Building them takes minutes, so that the stages of one run share them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::Error;
use harness::workspace::{target, workspace};

use super::steps::{Steps, Stop};

/// Debian's MPI libraries by the names that also end those of their compiler wrappers; and folders for what is installed for them, with
/// spaces, as people's have.
pub(super) const MPI_LIBRARIES: [(&str, &str); 2] =
    [("openmpi", "for Open MPI"), ("mpich", "for MPICH")];

/// The folder for what is installed without MPI.
const WITHOUT_MPI: &str = "without MPI";

/// A prefix with treefold for one of these MPI libraries, or without MPI: installed by the first stage that asks for it.
pub(super) fn prefix_of(steps: &mut Steps, mpi: Option<&'static str>) -> Result<PathBuf, Stop> {
    if let Some(prefix) = steps.prefix(mpi) {
        return Ok(prefix.to_owned());
    }
    let name = match mpi {
        None => WITHOUT_MPI,
        Some(library) => folder_name(library),
    };
    let folder = target().map_err(Stop::Error)?.join("prefixes");
    let prefix = install(steps, &folder, name, mpi)?;
    steps.note_prefix(mpi, prefix.clone());
    Ok(prefix)
}

fn folder_name(library: &str) -> &'static str {
    let mut libraries = MPI_LIBRARIES.iter();
    let found = libraries.find(|(name, _)| *name == library);
    let (_, folder) = found.expect("stages name libraries of the list");
    folder
}

/// Installs to a prefix, and moves it: nothing in it may depend on where it was.
fn install(
    steps: &mut Steps,
    folder: &Path,
    name: &str,
    mpi: Option<&str>,
) -> Result<PathBuf, Stop> {
    let (before, prefix) = (folder.join(format!("{name}, before")), folder.join(name));
    for old in [&before, &prefix] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(|error| Stop::Error(Error::file(old, error)))?;
        }
    }
    let own = env::current_exe().map_err(|error| Stop::Error(Error::Run(error.to_string())))?;
    let mut install = Command::new(own);
    install.current_dir(workspace());
    install.arg("install").arg("--prefix").arg(&before);
    if let Some(mpi) = mpi {
        install.args(["--mpi", mpi]);
    }
    steps.step(&format!("install {name}"), &mut install)?;
    fs::rename(&before, &prefix).map_err(|error| Stop::Error(Error::file(&prefix, error)))?;
    Ok(prefix)
}
