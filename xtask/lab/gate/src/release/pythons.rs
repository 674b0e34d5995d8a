//! Tests the wheel with the Pythons of this machine: supported ones, and one that is too old.

use std::env;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use checkout::workspace::target;

use super::{PYTEST, VERSION};
use crate::commands::{Result, Stop, command, run, succeeds};
use crate::files::{empty, listed, name, read, write};
use crate::python::{package_tests, sources};
use crate::setup;
use crate::steps::Steps;

/// The minor versions of Python 3 to test.
const MINORS: RangeInclusive<u32> = 10..=15;

/// The version before them, which is too old.
const TOO_OLD: u32 = 9;

/// The packages that the tests need.
pub(super) const NEEDED: &str = "cffi numpy pytest";

/// Tests the wheel in each version that is installed.
pub(super) fn try_all(steps: &mut Steps, dist: &Path) -> Result {
    let folder = target()?.join("dist");
    let found: Vec<(u32, PathBuf)> = MINORS
        .filter_map(|minor| Some((minor, python(minor)?)))
        .collect();
    if found.is_empty() {
        println!("skipped: no Python from 3.10 on");
    }
    for (minor, python) in found {
        let name = format!("Python 3.{minor}");
        let fresh = folder.join(format!("python3.{minor}"));
        environment(
            steps,
            &format!("{name}: what tests need"),
            &python,
            &fresh,
            NEEDED,
        )?;
        let pip = fresh.join("bin/pip");
        let words = "install --quiet --no-index --only-binary :all: --find-links";
        let install = command!(pip, words, dist, "treefold");
        steps.step(format!("{name}: the wheel"), install)?;
        run_tests(steps, &format!("{name}: tests"), &fresh)?;
    }
    let python = python(TOO_OLD)
        .ok_or_else(|| Stop::Skipped(format!("no Python 3.{TOO_OLD}, which is too old")))?;
    let index = folder.join("index");
    empty(&index)?;
    steps.check(format!("Python 3.{TOO_OLD} is too old"), || {
        refused(&python, dist, &index)
    })
}

/// Creates a fresh environment with packages from the registry.
pub(super) fn environment(
    steps: &mut Steps,
    step: &str,
    python: &Path,
    folder: &Path,
    packages: &str,
) -> Result {
    empty(folder)?;
    steps.check(step, || {
        setup::install_from_pypi(python, packages, folder)?;
        Ok(packages.to_owned())
    })
}

/// Runs the package's tests in such an environment.
pub(super) fn run_tests(steps: &mut Steps, step: &str, folder: &Path) -> Result {
    let mut tests = command!(folder.join("bin/python"), PYTEST, package_tests());
    steps.step(step, tests.current_dir(folder))
}

/// pip's message in a Python that is too old, with a registry that has the release. For a wheel alone it would only say that there is none; the
/// sdist's link makes it name the Python version.
fn refused(python: &Path, dist: &Path, index: &Path) -> Result<String> {
    let project = read(&sources().join("pyproject.toml"))?;
    let mut lines = project.lines();
    let required = lines.find_map(|line| line.strip_prefix("requires-python = \""));
    let required = required.ok_or("no Python is required")?;
    let required = required.trim_end_matches('"');
    let mut links = String::new();
    for file in listed(dist)? {
        let (path, name) = (file.display(), name(&file));
        if name.ends_with(".whl") || name.ends_with(".gz") {
            let escaped = required.replace('>', "&gt;");
            links += &format!("<a href=\"{path}\" data-requires-python=\"{escaped}\">{name}</a>\n");
        }
    }
    write(&index.join("treefold/index.html"), links)?;
    let words = "-m pip download --no-deps treefold --dest";
    let address = format!("file://{}", index.display());
    let captured = run(command!(python, words, index, "--index-url", address))?;
    let expected = format!("{VERSION} Requires-Python {required}");
    let mut lines = captured.errors.lines();
    let line = lines.find(|line| line.ends_with(&expected));
    match line {
        Some(line) if !captured.status.success() => Ok(line.to_owned()),
        _ => Err(format!("pip says {}", captured.errors).into()),
    }
}

/// An interpreter, on PATH or from pyenv.
fn python(minor: u32) -> Option<PathBuf> {
    let name = format!("python3.{minor}");
    let versions = env::var_os("PYENV_ROOT").map(|root| PathBuf::from(root).join("versions"));
    let folders = versions.and_then(|versions| listed(&versions).ok());
    let own = folders.into_iter().flatten();
    let own = own.map(|folder| folder.join("bin").join(&name));
    let mut all = [PathBuf::from(&name)].into_iter().chain(own);
    all.find(|program| succeeds(command!(program, "--version")))
}
