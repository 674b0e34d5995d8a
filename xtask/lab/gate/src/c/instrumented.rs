//! The stage `asan`: the libraries are built with AddressSanitizer in them, and programs in C run with them. In stage `c`, only the programs
//! are, and what a library reads beyond an array goes unseen.

use checkout::workspace::target;

use super::consumers::Consumers;
use super::golden;
use crate::commands::{Result, Stop, words};
use crate::files::remove;
use crate::setup;
use crate::steps::Steps;
use crate::tests;

/// What the compiler is told. Its standard library has no sanitizer in it, which is no mismatch.
const FLAGS: &str = "-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer";

/// Sanitizers are for targets that are named, so that build scripts are built without.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs the stage.
pub(crate) fn asan(steps: &mut Steps) -> Result {
    setup::needs_nightly("asan")?;
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err(Stop::Skipped(format!("asan, which needs {TARGET}")));
    }
    setup::install_compilers();
    let folder = target()?.join("asan");
    let prefix = folder.join("prefix");
    remove(&prefix)?;
    let mut install = tests::xtask(steps, words!["install --prefix", prefix])?;
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
    let step = "install, with AddressSanitizer in the libraries";
    steps.build(step, install)?;
    golden::write(steps, &folder)?;
    Consumers::of(&prefix, &folder, None).with_sanitizers(steps)?;
    if !steps.mpi {
        return Ok(());
    }
    steps.with_each_library(|steps, library| {
        Consumers::of(&prefix, &folder, Some(library)).with_sanitizers(steps)
    })
}
