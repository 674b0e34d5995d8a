//! The stage `rsmpi`: tests worlds on rsmpi's communicators. Crate `mpi` is built separately for each library, and needs libclang.

use std::env;
use std::path::Path;
use std::process::Command;

use checkout::workspace::{executables, target};
use launch::{Launcher, Library};

use crate::commands::{Result, cargo};
use crate::files::{listed, name};
use crate::libraries::MPI_LIBRARIES;
use crate::setup;
use crate::steps::Steps;
use crate::tests::find;

const RANKS: [usize; 2] = [1, 3];

/// Runs the stage.
pub(crate) fn rsmpi(steps: &mut Steps) -> Result {
    if !has_libclang() {
        setup::install_packages(&["libclang-dev"], "missing: libclang")?;
    }
    steps.with_each_library(|steps, name| {
        let library = Library::parse("--mpi", name)?;
        let folder = target()?.join("rsmpi");
        // All libraries share a target folder; each replaces the previous one's programs.
        let cargo = |words: &str| -> Command {
            let mut cargo = cargo(words);
            cargo.env("MPICC", library.c_compiler());
            cargo.env("CARGO_TARGET_DIR", &folder);
            cargo
        };
        // Its build script does not detect that the library has changed.
        let step = format!("{name} takes the place of another library");
        steps.step(step, cargo("clean --package mpi-sys"))?;
        let package = "--package treefold-rsmpi";
        // Clippy and examples run only once.
        let is_first = name == MPI_LIBRARIES[0];
        if is_first {
            let words = format!("clippy {package} --all-targets -- -D warnings");
            steps.build(format!("clippy, rsmpi for {name}"), cargo(&words))?;
        }
        let tests = format!("test --no-run {package}");
        steps.build(format!("tests, rsmpi for {name}"), cargo(&tests))?;
        let built = executables(&mut cargo(&tests))?;
        if is_first {
            let words = format!("test --doc {package}");
            steps.build(format!("doctests, rsmpi for {name}"), cargo(&words))?;
        }
        for target in ["ranks", "rsmpi_sum"] {
            let program = &find(&built, "treefold-rsmpi", target)?.path;
            let launcher = Launcher::of(steps.installation.clone(), program);
            for ranks in RANKS {
                let step = format!("rsmpi, {name}: {target}, p = {ranks}");
                steps.step(step, launcher.command(ranks, &[]))?;
            }
        }
        Ok(())
    })
}

/// Whether a file is libclang, and not libclang-cpp from other packages.
fn is_library(file: &Path) -> bool {
    let name = name(file);
    name.starts_with("libclang") && !name.starts_with("libclang-cpp")
}

/// Whether the binding generator can find libclang.
fn has_libclang() -> bool {
    let entries = |path: &Path| listed(path).unwrap_or_default();
    let mut folders = entries(Path::new("/usr/lib")).into_iter();
    env::var_os("LIBCLANG_PATH").is_some()
        || folders.any(|folder| {
            entries(&folder.join("lib"))
                .iter()
                .any(|file| is_library(file))
        })
}
