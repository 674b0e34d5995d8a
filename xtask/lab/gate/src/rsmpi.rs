//! The stage `rsmpi`: worlds of rsmpi's communicators. Crate `mpi` is built for each library apart, and needs libclang.

use std::env;
use std::fs;
use std::process::Command;

use checkout::workspace::{cargo, executables, target};
use launch::Launcher;
use launch::{Error, Library};

use super::libraries::with_library;
use super::prefixes::MPI_LIBRARIES;
use super::setup;
use super::steps::{Steps, Stop};

const RANKS: [usize; 2] = [1, 3];

/// Runs the stage.
pub(super) fn rsmpi(steps: &mut Steps) -> Result<(), Stop> {
    if !has_libclang() {
        setup::install_packages(&["libclang-dev"], "missing: libclang").map_err(Stop::Error)?;
    }
    for name in MPI_LIBRARIES {
        with_library(steps, name, |steps| {
            let library = Library::parse("--mpi", name).map_err(Stop::Error)?;
            // Its build script does not notice that the library is another one.
            let forget = "clean --package mpi-sys";
            let step = format!("{name} takes the place of another library");
            steps.step(&step, cargo_for(library)?.args(forget.split_whitespace()))?;
            // What is said of its code and its examples is said once.
            let is_first = name == MPI_LIBRARIES[0];
            if is_first {
                let clippy = "clippy --package treefold-rsmpi --all-targets -- -D warnings";
                let step = format!("clippy, rsmpi for {name}");
                steps.build(&step, cargo_for(library)?.args(clippy.split_whitespace()))?;
            }
            let tests = "test --no-run --package treefold-rsmpi";
            let step = format!("tests, rsmpi for {name}");
            steps.build(&step, cargo_for(library)?.args(tests.split_whitespace()))?;
            let built = executables(cargo_for(library)?.args(tests.split_whitespace()))?;
            if is_first {
                let doctests = "test --doc --package treefold-rsmpi";
                let step = format!("doctests, rsmpi for {name}");
                steps.build(&step, cargo_for(library)?.args(doctests.split_whitespace()))?;
            }
            for target in ["ranks", "rsmpi_sum"] {
                let missing = || Stop::Error(Error::Mpi(format!("cargo built no `{target}`")));
                let program = built.iter().find(|one| one.target == target);
                let program = &program.ok_or_else(missing)?.path;
                let launcher = Launcher::of(steps.installation().clone(), program);
                for ranks in RANKS {
                    let step = format!("rsmpi, {name}: {target}, p = {ranks}");
                    steps.step(&step, &mut launcher.command(ranks, &[]))?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A `cargo` that builds crate `mpi` for a library, in a target folder that all libraries share: each replaces the programs of the one before.
fn cargo_for(library: &Library) -> Result<Command, Stop> {
    let folder = target()?.join("rsmpi");
    let mut cargo = cargo();
    cargo.env("MPICC", library.c_compiler());
    cargo.env("CARGO_TARGET_DIR", folder);
    Ok(cargo)
}

/// Whether a file is libclang: its library of C++, which other packages bring, is another one.
fn is_library(file: &str) -> bool {
    file.starts_with("libclang") && !file.starts_with("libclang-cpp")
}

/// Whether libclang is where the binding generator looks for it.
fn has_libclang() -> bool {
    let entries = |path: &str| fs::read_dir(path).into_iter().flatten().flatten();
    let llvm = entries("/usr/lib").map(|entry| entry.path().join("lib"));
    let mut folders = llvm.filter_map(|folder| folder.to_str().map(str::to_owned));
    env::var_os("LIBCLANG_PATH").is_some()
        || folders.any(|folder| {
            entries(&folder).any(|file| is_library(&file.file_name().to_string_lossy()))
        })
}

#[cfg(test)]
mod tests {
    use super::is_library;

    #[test]
    fn libclang_is_told_from_its_kin() {
        for file in ["libclang.so", "libclang-14.so.1", "libclang.so.13"] {
            assert!(is_library(file), "{file}");
        }
        for file in ["libclang-cpp.so.14", "libLLVM-14.so.1"] {
            assert!(!is_library(file), "{file}");
        }
    }
}
