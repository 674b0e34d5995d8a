//! Tests the wheel with the Pythons of this machine: supported ones, and one that is too old. Tests the wheel for 64-bit ARM in an emulator,
//! with Debian's Python for ARM. Neither that Python nor binfmt needs to be installed.

use std::env;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use checkout::files::{empty, listed, make, name, read, with_extension, write};
use checkout::workspace::target;
use launch::installed::is_root;

use super::{PYTEST, VERSION};
use crate::python::{package_tests, sources};
use crate::{
    Environment, Result, Steps, Stop, aarch64, command, output, run, setup, succeeds, words,
};

/// The minor versions of Python 3 to test.
const MINORS: RangeInclusive<u32> = 10..=15;

/// The minor version before the tested ones, which is too old.
const TOO_OLD: u32 = 9;

/// The packages that the tests need.
pub(super) const NEEDED: &str = "cffi numpy pytest";

/// Tests the wheel in each version that is installed.
pub(super) fn try_all(steps: &mut Steps, dist: &Path) -> Result {
    let folder = target()?.join("dist");
    let found = MINORS.filter_map(|minor| Some((minor, python(minor)?)));
    let found: Vec<(u32, PathBuf)> = found.collect();
    if found.is_empty() {
        println!("skipped: no Python from 3.10 on");
    }
    for (minor, python) in found {
        let name = format!("Python 3.{minor}");
        let fresh = folder.join(format!("python3.{minor}"));
        let step = format!("{name}: what tests need");
        environment(steps, &step, &python, &fresh, NEEDED)?;
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
    let step = format!("Python 3.{TOO_OLD} is too old");
    steps.check(step, || refused(&python, dist, &index))
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

/// Runs the package's tests in the environment in this folder.
pub(super) fn run_tests(steps: &mut Steps, step: &str, folder: &Path) -> Result {
    let mut tests = command!(folder.join("bin/python"), PYTEST, package_tests());
    steps.step(step, tests.current_dir(folder))
}

/// Returns the message of a too old Python's pip about a registry that has the release. If the registry had only the wheel, pip would only
/// say that it finds no version. The link to the sdist makes pip name the required Python version.
fn refused(python: &Path, dist: &Path, index: &Path) -> Result<String> {
    let project = read(&sources().join("pyproject.toml"))?;
    let mut lines = project.lines();
    let required = lines.find_map(|line| line.strip_prefix("requires-python = \""));
    let required = required.ok_or("no `requires-python`")?;
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
    match lines.find(|line| line.ends_with(&expected)) {
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

/// Debian's Python, in whose package names the version has two numbers.
const DEBIANS_PYTHON: &str = "/usr/bin/python3";

/// The packages that Debian's Python needs besides its own.
const LIBRARIES: &str = "libc6 libexpat1 libffi8 libgcc-s1 libstdc++6 zlib1g";

/// The platform tags of wheels that the tests may use.
const PLATFORMS: [&str; 3] = [
    "manylinux_2_28_aarch64",
    "manylinux_2_27_aarch64",
    "manylinux2014_aarch64",
];

/// The tests to run: golden vectors, and everything that depends on the wheel's linking. All tests would take an hour.
const TESTS: [&str; 2] = ["tests/test_golden.py", "tests/test_panic.py"];

/// Tests the wheel or prints in one line why it cannot.
pub(super) fn try_in_emulator(
    steps: &mut Steps,
    environment: &Environment,
    wheel: &Path,
    folder: &Path,
) -> Result {
    let program = "import sys; print('%d.%d' % sys.version_info[:2])".to_owned();
    let version = output(command!(DEBIANS_PYTHON, "-c", program));
    let Some(version) = version.ok().filter(|_| is_root()) else {
        let what = "the wheel for aarch64 in an emulator, which needs root on Debian and";
        return Stop::skipped(format!("{what} {DEBIANS_PYTHON}"));
    };
    let version = version.trim().to_owned();
    let (root, site) = (folder.join("root"), folder.join("site"));
    empty(&root)?;
    empty(&site)?;
    steps.check("a Python for aarch64", || {
        unpack(&version, folder, &root)?;
        Ok(format!("Debian's Python {version}"))
    })?;
    let install = words![
        "install --quiet --only-binary :all: --python-version",
        version,
        "--target",
        site,
        PLATFORMS.map(|platform| words!["--platform", platform]),
        NEEDED,
        wheel,
    ];
    steps.step("the wheel for aarch64", environment.program("pip", install))?;
    let python = root.join(format!("usr/bin/python{version}"));
    let tests = TESTS.map(|test| sources().join(test));
    let mut tests = command!("qemu-aarch64-static -L", root, python, PYTEST, tests);
    tests.env("PYTHONPATH", &site).env_remove("LD_LIBRARY_PATH");
    steps.step("its tests in qemu", tests.current_dir(folder))
}

/// Unpacks Debian's packages of a Python into a folder.
fn unpack(version: &str, folder: &Path, root: &Path) -> Result {
    let own = [("", "minimal"), ("lib", "minimal"), ("lib", "stdlib")];
    let own = own.map(|(begin, part)| format!("{begin}python{version}-{part}"));
    let names = own
        .into_iter()
        .chain(LIBRARIES.split(' ').map(str::to_owned));
    let names: Vec<String> = names.map(|name| format!("{name}:arm64")).collect();
    let packages = folder.join("packages");
    make(&packages)?;
    aarch64::download(&names.join(" "), &packages)?;
    for file in with_extension(&packages, "deb")? {
        output(command!("dpkg-deb -x", file, root))?;
    }
    Ok(())
}
