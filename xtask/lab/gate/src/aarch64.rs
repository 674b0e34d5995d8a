//! The stage `aarch64`: builds the code for 64-bit ARM, runs it in qemu, and compares the bits with this machine's.
//!
//! The stage uses Debian's `rustc-web`, because Debian packages the standard library of that version for other architectures. The stage
//! unpacks this library in the target folder, so neither packages of another architecture nor binfmt need to be installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::files::{make, read};
use checkout::workspace::target;
use launch::installed::{is_root, runs};

use crate::{Result, Steps, Stop, cargo, command, output, succeeds};

/// The target triple.
pub(crate) const TRIPLE: &str = "aarch64-unknown-linux-gnu";

/// Debian's packages: the compiler and its clippy, the emulator, the linker, and the C library that programs load.
const PACKAGES: &str =
    "rustc-web rust-web-clippy qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross";

/// Files that exist if these packages are installed.
const FILES: [&str; 5] = [
    "/usr/bin/rustc",
    "/usr/bin/clippy-driver",
    "/usr/bin/qemu-aarch64-static",
    "/usr/bin/aarch64-linux-gnu-gcc",
    "/usr/aarch64-linux-gnu/lib/libc.so.6",
];

/// The packages of the compiler and the standard library.
const COMPILER: &str = "rustc-web";
const STANDARD_LIBRARY: &str = "libstd-rust-web-dev";

/// Options that make apt-get also find arm64 packages, and download as root.
const APT: &str = "-o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root --quiet";

/// Downloads are retried, because a mirror gives errors while it is being updated.
const ATTEMPTS: u32 = 3;

/// The crates whose tests run, with their features that do not need MPI.
const TESTS: &str = "test --locked -p treefold-tree-index -p treefold-simd-kernels -p treefold-exact-sum -p treefold-distribution -p treefold-schedule \
    -p treefold-comm -p treefold-reduce --features treefold-reduce/par,treefold-reduce/num-complex,treefold-reduce/tracing";

/// The command that runs on both architectures and writes every sum.
const REPRO_CHECK: &str = "repro-check --ranks 1,2,3 --json";

/// Runs the stage or prints in one line why it cannot run.
pub(crate) fn aarch64(steps: &mut Steps) -> Result {
    let folder = target()?.join("aarch64");
    make(&folder)?;
    let cross = Cross::set_up(folder)
        .map_err(|stop| Stop::Skipped(format!("aarch64, {}", stop.reason())))?;
    cross.clippy(steps)?;
    steps.step("tests in qemu", cross.command(TESTS))?;
    let counts = "test --locked --release -p instructions -- --nocapture";
    steps.step("instructions of NEON kernels", cross.command(counts))?;
    cross.compare(steps)?;
    let campaign = cross.xtask("campaign --cases 300");
    steps.step("campaign in qemu", campaign)
}

/// The toolchain that an earlier run of the stage installed, if it still exists.
pub(crate) fn found() -> Option<Cross> {
    let folder = target().ok()?.join("aarch64");
    let sysroot = folder.join(format!("std-{}", version().ok()?));
    sysroot.exists().then_some(Cross { folder, sysroot })
}

/// The toolchain for the other architecture.
pub(crate) struct Cross {
    /// The folder for builds and results.
    folder: PathBuf,
    /// The folder of the standard library.
    sysroot: PathBuf,
}

impl Cross {
    /// Installs missing packages or returns why it cannot.
    fn set_up(folder: PathBuf) -> Result<Self> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err("which needs Linux on x86-64".into());
        }
        let lacks = || FILES.into_iter().find(|file| !Path::new(file).exists());
        if lacks().is_some() {
            if !is_root() || !runs("apt-get") {
                return Err(format!("which needs root on Debian, or {PACKAGES}").into());
            }
            let install = format!("install --yes --no-install-recommends {PACKAGES}");
            apt(&["update --quiet", &install], &folder)?;
            if let Some(file) = lacks() {
                return Err(format!("{file} is missing after apt-get").into());
            }
        }
        let version = version()?;
        let sysroot = folder.join(format!("std-{version}"));
        if !sysroot.join("lib/rustlib").join(TRIPLE).exists() {
            if !is_root() {
                return Err("whose standard library only root can download".into());
            }
            download(&format!("{STANDARD_LIBRARY}:arm64={version}"), &folder)?;
            // Unpacks next to the destination and moves the complete folder there.
            let version = version.replace(':', "%3a");
            let package = folder.join(format!("{STANDARD_LIBRARY}_{version}_arm64.deb"));
            let unpacked = folder.join("unpacked");
            output(command!("dpkg-deb -x", package, unpacked))?;
            fs::rename(unpacked.join("usr"), &sysroot)?;
        }
        Ok(Self { folder, sysroot })
    }

    /// A cargo command that builds for the target and runs the built programs in qemu.
    fn command(&self, words: &str) -> Command {
        let (of_cargo, rest) = words.split_once(" -- ").unwrap_or((words, ""));
        let rest = if rest.is_empty() {
            String::new()
        } else {
            format!("-- {rest}")
        };
        let mut command = cargo(&format!("{of_cargo} --target {TRIPLE} {rest}"));
        self.compile(&mut command);
        let variable = |name: &str| format!("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{name}");
        let runner = "qemu-aarch64-static -L /usr/aarch64-linux-gnu";
        command.env("RUSTDOC", "/usr/bin/rustdoc");
        command.env(variable("RUSTDOCFLAGS"), self.sysroot_option());
        command.env(variable("LINKER"), "aarch64-linux-gnu-gcc");
        command.env(variable("RUNNER"), runner);
        command
    }

    /// The `xtask` program in qemu.
    fn xtask(&self, words: &str) -> Command {
        let run = "run --locked --release -p xtask --bin xtask --";
        self.command(&format!("{run} {words}"))
    }

    /// Makes a command build for the target.
    pub(crate) fn compile(&self, command: &mut Command) {
        let flags = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS";
        command.env("RUSTC", "/usr/bin/rustc");
        // In a shared target folder, crates would be rebuilt whenever the compiler changes.
        command.env("CARGO_TARGET_DIR", &self.folder);
        command.env(flags, self.sysroot_option());
    }

    fn sysroot_option(&self) -> String {
        format!("--sysroot={}", self.sysroot.display())
    }

    /// Runs the clippy driver that has the compiler's version. `cargo clippy` would run the driver in its own folder, which has another one.
    fn clippy(&self, steps: &mut Steps) -> Result {
        let mut check = self.command("check --locked --workspace --all-targets");
        check.env("RUSTC_WORKSPACE_WRAPPER", "/usr/bin/clippy-driver");
        let deny = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";
        steps.step("clippy for aarch64", check.env("CLIPPY_ARGS", deny))
    }

    /// Compares the sums of both architectures.
    fn compare(&self, steps: &mut Steps) -> Result {
        let path = |name: &str| self.folder.join(format!("repro-check-{name}.json"));
        let (here, there) = (path("x86-64"), path("aarch64"));
        let words = |path: &Path| format!("{REPRO_CHECK} {}", path.display());
        steps.xtask("repro-check here", &words(&here))?;
        steps.step("repro-check in qemu", self.xtask(&words(&there)))?;
        steps.check("the same bits on x86-64 and aarch64", || {
            let count = same_sums(&read(&here)?, &read(&there)?)?;
            Ok(format!("{count} sums have the same bytes"))
        })
    }
}

/// The number of rows if they are equal in both files, or else the first difference. Ignores unordered sums, which depend on the SIMD level.
fn same_sums(here: &str, there: &str) -> Result<usize> {
    let ordered = |text: &str| -> Result<Vec<String>> {
        if text.lines().any(|row| !row.contains(r#""order":"#)) {
            return Err("a row has no order".into());
        }
        let rows = text
            .lines()
            .filter(|row| !row.contains(r#""order":"none""#));
        Ok(rows.map(str::to_owned).collect())
    };
    let (here, there) = (ordered(here)?, ordered(there)?);
    if here.is_empty() || here.len() != there.len() {
        return Err(format!("{} ordered rows here, {} there", here.len(), there.len()).into());
    }
    match here.iter().zip(&there).find(|(here, there)| here != there) {
        Some((here, there)) => Err(format!("here {here}, there {there}").into()),
        None => Ok(here.len()),
    }
}

/// The version of the compiler's package. The standard library must have the same version.
fn version() -> Result<String> {
    let query = "dpkg-query --show --showformat ${Version}";
    let version = output(command!(query, COMPILER)).unwrap_or_default();
    if version.is_empty() {
        return Err(format!("/usr/bin/rustc is not from package {COMPILER}").into());
    }
    Ok(version)
}

/// Runs apt-get in a folder, once for each line of words. If one run fails, repeats them all.
fn apt(lines: &[&str], folder: &Path) -> Result {
    let run = |words: &&str| {
        let mut apt = command!("apt-get", words);
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        succeeds(apt.current_dir(folder))
    };
    if (0..ATTEMPTS).any(|_| lines.iter().all(run)) {
        return Ok(());
    }
    let why = "is a mirror out of reach, or being updated?";
    Err(format!("apt-get failed {ATTEMPTS} times; {why}").into())
}

/// Downloads Debian packages to a folder; needs root.
pub(crate) fn download(packages: &str, folder: &Path) -> Result {
    let words = [
        format!("{APT} update"),
        format!("{APT} download {packages}"),
    ];
    apt(&words.each_ref().map(String::as_str), folder)
}

#[cfg(test)]
mod tests {
    use super::same_sums;

    #[test]
    fn sums_in_order_are_compared_byte_for_byte() {
        let row = |bits: u64, order: &str| format!("{{\"bits\":{bits},\"order\":\"{order}\"}}\n");
        let (tree, other, none) = (row(0, "tree"), row(1, "tree"), row(2, "none"));
        let same = |here: &str, there: &str| same_sums(here, there).ok();
        assert_eq!(
            same(&(tree.clone() + &none), &(none.clone() + &tree)),
            Some(1)
        );
        assert_eq!(same(&tree, &other), None);
        assert_eq!(same(&tree, &tree.repeat(2)), None);
        for wrong in [&*none, "", "{}", "no json"] {
            assert_eq!(same(wrong, wrong), None, "{wrong}");
        }
    }
}
