//! The packages for crates.io, each built from itself alone.

use std::fs;
use std::path::Path;

use launch::Error;

use super::VERSION;
use crate::packages::{built, built_members, packages_verified};
use crate::steps::{Steps, Stop};

/// Makes them, and copies them to the release.
pub(super) fn make(steps: &mut Steps, dist: &Path) -> Result<(), Stop> {
    packages_verified(steps)?;
    let folder = built();
    for member in built_members()? {
        let name = format!("{member}-{VERSION}.crate");
        let package = folder.join(&name);
        let copied = fs::copy(&package, dist.join(&name));
        copied.map_err(|error| Stop::Error(Error::file(&package, error)))?;
    }
    Ok(())
}
