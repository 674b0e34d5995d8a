//! The members that are for crates.io, as packages.

use std::env;
use std::path::PathBuf;

use checkout::workspace::{published_members, workspace};

use crate::commands::Result;
use crate::files::{listed, remove};
use crate::steps::Steps;

/// The one that needs an MPI library to be built: stage `rsmpi` does.
const OF_ONE_LIBRARY: &str = "treefold-rsmpi";

/// Where cargo builds each from its package alone.
const BUILT: &str = "target/packages";

/// Whether every member can be packaged.
pub(crate) fn packages(steps: &mut Steps) -> Result {
    let words = packaging(&published_members()?);
    steps.cargo("packages", &format!("{words} --no-verify"))
}

/// Builds each from its package alone.
pub(crate) fn packages_verified(steps: &mut Steps) -> Result {
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

/// The files that [`packages_verified`] makes.
pub(crate) fn built() -> Result<Vec<PathBuf>> {
    let folder = workspace().join(BUILT).join("package");
    let version = env!("CARGO_PKG_VERSION");
    let members = built_members()?.into_iter();
    Ok(members
        .map(|member| folder.join(format!("{member}-{version}.crate")))
        .collect())
}

fn built_members() -> Result<Vec<String>> {
    let mut members = published_members()?;
    members.retain(|name| name != OF_ONE_LIBRARY);
    Ok(members)
}

/// Removes what cargo has unpacked of packages before.
fn forget_unpacked(members: &[String]) -> Result {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let sources = home.unwrap_or_default().join("registry/src");
    // There may be none yet.
    for registry in listed(&sources).unwrap_or_default() {
        for member in members {
            let name = format!("{member}-{}", env!("CARGO_PKG_VERSION"));
            remove(&registry.join(name))?;
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
