//! The stage `asan`: builds the libraries with AddressSanitizer, and runs C programs with them. In stage `c`, only the programs
//! have it, so reads of the library beyond an array are not detected.

use checkout::workspace::target;

use super::consumers::Consumers;
use super::golden;
use crate::commands::{Result, Stop, words};
use crate::files::remove;
use crate::setup;
use crate::steps::Steps;
use crate::tests;

/// Compiler options. The standard library is built without a sanitizer, which is not a mismatch.
const FLAGS: &str = "-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer";

/// The target is named explicitly, so that build scripts are built without a sanitizer.
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
        // Selects the toolchain by rustup's name.
        ("CARGO", "cargo"),
        ("RUSTUP_TOOLCHAIN", "nightly"),
        ("RUSTFLAGS", FLAGS),
        ("CARGO_BUILD_TARGET", TARGET),
        // Reads beyond an array also show in an unoptimised build, which takes a quarter of the time.
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
