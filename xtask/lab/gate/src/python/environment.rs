//! Virtual environments and the packages in them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use checkout::workspace::target;

use crate::commands::{Result, Stop, command, with_rust_alone, words};
use crate::files::{only, remove};
use crate::python::{FOR_TESTS, sources};
use crate::setup;
use crate::steps::{Steps, locked};

/// The packages to build wheels, to run them, and for all tests.
const TOOLS: &str = "maturin>=1.9.4,<2 cffi mypy numpy pytest";

/// The features that test builds have and users' wheels lack. Wheels for tests have them too, so that common crates are built only once.
const FEATURE_OF_TESTS: &str = "treefold/tracing,treefold-c-mpi/local";

/// A Python virtual environment.
pub(crate) struct Environment {
    folder: PathBuf,
    /// The working directory of programs, since the packages' own folders lack the native libraries.
    pub(crate) target: PathBuf,
}

impl Environment {
    /// Creates one with the tools and more packages; on failure, the steps that need it are skipped.
    pub(crate) fn make(name: &str, packages: &str) -> Result<Self> {
        let target = target()?.join("python");
        let folder = target.join(name);
        let packages = format!("{TOOLS} {packages}");
        // Two stages may share an environment.
        static MAKING: Mutex<()> = Mutex::new(());
        let _making = locked(&MAKING);
        setup::install_from_pypi(Path::new("python3"), &packages, &folder)
            .map_err(|reason| Stop::Skipped(format!("python, {reason}")))?;
        Ok(Self { folder, target })
    }

    /// The folder of its programs.
    pub(crate) fn programs(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// One of its programs, with these words.
    pub(crate) fn program(&self, name: &str, words: Vec<OsString>) -> Command {
        let mut command = command!(self.programs().join(name), words);
        command.current_dir(&self.target);
        command
    }

    pub(crate) fn python(&self, words: Vec<OsString>) -> Command {
        self.program("python", words)
    }

    /// The interpreter.
    pub(crate) fn interpreter(&self) -> PathBuf {
        self.programs().join("python")
    }

    /// Builds the wheel of the package in this folder, with a build profile.
    pub(crate) fn build(
        &self,
        steps: &mut Steps,
        package: &Path,
        profile: &str,
    ) -> Result<PathBuf> {
        let wheels = self.folder.join("wheels");
        remove(&wheels)?;
        let words = words!["build --locked --quiet --profile", profile, "--out", wheels];
        let mut build = self.program("maturin", words);
        if profile == FOR_TESTS && package == sources() {
            build.args(["--features", FEATURE_OF_TESTS]);
        }
        with_rust_alone(&mut build).current_dir(package);
        steps.build("wheel", build)?;
        Ok(only(&wheels)?)
    }

    /// Installs a wheel.
    pub(crate) fn install(&self, steps: &mut Steps, wheel: &Path) -> Result {
        let words = words!["install --quiet --force-reinstall --no-deps", wheel];
        steps.build("installed wheel", self.program("pip", words))
    }

    /// Builds and installs a wheel.
    pub(crate) fn build_and_install(
        &self,
        steps: &mut Steps,
        package: &Path,
        profile: &str,
    ) -> Result {
        let wheel = self.build(steps, package, profile)?;
        self.install(steps, &wheel)
    }
}
