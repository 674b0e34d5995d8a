//! `cargo xtask release`: what people download is made in `dist/`, and tried there as they would use it. Nothing is published.

mod crates;
mod debian;
mod emulated;
mod licences;
mod pythons;
mod recipes;
mod sdist;
mod tarball;
mod tools;
mod vendored;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use checkout::workspace::workspace;
use launch::Error;

use super::steps::{Steps, Stop};

/// The version of all packages of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the stage.
pub(super) fn release(steps: &mut Steps) -> Result<(), Stop> {
    let dist = workspace().join("dist");
    let environment = tools::set_up()?;
    empty(&dist)?;
    crates::make(steps, &dist)?;
    debian::make(steps, &dist)?;
    tarball::make(steps, &dist)?;
    sdist::make(steps, &environment, &dist)?;
    wheel::make(steps, &environment, &dist)?;
    recipes::make(steps, &environment, &dist)?;
    steps.check("sizes", || sizes(&dist))
}

/// A folder with nothing in it.
fn empty(folder: &Path) -> Result<(), Stop> {
    let failed = |error| Stop::Error(Error::file(folder, error));
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

/// What lies in a folder, by name.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Stop> {
    let failed = |error| Stop::Error(Error::file(folder, error));
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(failed)?;
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::file(path, error))
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, content));
    written.map_err(|error| Error::file(path, error))
}

/// What maturin says of a package, without the line for an address that there is not.
fn without_empty_address(text: &str) -> String {
    text.replace("Project-URL: Source Code, \n", "")
}

/// The files of the release, with their sizes.
fn sizes(dist: &Path) -> Result<String, String> {
    let paths = listed(dist).map_err(|_| "the folder cannot be read".to_owned())?;
    let line = |path: &PathBuf| {
        let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(format!("\n  {:>7} kB  {name}", length.div_ceil(1000)))
    };
    let files = paths.iter().filter(|path| path.is_file());
    files.map(line).collect()
}
