//! The sdist of the Python package with all dependencies: `pip` builds it without a network if maturin and numpy are installed.

use std::path::Path;

use checkout::workspace::{REPOSITORY, target};

use super::pythons::{environment as fresh_environment, run_tests};
use super::sources::{is_in, member_manifest, pack, root_manifest, without_network};
use super::{VERSION, without_empty_address};
use crate::commands::{Result, command, first_of, words};
use crate::files::{edit, empty, listed, name, remove};
use crate::python::environment::Environment;
use crate::python::sources;
use crate::setup::needs;
use crate::steps::Steps;

/// The folder in which maturin puts dependencies, as in the manifest.
const MEMBERS: [&str; 5] = [
    "crates/*",
    "bindings/c",
    "bindings/c-mpi",
    "bindings/polars",
    "bindings/python",
];

/// The folders of these members.
const FOLDERS: [&str; 2] = ["bindings", "crates"];

/// Files that maturin adds for members' tests.
const OF_TESTS: &str = "xtask";

/// The packages needed for the build and for the tests.
const NEEDED: &str = "cffi maturin numpy pytest";

/// Creates it, and builds only from it.
pub(super) fn make(steps: &mut Steps, environment: &Environment, dist: &Path) -> Result {
    let name = format!("treefold-{VERSION}");
    let folder = target()?.join("dist/sdist");
    let (made, parts) = (folder.join("made"), folder.join("parts"));
    empty(&made)?;
    empty(&parts)?;
    let mut make = environment.program("maturin", words!["sdist --out", made]);
    make.env("CARGO_TERM_QUIET", "true").current_dir(sources());
    steps.step("the sdist", make)?;
    let file = format!("{name}.tar.gz");
    let unpack = command!("tar -xzf", made.join(&file), "-C", parts);
    steps.step("its parts", unpack)?;

    let tree = parts.join(&name);
    remove(&tree.join(OF_TESTS))?;
    for members in FOLDERS {
        prune(&tree.join(members))?;
    }
    edit(&tree.join("Cargo.toml"), |text| {
        root_manifest(text, &MEMBERS)
    })?;
    // The address is omitted while there is none.
    if REPOSITORY.is_empty() {
        edit(&tree.join("PKG-INFO"), without_empty_address)?;
        edit(&tree.join("pyproject.toml"), |text| {
            text.replace("dynamic = [\"urls\", ", "dynamic = [")
        })?;
    }
    let file = dist.join(file);
    pack(steps, &parts, &name, &file)?;
    steps.part(|steps| build_from(steps, &file, &folder.join("tried")))
}

/// Removes tests and their files from the members in a folder.
fn prune(folder: &Path) -> Result {
    for path in listed(folder)? {
        let name = name(&path);
        if path.is_dir() && is_in(&name) {
            prune(&path)?;
        } else if path.is_dir() {
            remove(&path)?;
        } else if name == "Cargo.toml" {
            edit(&path, member_manifest)?;
        }
    }
    Ok(())
}

/// Installs it without a network in a minimal environment, and runs the tests.
fn build_from(steps: &mut Steps, file: &Path, fresh: &Path) -> Result {
    needs("building from the sdist", &["unshare"])?;
    let python = Path::new("python3");
    fresh_environment(steps, "what the sdist needs", python, fresh, NEEDED)?;
    let programs = fresh.join("bin");
    let mut install = without_network(&fresh.join("cargo-home"));
    let words = "install --quiet --no-build-isolation --no-index";
    install.args(words![programs.join("pip"), words, file]);
    install.env("PATH", first_of("PATH", &programs));
    steps.step("the sdist without a network", install.current_dir(fresh))?;
    run_tests(steps, "tests of what it became", fresh)
}
