//! The stage `asan`: the libraries are built with AddressSanitizer in them, and programs in C run with them. In stage `c`, only the programs
//! are, and what a library reads beyond an array goes unseen.

use std::fs;
use std::path::{Path, PathBuf};

use checkout::workspace::{target, workspace};
use launch::Error;

use super::consumers::Consumers;
use super::golden;
use crate::libraries::with_library;
use crate::prefixes::MPI_LIBRARIES;
use crate::setup;
use crate::steps::{Steps, Stop};
use crate::tests;

/// What the compiler is told. Its standard library has no sanitizer in it, which is no mismatch.
const FLAGS: &str = "-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer";

/// Sanitizers are for targets that are named, so that build scripts are built without.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs the stage.
pub(crate) fn asan(steps: &mut Steps) -> Result<(), Stop> {
    if !setup::has_nightly() || !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("skipped: asan, for want of a nightly toolchain of rustup's for {TARGET}");
        return Ok(());
    }
    setup::install_compilers();
    let folder = target()?.join("asan");
    let prefix = install(steps, &folder)?;
    let golden = folder.join("golden.txt");
    steps.check("golden vectors as lines of words", || {
        golden::write(&golden)
    })?;
    let bytes = folder.join("bytes.txt");
    steps.check("golden vectors of bytes as lines of words", || {
        golden::write_bytes(&bytes)
    })?;
    let run = |steps: &mut Steps, package: &str, mpi: Option<&str>| {
        let consumers = Consumers {
            package: &workspace().join(package),
            prefix: &prefix,
            build: &folder.join(mpi.unwrap_or("local")),
            golden: if mpi.is_some() { &golden } else { &bytes },
            mpi,
        };
        consumers.with_sanitizers(steps)
    };
    run(steps, "bindings/c", None)?;
    if !steps.mpi() {
        return Ok(());
    }
    for library in MPI_LIBRARIES {
        with_library(steps, library, |steps| {
            run(steps, "bindings/c-mpi", Some(library))
        })?;
    }
    Ok(())
}

/// Installs libraries with the sanitizer.
fn install(steps: &mut Steps, folder: &Path) -> Result<PathBuf, Stop> {
    let prefix = folder.join("prefix");
    if prefix.exists() {
        fs::remove_dir_all(&prefix).map_err(|error| Stop::Error(Error::file(&prefix, error)))?;
    }
    let mut install = tests::xtask(steps)?;
    install.current_dir(workspace());
    install.arg("install").arg("--prefix").arg(&prefix);
    install.envs([
        // By the name by which rustup knows it.
        ("CARGO", "cargo"),
        ("RUSTUP_TOOLCHAIN", "nightly"),
        ("RUSTFLAGS", FLAGS),
        ("CARGO_BUILD_TARGET", TARGET),
        // What reads beyond an array does so unoptimised, too, and that takes a quarter of the time.
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ]);
    install.env("CARGO_TARGET_DIR", folder.join("build"));
    steps.build(
        "install, with AddressSanitizer in the libraries",
        &mut install,
    )?;
    Ok(prefix)
}
