//! The sources of the package for Python, with all that they are built of: `pip` builds it without a network where maturin and numpy are.

use std::fs;
use std::path::Path;
use std::process::Command;

use checkout::workspace::{REPOSITORY, target};
use launch::Error;
use launch::installed::runs;

use super::tarball::{is_in, member_manifest, root_manifest, without_network};
use super::tools::path_from;
use super::{VERSION, empty, listed, read, vendored, without_empty_address, write};
use crate::python::environment::Environment;
use crate::python::{add_tests, sources};
use crate::setup;
use crate::steps::{Steps, Stop};

/// What its manifest names: where maturin puts what the package is built of.
const MEMBERS: [&str; 5] = [
    "crates/*",
    "bindings/c",
    "bindings/c-mpi",
    "bindings/polars",
    "bindings/python",
];

/// Where these members are.
const FOLDERS: [&str; 2] = ["bindings", "crates"];

/// What maturin adds for the tests of members.
const OF_TESTS: &str = "xtask";

/// What has to be there where it is built, and for the tests.
const NEEDED: [&str; 4] = ["cffi", "maturin", "numpy", "pytest"];

/// Makes it, and builds from it alone.
pub(super) fn make(steps: &mut Steps, environment: &Environment, dist: &Path) -> Result<(), Stop> {
    let name = format!("treefold-{VERSION}");
    let folder = target()?.join("dist/sdist");
    let (made, parts) = (folder.join("made"), folder.join("parts"));
    empty(&made)?;
    empty(&parts)?;
    let mut make = environment.program("maturin");
    make.args(["sdist", "--out"]).arg(&made);
    make.env("CARGO_TERM_QUIET", "true");
    steps.step("the sdist", make.current_dir(sources()))?;
    let file = format!("{name}.tar.gz");
    let mut unpack = Command::new("tar");
    unpack
        .arg("-xzf")
        .arg(made.join(&file))
        .arg("-C")
        .arg(&parts);
    steps.step("its parts", &mut unpack)?;

    let tree = parts.join(&name);
    let of_tests = tree.join(OF_TESTS);
    fs::remove_dir_all(&of_tests).map_err(|error| Stop::Error(Error::file(&of_tests, error)))?;
    for members in FOLDERS {
        prune(&tree.join(members))?;
    }
    let manifest = tree.join("Cargo.toml");
    let text = root_manifest(&read(&manifest)?, &MEMBERS);
    write(&manifest, text)?;
    describe(&tree)?;
    vendored::complete(steps, &tree)?;

    let file = dist.join(file);
    let mut pack = Command::new("tar");
    pack.args("--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -czf".split(' '));
    pack.arg(&file).arg("-C").arg(&parts).arg(&name);
    steps.step("with what it is built of", &mut pack)?;
    build_from(steps, &file, &folder.join("tried"))
}

/// Leaves out the address of a repository while there is none.
fn describe(tree: &Path) -> Result<(), Stop> {
    if !REPOSITORY.is_empty() {
        return Ok(());
    }
    let told = tree.join("PKG-INFO");
    write(&told, without_empty_address(&read(&told)?))?;
    let project = tree.join("pyproject.toml");
    let text = read(&project)?.replace("dynamic = [\"urls\", ", "dynamic = [");
    write(&project, text)?;
    Ok(())
}

/// Removes tests and what they need from the members in a folder.
fn prune(folder: &Path) -> Result<(), Stop> {
    for path in listed(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let failed = |error| Stop::Error(Error::file(&path, error));
        if path.is_dir() && is_in(&name) {
            prune(&path)?;
        } else if path.is_dir() {
            fs::remove_dir_all(&path).map_err(failed)?;
        } else if name == "Cargo.toml" {
            write(&path, member_manifest(&read(&path)?))?;
        }
    }
    Ok(())
}

/// Installs it without a network where nothing is but what it needs, and runs the tests.
fn build_from(steps: &mut Steps, file: &Path, fresh: &Path) -> Result<(), Stop> {
    if !runs("unshare") {
        println!("skipped: building from the sdist, for want of unshare");
        return Ok(());
    }
    empty(fresh)?;
    steps.check("what the sdist needs", || {
        let installed = setup::install_from_pypi(Path::new("python3"), &NEEDED, fresh);
        installed.map(|()| NEEDED.join(", "))
    })?;
    let programs = fresh.join("bin");
    let mut install = without_network(&fresh.join("cargo-home"));
    install.arg(programs.join("pip"));
    install.args(["install", "--quiet", "--no-build-isolation", "--no-index"]);
    install.arg(file).env("PATH", path_from(&programs)?);
    steps.step("the sdist without a network", install.current_dir(fresh))?;
    let mut tests = Command::new(programs.join("python"));
    tests.args("-m pytest --quiet -p no:cacheprovider".split_whitespace());
    add_tests(&mut tests);
    steps.step("tests of what it became", tests.current_dir(fresh))
}
