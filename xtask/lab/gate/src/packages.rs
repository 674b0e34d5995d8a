//! The members that are for crates.io, as packages.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use checkout::workspace::{published_members, workspace};
use launch::Error;

use super::steps::{Steps, Stop};

/// The one that needs an MPI library to be built: stage `rsmpi` does.
const OF_ONE_LIBRARY: &str = "treefold-rsmpi";

/// Whether every member can be packaged.
pub(super) fn packages(steps: &mut Steps) -> Result<(), Stop> {
    let words = packaging(&published_members()?);
    steps.cargo("packages", &format!("{words} --no-verify"))
}

/// Where cargo builds each from its package alone.
const BUILT: &str = "target/packages";

/// Builds each from its package alone.
pub(super) fn packages_verified(steps: &mut Steps) -> Result<(), Stop> {
    let members = built_members()?;
    // Cargo neither unpacks nor builds a package again whose version is the same, whatever is in it.
    remove(&workspace().join(BUILT))?;
    forget_unpacked(&members)?;
    let words = packaging(&members);
    steps.cargo(
        "packages, each built",
        &format!("{words} --target-dir {BUILT}"),
    )
}

/// The folder in which they are then.
pub(super) fn built() -> PathBuf {
    workspace().join(BUILT).join("package")
}

/// The members that [`packages_verified`] builds.
pub(super) fn built_members() -> Result<Vec<String>, Stop> {
    let mut members = published_members()?;
    members.retain(|name| name != OF_ONE_LIBRARY);
    Ok(members)
}

/// Removes what cargo has unpacked of packages before.
fn forget_unpacked(members: &[String]) -> Result<(), Stop> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let sources = home.unwrap_or_default().join("registry/src");
    for registry in fs::read_dir(&sources).into_iter().flatten().flatten() {
        for member in members {
            let name = format!("{member}-{}", env!("CARGO_PKG_VERSION"));
            remove(&registry.path().join(name))?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<(), Stop> {
    if folder.is_dir() {
        fs::remove_dir_all(folder).map_err(|error| Stop::Error(Error::file(folder, error)))?;
    }
    Ok(())
}

/// What cargo is told: in one command, since they are not on crates.io yet and depend on each other. The gate also runs before a commit,
/// hence `--allow-dirty`.
fn packaging(members: &[String]) -> String {
    let chosen = members.iter().map(|name| format!(" --package {name}"));
    format!("package --allow-dirty{}", chosen.collect::<String>())
}
