//! The stages of the package for Python: it is built as a wheel, installed in a virtual environment, and tested there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::Error;
use harness::workspace::{cargo, target, workspace};

use super::setup;
use super::steps::{Steps, Stop};

/// What builds the wheel, and what its tests use.
const TOOLS: [&str; 4] = ["maturin>=1.9.4,<2", "mypy", "numpy", "pytest"];

/// Packages that pass their arrays to treefold.
const PACKAGES: [&str; 5] = ["dask[array]", "distributed", "polars", "pyarrow", "xarray"];

/// What cargo checks of the native half.
const CARGO: [(&str, &str); 2] = [
    ("format, Python", "fmt --check"),
    ("clippy, Python", "clippy --locked --release -- -D warnings"),
];

/// With examples in docstrings and pages. Modules for packages that are not there are left out.
const PYTEST: &str = "-m pytest --quiet -p no:cacheprovider --doctest-modules --doctest-glob=*.md --doctest-ignore-import-errors";

/// The package alone.
pub(super) fn python(steps: &mut Steps) -> Result<(), Stop> {
    let Some(environment) = Environment::set_up("environment", &[])? else {
        return Ok(());
    };
    for (name, words) in CARGO {
        let mut command = cargo();
        command.args(words.split_whitespace());
        command
            .current_dir(sources())
            .env("CARGO_TARGET_DIR", &environment.target);
        steps.step(name, &mut command)?;
    }
    environment.install(steps)?;
    let mut tests = environment.python(PYTEST);
    tests.args([sources().join("tests"), sources().join("README.md")]);
    tests.arg("--ignore").arg(sources().join("tests/packages"));
    tests.arg(workspace().join("docs/python.md"));
    tests.args(["--pyargs", "treefold"]);
    steps.step("tests and examples in Python", &mut tests)?;
    let mut stubs = environment.python("-m mypy.stubtest treefold --concise --ignore-missing-stub");
    stubs
        .arg("--allowlist")
        .arg(sources().join("tests/stubtest-allowlist.txt"))
        .arg("--mypy-config-file")
        .arg(sources().join("pyproject.toml"));
    steps.step("type stubs", &mut stubs)
}

/// The package with others.
pub(super) fn python_packages(steps: &mut Steps) -> Result<(), Stop> {
    let Some(environment) = Environment::set_up("packages", &PACKAGES)? else {
        return Ok(());
    };
    environment.install(steps)?;
    let mut tests = environment.python(PYTEST);
    tests.arg(sources().join("tests/packages"));
    tests.args(["--pyargs", "treefold.dask"]);
    tests.env("PYTHONPATH", sources().join("tests"));
    steps.step("tests with other packages", &mut tests)
}

/// The folder of the package.
fn sources() -> PathBuf {
    workspace().join("python")
}

/// A virtual environment of Python's.
struct Environment {
    folder: PathBuf,
    /// Where the native half is built. Nothing runs in `python/`, whose package lacks it.
    target: PathBuf,
}

impl Environment {
    /// Makes one with the tools and more packages; `None`, which it prints, where that is not possible.
    fn set_up(name: &str, packages: &[&str]) -> Result<Option<Self>, Stop> {
        let target = target().map_err(Stop::Error)?.join("python");
        let folder = target.join(name);
        let packages = [&TOOLS[..], packages].concat();
        match setup::install_from_pypi(&packages, &folder) {
            Ok(()) => Ok(Some(Self { folder, target })),
            Err(reason) => {
                println!("skipped: python, {reason}");
                Ok(None)
            }
        }
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.folder.join("bin").join(name));
        command.current_dir(&self.target);
        command
    }

    fn python(&self, words: &str) -> Command {
        let mut command = self.program("python");
        command.args(words.split_whitespace());
        command
    }

    /// Builds the wheel and installs it.
    fn install(&self, steps: &mut Steps) -> Result<(), Stop> {
        let wheels = self.target.join("wheels");
        let failed = |error| Stop::Error(Error::file(&wheels, error));
        if wheels.exists() {
            fs::remove_dir_all(&wheels).map_err(failed)?;
        }
        let mut build = self.program("maturin");
        build.args(["build", "--release", "--locked", "--quiet", "--out"]);
        build.arg(&wheels).current_dir(sources());
        build.env("CARGO_TARGET_DIR", &self.target);
        steps.step("wheel", &mut build)?;
        let mut install = self.program("pip");
        install.args(["install", "--quiet", "--force-reinstall", "--no-deps"]);
        install.arg(only_file(&wheels).map_err(failed)?);
        steps.step("installed wheel", &mut install)
    }
}

/// The file that is alone in its folder.
fn only_file(folder: &Path) -> io::Result<PathBuf> {
    let first = fs::read_dir(folder)?.next().transpose()?;
    let first = first.ok_or_else(|| io::Error::other("there is no wheel"))?;
    Ok(first.path())
}
