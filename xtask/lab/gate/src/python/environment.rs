//! Virtual environments, and what is installed in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use checkout::workspace::target;
use launch::Error;

use crate::python::{FOR_TESTS, sources};
use crate::setup;
use crate::steps::{Steps, Stop};

/// What builds wheels, what they need, and what all tests use.
const TOOLS: [&str; 5] = ["maturin>=1.9.4,<2", "cffi", "mypy", "numpy", "pytest"];

/// What the tests are built with, and users' wheels are not: what both have is built once.
const FEATURE_OF_TESTS: &str = "treefold/tracing";

/// A virtual environment of Python's.
pub(crate) struct Environment {
    folder: PathBuf,
    /// Where programs run: the packages' own folders lack the native halves.
    pub(crate) target: PathBuf,
}

impl Environment {
    /// Makes one with the tools and more packages; `None`, which it prints, where that is not possible.
    pub(crate) fn set_up(name: &str, packages: &[&str]) -> Result<Option<Self>, Stop> {
        match Self::make(name, packages) {
            Ok(environment) => Ok(Some(environment)),
            Err(Stop::Error(Error::Run(reason))) => {
                println!("skipped: python, {reason}");
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    /// The same where nothing may be left out.
    ///
    /// # Errors
    /// What is missing, and where it comes from, as [`Error::Run`].
    pub(crate) fn make(name: &str, packages: &[&str]) -> Result<Self, Stop> {
        let target = target()?.join("python");
        let folder = target.join(name);
        let packages = [&TOOLS[..], packages].concat();
        // Two stages may share one.
        static MAKING: Mutex<()> = Mutex::new(());
        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        setup::install_from_pypi(Path::new("python3"), &packages, &folder).map_err(Error::Run)?;
        Ok(Self { folder, target })
    }

    /// The folder of its programs.
    pub(crate) fn programs(&self) -> PathBuf {
        self.folder.join("bin")
    }

    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs().join(name));
        command.current_dir(&self.target);
        command
    }

    pub(crate) fn python(&self, words: &str) -> Command {
        let mut command = self.program("python");
        command.args(words.split_whitespace());
        command
    }

    /// The interpreter.
    pub(crate) fn interpreter(&self) -> PathBuf {
        self.programs().join("python")
    }

    /// Builds the wheel of a package in a folder, by a profile.
    pub(crate) fn build(
        &self,
        steps: &mut Steps,
        package: &Path,
        profile: &str,
    ) -> Result<PathBuf, Stop> {
        let wheels = self.folder.join("wheels");
        let failed = |error| Stop::Error(Error::file(&wheels, error));
        if wheels.exists() {
            fs::remove_dir_all(&wheels).map_err(failed)?;
        }
        let mut build = self.program("maturin");
        build.args([
            "build",
            "--locked",
            "--quiet",
            "--profile",
            profile,
            "--out",
        ]);
        build.arg(&wheels).current_dir(package);
        if profile == FOR_TESTS && package == sources() {
            build.args(["--features", FEATURE_OF_TESTS]);
        }
        // It needs Rust alone.
        for variable in ["MPICC", "PKG_CONFIG", "LIBCLANG_PATH"] {
            build.env(variable, "/nowhere");
        }
        steps.build("wheel", &mut build)?;
        only_file(&wheels).map_err(failed)
    }

    /// Installs a wheel.
    pub(crate) fn install(&self, steps: &mut Steps, wheel: &Path) -> Result<(), Stop> {
        let mut install = self.program("pip");
        install.args(["install", "--quiet", "--force-reinstall", "--no-deps"]);
        install.arg(wheel);
        steps.build("installed wheel", &mut install)
    }

    /// Both.
    pub(crate) fn build_and_install(
        &self,
        steps: &mut Steps,
        package: &Path,
        profile: &str,
    ) -> Result<(), Stop> {
        let wheel = self.build(steps, package, profile)?;
        self.install(steps, &wheel)
    }
}

/// The file that is alone in its folder.
fn only_file(folder: &Path) -> io::Result<PathBuf> {
    let first = fs::read_dir(folder)?.next().transpose()?;
    let first = first.ok_or_else(|| io::Error::other("there is no wheel"))?;
    Ok(first.path())
}
