//! The wheel in the Pythons of this machine: those that it is for, and one that is too old.

use std::env;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::workspace::target;

use super::{VERSION, empty, listed, read, write};
use crate::python::{add_tests, sources};
use crate::setup;
use crate::steps::{Steps, Stop};

/// The minor versions of Python 3 that are looked for.
const MINORS: RangeInclusive<u32> = 10..=15;

/// The one before them.
const TOO_OLD: u32 = 9;

/// What the tests need, from the registry.
const NEEDED: [&str; 3] = ["cffi", "numpy", "pytest"];

/// Tries it in each that is found.
pub(super) fn try_all(steps: &mut Steps, dist: &Path) -> Result<(), Stop> {
    let folder = target()?.join("dist");
    let found: Vec<(u32, PathBuf)> = MINORS
        .filter_map(|minor| Some((minor, python(minor)?)))
        .collect();
    if found.is_empty() {
        println!("skipped: no Python from 3.10 on");
    }
    for (minor, python) in found {
        try_in(steps, minor, &python, dist, &folder)?;
    }
    let Some(python) = python(TOO_OLD) else {
        println!("skipped: no Python 3.{TOO_OLD}, which is too old");
        return Ok(());
    };
    let index = folder.join("index");
    empty(&index)?;
    steps.check(&format!("Python 3.{TOO_OLD} is too old"), || {
        refused(&python, dist, &index)
    })
}

/// Installs the wheel without the registry in a fresh environment of a Python, and runs the tests there.
fn try_in(
    steps: &mut Steps,
    minor: u32,
    python: &Path,
    dist: &Path,
    folder: &Path,
) -> Result<(), Stop> {
    let name = format!("Python 3.{minor}");
    let fresh = folder.join(format!("python3.{minor}"));
    empty(&fresh)?;
    steps.check(&format!("{name}: what tests need"), || {
        let installed = setup::install_from_pypi(python, &NEEDED, &fresh);
        installed.map(|()| NEEDED.join(", "))
    })?;
    let mut install = Command::new(fresh.join("bin/pip"));
    install.args(["install", "--quiet", "--no-index", "--only-binary", ":all:"]);
    install.arg("--find-links").arg(dist).arg("treefold");
    steps.step(&format!("{name}: the wheel"), &mut install)?;
    let mut tests = Command::new(fresh.join("bin/python"));
    tests.args("-m pytest --quiet -p no:cacheprovider".split_whitespace());
    add_tests(&mut tests);
    steps.step(&format!("{name}: tests"), tests.current_dir(&fresh))
}

/// What pip says in a Python that is too old, of a registry that has the release. Of a wheel it would only say that there is none: it is the
/// sdist's link that makes it name the Python.
fn refused(python: &Path, dist: &Path, index: &Path) -> Result<String, String> {
    let folder = index.join("treefold");
    let project = read(&sources().join("pyproject.toml")).map_err(|error| error.to_string())?;
    let mut lines = project.lines();
    let required = lines.find_map(|line| line.strip_prefix("requires-python = \""));
    let required = required.ok_or("no Python is required")?;
    let required = required.trim_end_matches('"');
    let files = listed(dist).map_err(|_: Stop| "the release cannot be read".to_owned())?;
    let is_for_pip = |file: &&PathBuf| {
        let end = file.extension().unwrap_or_default();
        end == "whl" || end == "gz"
    };
    let link = |file: &PathBuf| {
        let (path, name) = (file.display(), file.file_name().unwrap_or_default());
        let name = name.to_string_lossy();
        let escaped = required.replace('>', "&gt;");
        format!("<a href=\"{path}\" data-requires-python=\"{escaped}\">{name}</a>\n")
    };
    let links: String = files.iter().filter(is_for_pip).map(link).collect();
    write(&folder.join("index.html"), links).map_err(|error| error.to_string())?;
    let mut install = Command::new(python);
    install.args(["-m", "pip", "download", "--no-deps", "--dest"]);
    install.arg(index).arg("--index-url");
    install.arg(format!("file://{}", index.display()));
    let output = install.arg("treefold").output();
    let output = output.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = format!("{VERSION} Requires-Python {required}");
    let line = said.lines().find(|line| line.ends_with(&expected));
    match line {
        Some(line) if !output.status.success() => Ok(line.to_owned()),
        _ => Err(format!("pip says {said}")),
    }
}

/// An interpreter, on PATH or one of pyenv's.
fn python(minor: u32) -> Option<PathBuf> {
    let name = format!("python3.{minor}");
    let runs = |program: &PathBuf| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let on_path = PathBuf::from(&name);
    if runs(&on_path) {
        return Some(on_path);
    }
    let versions = PathBuf::from(env::var_os("PYENV_ROOT")?).join("versions");
    let folders = fs::read_dir(versions).ok()?;
    let programs = folders.filter_map(|entry| Some(entry.ok()?.path().join("bin").join(&name)));
    programs.into_iter().find(runs)
}
