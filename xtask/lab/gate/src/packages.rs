//! The members that are for crates.io, as packages.

use std::env;
use std::fs;
use std::path::PathBuf;

use checkout::workspace::published_members;
use harness::Error;

use super::steps::{Steps, Stop};

/// The one that needs an MPI library to be built: stage `rsmpi` does.
const OF_ONE_LIBRARY: &str = "treefold-rsmpi";

/// Whether every member can be packaged.
pub(super) fn packages(steps: &mut Steps) -> Result<(), Stop> {
    let words = packaging(&published_members()?);
    steps.cargo("packages", &format!("{words} --no-verify"))
}

/// Builds each from its package alone.
pub(super) fn packages_verified(steps: &mut Steps) -> Result<(), Stop> {
    let members = built_members()?;
    forget_unpacked(&members)?;
    let words = packaging(&members);
    steps.cargo("packages, each built", &words)
}

/// The members that [`packages_verified`] builds.
pub(super) fn built_members() -> Result<Vec<String>, Stop> {
    let mut members = published_members()?;
    members.retain(|name| name != OF_ONE_LIBRARY);
    Ok(members)
}

/// Removes what cargo has unpacked of these packages before: it would take that for the packages of now, whose version is the same.
fn forget_unpacked(members: &[String]) -> Result<(), Stop> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let sources = home.unwrap_or_default().join("registry/src");
    for registry in fs::read_dir(&sources).into_iter().flatten().flatten() {
        for member in members {
            let unpacked = registry
                .path()
                .join(format!("{member}-{}", env!("CARGO_PKG_VERSION")));
            if unpacked.is_dir() {
                let removed = fs::remove_dir_all(&unpacked);
                removed.map_err(|error| Stop::Error(Error::file(&unpacked, error)))?;
            }
        }
    }
    Ok(())
}

/// What cargo is told: in one command, since they are not on crates.io yet and depend on each other. The gate also runs before a commit,
/// hence `--allow-dirty`.
fn packaging(members: &[String]) -> String {
    let chosen = members.iter().map(|name| format!(" --package {name}"));
    format!("package --allow-dirty{}", chosen.collect::<String>())
}
