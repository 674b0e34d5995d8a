//! The members that are for crates.io, as packages.

use checkout::workspace::published_members;

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
    let words = packaging(&built_members()?);
    steps.cargo("packages, each built", &words)
}

/// The members that [`packages_verified`] builds.
pub(super) fn built_members() -> Result<Vec<String>, Stop> {
    let mut members = published_members()?;
    members.retain(|name| name != OF_ONE_LIBRARY);
    Ok(members)
}

/// What cargo is told: in one command, since they are not on crates.io yet and depend on each other. The gate also runs before a commit,
/// hence `--allow-dirty`.
fn packaging(members: &[String]) -> String {
    let chosen = members.iter().map(|name| format!(" --package {name}"));
    format!("package --allow-dirty{}", chosen.collect::<String>())
}
