//! The stage `aarch64`: the code is built for 64-bit ARM, runs in qemu, and returns the bits that it returns here.
//!
//! Debian's `rustc-web` builds, as its suite has the standard library of other architectures in the same version. The library goes into
//! the target folder; neither foreign packages nor binfmt are needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::workspace::{cargo, target};
use launch::Error;
use launch::installed::{is_root, runs};
use serde_json::Value;

use super::steps::{Steps, Stop};

/// What the compiler calls the target.
pub(super) const TRIPLE: &str = "aarch64-unknown-linux-gnu";

/// Debian's packages: the compiler and its clippy, the emulator, the linker, and the C library that programs load.
const PACKAGES: [&str; 5] = [
    "rustc-web",
    "rust-web-clippy",
    "qemu-user-static",
    "gcc-aarch64-linux-gnu",
    "libc6-dev-arm64-cross",
];

/// The same, as files.
const FILES: [&str; 5] = [
    "/usr/bin/rustc",
    "/usr/bin/clippy-driver",
    "/usr/bin/qemu-aarch64-static",
    "/usr/bin/aarch64-linux-gnu-gcc",
    "/usr/aarch64-linux-gnu/lib/libc.so.6",
];

/// The package of the standard library.
const STANDARD_LIBRARY: &str = "libstd-rust-web-dev";

/// apt-get that also looks for packages of arm64, and fetches as root.
const APT: &str = "-o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root --quiet";

/// A mirror that is being brought up to date answers wrongly for a while.
const ATTEMPTS: u32 = 3;

/// The crates whose tests run, with what they can do without MPI.
const TESTS: &str = "test --locked -p treefold-tree-index -p treefold-simd-kernels -p treefold-exact-sum -p treefold-distribution -p treefold-schedule \
    -p treefold-comm -p treefold-reduce --features treefold-reduce/par,treefold-reduce/num-complex,treefold-reduce/tracing";

/// What runs on both architectures; every sum is written.
const REPRO_CHECK: &str = "repro-check --ranks 1,2,3 --json";

/// Runs the stage, or says in one line why not.
pub(super) fn aarch64(steps: &mut Steps) -> Result<(), Stop> {
    let folder = target()?.join("aarch64");
    fs::create_dir_all(&folder).map_err(|error| Stop::Error(Error::file(&folder, error)))?;
    let cross = match Cross::set_up(folder) {
        Ok(cross) => cross,
        Err(reason) => {
            println!("skipped: aarch64, {reason}");
            return Ok(());
        }
    };
    cross.clippy(steps)?;
    cross.cargo(steps, "tests in qemu", TESTS)?;
    cross.cargo(
        steps,
        "instructions of NEON kernels",
        "test --locked --release -p instructions -- --nocapture",
    )?;
    cross.compare(steps)?;
    cross.cargo(
        steps,
        "campaign in qemu",
        "run --locked --release -p xtask --bin xtask -- campaign --cases 300",
    )
}

/// The compiler that an earlier run of the stage has installed, if it is there.
pub(super) fn found() -> Option<Cross> {
    let folder = target().ok()?.join("aarch64");
    let sysroot = folder.join(format!("std-{}", version().ok()?));
    sysroot.exists().then_some(Cross { folder, sysroot })
}

/// What builds for the other architecture.
pub(super) struct Cross {
    /// For what is built and compared.
    folder: PathBuf,
    /// Holds the standard library.
    sysroot: PathBuf,
}

impl Cross {
    /// Installs what is missing, or says why it cannot.
    fn set_up(folder: PathBuf) -> Result<Self, String> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err("which is built and compared on Linux on x86-64".to_owned());
        }
        let lacks = |files: &[&'static str]| {
            let missing = files.iter().copied().find(|file| !Path::new(file).exists());
            missing.map(|file| format!("{file} is missing after apt-get"))
        };
        if lacks(&FILES).is_some() {
            if !is_root() || !runs("apt-get") {
                let packages = PACKAGES.join(" ");
                return Err(format!("as this is not root on Debian; install {packages}"));
            }
            let install = format!(
                "install --yes --no-install-recommends {}",
                PACKAGES.join(" ")
            );
            apt(&["update --quiet", &install], &folder)?;
            if let Some(missing) = lacks(&FILES) {
                return Err(missing);
            }
        }
        let version = version()?;
        let sysroot = folder.join(format!("std-{version}"));
        let library = sysroot.join("lib/rustlib").join(TRIPLE);
        if !library.exists() {
            if !is_root() {
                return Err("as only root fetches the standard library".to_owned());
            }
            let package = format!("{STANDARD_LIBRARY}:arm64={version}");
            download(&package, &folder)?;
            unpack(&folder, &version, &sysroot)?;
        }
        Ok(Self { folder, sysroot })
    }

    /// A cargo that builds for the target, and runs what it built in qemu.
    fn command(&self, words: &str) -> Command {
        let mut command = cargo();
        let (cargo_words, program_words) = match words.split_once(" -- ") {
            Some((cargo_words, program_words)) => (cargo_words, Some(program_words)),
            None => (words, None),
        };
        command.args(cargo_words.split_whitespace());
        command.args(["--target", TRIPLE]);
        if let Some(program_words) = program_words {
            command.arg("--").args(program_words.split_whitespace());
        }
        self.compile(&mut command);
        let variable = |name: &str| format!("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{name}");
        command
            .env("RUSTDOC", "/usr/bin/rustdoc")
            .env(variable("RUSTDOCFLAGS"), self.sysroot_option())
            .env(variable("LINKER"), "aarch64-linux-gnu-gcc")
            .env(
                variable("RUNNER"),
                "qemu-aarch64-static -L /usr/aarch64-linux-gnu",
            );
        command
    }

    /// Lets what a command builds be compiled for the target.
    pub(super) fn compile(&self, command: &mut Command) {
        let flags = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS";
        command.env("RUSTC", "/usr/bin/rustc");
        // Another compiler's crates would be built anew each time.
        command.env("CARGO_TARGET_DIR", &self.folder);
        command.env(flags, self.sysroot_option());
    }

    fn sysroot_option(&self) -> String {
        format!("--sysroot={}", self.sysroot.display())
    }

    fn cargo(&self, steps: &mut Steps, name: &str, words: &str) -> Result<(), Stop> {
        steps.step(name, &mut self.command(words))
    }

    /// `cargo clippy` would run the driver beside itself, which is of another version. This is what it does.
    fn clippy(&self, steps: &mut Steps) -> Result<(), Stop> {
        let mut check = self.command("check --locked --workspace --all-targets");
        check.env("RUSTC_WORKSPACE_WRAPPER", "/usr/bin/clippy-driver");
        check.env(
            "CLIPPY_ARGS",
            "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
        );
        steps.step("clippy for aarch64", &mut check)
    }

    /// The sums of both architectures.
    fn compare(&self, steps: &mut Steps) -> Result<(), Stop> {
        let path = |name: &str| self.folder.join(format!("repro-check-{name}.json"));
        let (here, there) = (path("x86-64"), path("aarch64"));
        let words = |path: &Path| format!("{REPRO_CHECK} {}", path.display());
        steps.xtask("repro-check here", &words(&here))?;
        let run = "run --locked --release -p xtask --bin xtask --";
        self.cargo(
            steps,
            "repro-check in qemu",
            &format!("{run} {}", words(&there)),
        )?;
        steps.check("the same bits on x86-64 and aarch64", || {
            let read = |path: &Path| {
                let text = fs::read_to_string(path);
                text.map_err(|error| format!("{}: {error}", path.display()))
            };
            let count = same_sums(&read(&here)?, &read(&there)?)?;
            Ok(format!("{count} sums have the same bytes"))
        })
    }
}

/// The number of ordered rows that both files have, byte for byte; or the first difference. An unordered sum depends on the level.
fn same_sums(here: &str, there: &str) -> Result<usize, String> {
    let ordered = |text: &str| -> Result<Vec<String>, String> {
        let mut rows = Vec::new();
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let order = row["order"].as_str().ok_or("a row has no order")?;
            if order != "none" {
                rows.push(line.to_owned());
            }
        }
        Ok(rows)
    };
    let (here, there) = (ordered(here)?, ordered(there)?);
    if here.is_empty() {
        return Err("there is no row in order".to_owned());
    }
    if here.len() != there.len() {
        return Err(format!("{} rows here, {} there", here.len(), there.len()));
    }
    let difference = here.iter().zip(&there).find(|(here, there)| here != there);
    match difference {
        Some((here, there)) => Err(format!("here {here}, there {there}")),
        None => Ok(here.len()),
    }
}

/// The version of the compiler's package, which the standard library must have, too.
fn version() -> Result<String, String> {
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Version}", PACKAGES[0]])
        .output()
        .map_err(|error| format!("dpkg-query: {error}"))?;
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && !version.is_empty() {
        Ok(version)
    } else {
        Err(format!("/usr/bin/rustc is not of package {}", PACKAGES[0]))
    }
}

/// Runs apt-get for each line of words, in a folder, and all of it again if one fails.
fn apt(lines: &[&str], folder: &Path) -> Result<(), String> {
    let run = |words: &&str| {
        let status = Command::new("apt-get")
            .args(words.split_whitespace())
            .env("DEBIAN_FRONTEND", "noninteractive")
            .current_dir(folder)
            .status();
        status.is_ok_and(|status| status.success())
    };
    let succeeds = (0..ATTEMPTS).any(|_| lines.iter().all(run));
    let failed = || {
        format!(
            "as apt-get failed {ATTEMPTS} times; is a mirror out of reach, or being brought up to date?"
        )
    };
    succeeds.then_some(()).ok_or_else(failed)
}

/// Fetches Debian's packages into a folder, which root can do.
pub(super) fn download(packages: &str, folder: &Path) -> Result<(), String> {
    let (update, download) = (
        format!("{APT} update"),
        format!("{APT} download {packages}"),
    );
    apt(&[&update, &download], folder)
}

/// Unpacks the standard library beside its place, and moves it there when it is whole.
fn unpack(folder: &Path, version: &str, sysroot: &Path) -> Result<(), String> {
    let escaped = version.replace(':', "%3a");
    let package = folder.join(format!("{STANDARD_LIBRARY}_{escaped}_arm64.deb"));
    let unpacked = folder.join("unpacked");
    let status = Command::new("dpkg-deb")
        .arg("-x")
        .args([&package, &unpacked])
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(format!("dpkg-deb did not unpack {}", package.display()));
    }
    let moved = fs::rename(unpacked.join("usr"), sysroot);
    moved.map_err(|error| format!("{}: {error}", sysroot.display()))
}

#[cfg(test)]
mod tests {
    use super::same_sums;

    fn row(bits: &str, order: &str) -> String {
        format!("{{\"bits\":\"{bits}\",\"order\":\"{order}\"}}\n")
    }

    #[test]
    fn sums_in_order_are_compared_byte_for_byte() {
        let tree = row("4000000000000000", "tree");
        let other = row("4000000000000001", "tree");
        let none = row("4000000000000002", "none");
        let (a, b) = (format!("{tree}{none}"), format!("{none}{tree}"));
        assert_eq!(same_sums(&a, &b), Ok(1));
        assert_eq!(same_sums(&tree, &tree), Ok(1));
        let difference = same_sums(&a, &other).unwrap_err();
        assert!(difference.contains("4000000000000001"), "{difference}");
        assert!(same_sums(&a, &format!("{tree}{tree}")).is_err());
        assert!(same_sums(&none, &none).is_err());
        assert!(same_sums("", "").is_err());
        assert!(same_sums("{}", "{}").is_err());
        assert!(same_sums("no json", "no json").is_err());
    }
}
