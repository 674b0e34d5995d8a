//! The library that unchanged programs load, and the command that starts them.

use std::path::PathBuf;

use harness::Error;
use harness::workspace::{BuiltLibrary, workspace};

use super::Part;
use super::mpi::Mpi;
use super::prefix::{Kind, Prefix};
use super::template::{RUN, Values};

const PMPI: Part = Part {
    package: "treefold-pmpi",
    features: &["--features", "pmpi"],
    target: "treefold_pmpi",
    name: "treefold_pmpi",
    advice: "is MPI whole, with libclang?",
    templates: &[RUN],
};

/// The target folder in which it is built for an MPI library, and nothing else: crates that it shares with the others have a feature more
/// here.
pub(crate) fn folder(library: &str) -> PathBuf {
    workspace().join("target/pmpi").join(library)
}

/// Builds it.
pub(super) fn build(mpi: &Mpi) -> Result<BuiltLibrary, Error> {
    PMPI.build(mpi.cargo().env("CARGO_TARGET_DIR", folder(&mpi.name)))
}

/// Installs it, and last what starts programs with it.
pub(super) fn install(built: &BuiltLibrary, prefix: &Prefix, values: &Values) -> Result<(), Error> {
    PMPI.install_shared(built, prefix, values)?;
    for template in PMPI.templates {
        let text = template.fill(values);
        prefix.write(template.path, text.as_bytes(), Kind::Program)?;
    }
    Ok(())
}
