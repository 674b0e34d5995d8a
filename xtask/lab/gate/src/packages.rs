//! Packages the members that go to crates.io.

use std::env;
use std::path::PathBuf;

use checkout::workspace::{published_members, workspace};

use crate::commands::Result;
use crate::files::{listed, remove};
use crate::steps::Steps;

/// The member that needs an MPI library to build; stage `rsmpi` builds it.
const OF_ONE_LIBRARY: &str = "treefold-rsmpi";

/// The folder where cargo builds each member from its package alone.
const BUILT: &str = "target/packages";

/// Checks that every member can be packaged.
pub(crate) fn packages(steps: &mut Steps) -> Result {
    let words = packaging(&published_members()?);
    steps.cargo("packages", &format!("{words} --no-verify"))
}

/// Builds each member from its package alone.
pub(crate) fn packages_verified(steps: &mut Steps) -> Result {
    let members = built_members()?;
    // Cargo does not unpack or rebuild a package with the same version, even if its contents changed.
    remove(&workspace().join(BUILT))?;
    forget_unpacked(&members)?;
    let words = packaging(&members);
    steps.cargo(
        "packages, each built",
        &format!("{words} --target-dir {BUILT}"),
    )
}

/// The files that [`packages_verified`] creates.
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

/// Removes packages that cargo unpacked earlier.
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

/// Cargo's arguments: one command for all, since they depend on each other and are not on crates.io yet. The gate also runs before a commit,
/// hence `--allow-dirty`.
fn packaging(members: &[String]) -> String {
    let chosen = members.iter().map(|name| format!(" --package {name}"));
    format!("package --allow-dirty{}", chosen.collect::<String>())
}
