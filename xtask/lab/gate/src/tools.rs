//! Stages whose tools come ready from PyPI: licences and sources of dependencies, and libFuzzer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::workspace::{target, workspace};
use launch::Error;

use super::setup;
use super::steps::{Steps, Stop};

/// How long libFuzzer looks for faults, for each target.
const FUZZ_SECONDS: u32 = 60;

/// More than any target needs; a number that a file tells must not become so much memory.
const FUZZ_MEMORY_MIB: u32 = 4096;

/// A folder for each target.
const CORPORA: &str = "xtask/lab/fuzz/corpus";

/// Licences, sources and versions of what the lock file names. Advisories are not looked for, as they are no crate registry's.
pub(super) fn deny(steps: &mut Steps) -> Result<(), Stop> {
    let Some(program) = tool("cargo-deny")? else {
        return Ok(());
    };
    let mut deny = Command::new(program);
    deny.arg("--workspace").arg("--config");
    deny.arg(workspace().join("xtask/lab/gate/deny.toml"));
    deny.args(["check", "bans", "licenses", "sources"]);
    steps.step("cargo-deny", deny.current_dir(workspace()))
}

/// Every target, from its corpus on. What is found stays in `target/fuzz`.
pub(super) fn fuzz(steps: &mut Steps) -> Result<(), Stop> {
    let Some(program) = tool("cargo-fuzz")? else {
        return Ok(());
    };
    if !setup::has_nightly() {
        println!("skipped: fuzz, for want of a nightly toolchain of rustup's");
        return Ok(());
    }
    let folder = target()?.join("fuzz");
    for name in targets()? {
        let (corpus, found) = (folder.join(&name), folder.join("found"));
        for made in [&corpus, &found] {
            fs::create_dir_all(made).map_err(|error| Stop::Error(Error::file(made, error)))?;
        }
        let mut fuzz = Command::new(&program);
        fuzz.args(["run", "--fuzz-dir", "xtask/lab/fuzz/libfuzzer"]);
        fuzz.arg("--target-dir").arg(folder.join("build"));
        fuzz.arg(&name);
        // What is new goes to the first folder.
        fuzz.arg(&corpus);
        fuzz.arg(workspace().join(CORPORA).join(&name));
        fuzz.arg("--");
        fuzz.arg(format!("-max_total_time={FUZZ_SECONDS}"));
        fuzz.arg(format!("-rss_limit_mb={FUZZ_MEMORY_MIB}"));
        fuzz.arg(format!("-artifact_prefix={}/", found.display()));
        fuzz.env("RUSTUP_TOOLCHAIN", "nightly");
        // A plan that cannot get its memory is an error, not the end.
        fuzz.env("ASAN_OPTIONS", "allocator_may_return_null=1");
        fuzz.current_dir(workspace());
        steps.step(&format!("fuzz, {name}"), &mut fuzz)?;
    }
    Ok(())
}

/// The names of all targets, which their corpora have.
fn targets() -> Result<Vec<String>, Stop> {
    let folder = workspace().join(CORPORA);
    let entries = fs::read_dir(&folder).map_err(|error| Error::file(&folder, error))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// A program that PyPI has ready in a package of Astral's; `None`, which is said, where it cannot be had.
fn tool(name: &str) -> Result<Option<PathBuf>, Stop> {
    let folder = target()?.join("tools");
    let program = folder.join("bin").join(name);
    if program.is_file() {
        return Ok(Some(program));
    }
    let package = format!("astral-dev-toolchain-{name}");
    match setup::install_from_pypi(Path::new("python3"), &[&package], &folder) {
        Ok(()) => Ok(Some(program)),
        Err(reason) => {
            println!("skipped: {name}, {reason}");
            Ok(None)
        }
    }
}
