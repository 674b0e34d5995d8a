//! The stages whose tools are binaries from PyPI: `deny` and `fuzz`.

use std::path::{Path, PathBuf};

use checkout::workspace::{target, workspace};

use crate::commands::{Result, Stop, command};
use crate::files::{copy, listed, make, name};
use crate::setup;
use crate::steps::Steps;

/// How long libFuzzer runs for each target.
const FUZZ_SECONDS: u32 = 60;

/// A memory limit above any target's needs: a number in a file must not cause such an allocation.
const FUZZ_MEMORY_MIB: u32 = 4096;

/// The programs for libFuzzer, each with its corpus.
const FUZZ: &str = "xtask/lab/fuzz/libfuzzer";
const CORPORA: &str = "xtask/lab/fuzz/corpus";

/// Checks licences, sources and versions of the lock file's packages. Advisories are not checked, since they are not in a crate registry.
pub(crate) fn deny(steps: &mut Steps) -> Result {
    let words = "--workspace --config xtask/lab/gate/deny.toml check bans licenses sources";
    steps.step("cargo-deny", command!(tool("cargo-deny")?, words))
}

/// Runs every target, starting from its corpus. Findings stay in `target/fuzz`.
pub(crate) fn fuzz(steps: &mut Steps) -> Result {
    let program = tool("cargo-fuzz")?;
    setup::needs_nightly("fuzz")?;
    // Its lock file starts as a copy of the workspace's, and is not kept.
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
        // New inputs go to the first folder.
        fuzz.arg(&corpus).arg(begin).arg("--");
        fuzz.arg(format!("-max_total_time={FUZZ_SECONDS}"));
        fuzz.arg(format!("-rss_limit_mb={FUZZ_MEMORY_MIB}"));
        fuzz.arg(format!("-artifact_prefix={}/", found.display()));
        fuzz.env("RUSTUP_TOOLCHAIN", "nightly");
        // A failed allocation of a plan is an error and must not abort.
        fuzz.env("ASAN_OPTIONS", "allocator_may_return_null=1");
        steps.step(format!("fuzz, {name}"), fuzz)?;
    }
    Ok(())
}

/// A program from one of Astral's PyPI packages.
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
