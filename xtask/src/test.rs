//! `cargo xtask test`: everything that CI runs, step by step, and the first step that fails ends it.

use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;

use crate::error::Error;
use crate::mpi::{Launcher, cargo, executables, is_root, missing, runs, workspace};

/// Debian's packages: MPI's library, headers and launcher, libclang for the bindings, valgrind for instruction counts.
const PACKAGES: [&str; 4] = ["libopenmpi-dev", "openmpi-bin", "libclang-dev", "valgrind"];

/// Rank counts of the MPI tests.
const MPI_RANKS: [usize; 4] = [1, 2, 3, 5];

/// The same where every message goes by MPI, as between nodes.
const MPI_RANKS_WITHOUT_SHARED_MEMORY: [usize; 2] = [2, 5];

/// Far more than the MPI tests of one crate take.
const MPI_TIMEOUT_SECONDS: &str = "600";

/// Options of `test`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Leave out everything that needs MPI
    #[arg(long)]
    no_mpi: bool,
}

/// Runs the command; true if every step passed.
pub fn run(options: &Options) -> Result<bool, Error> {
    let mut steps = Steps::default();
    let mpi = !options.no_mpi;
    if mpi {
        set_up_mpi()?;
    }
    if !steps.all(|steps| {
        checks(steps, mpi)
            .and_then(|()| tests(steps, mpi))
            .and_then(|()| commands(steps, mpi))
    })? {
        return Ok(false);
    }
    if !mpi {
        println!("skipped by --no-mpi: all MPI tests and the MPI repro-check");
    }
    println!("\n{} passed, 0 failed", steps.passed_count);
    Ok(true)
}

/// All features but MPI's.
const FEATURES: &str = "treefold/tracing,treefold/par,treefold/num-complex";

/// The count of steps, and their announcements.
#[derive(Default)]
struct Steps {
    passed_count: usize,
}

/// Why the steps end early.
enum Stop {
    /// A step failed.
    Failed,
    /// A step could not be run.
    Error(Error),
}

impl Steps {
    fn all(&mut self, steps: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<bool, Error> {
        match steps(self) {
            Ok(()) => Ok(true),
            Err(Stop::Failed) => {
                println!("\n{} passed, 1 failed", self.passed_count);
                Ok(false)
            }
            Err(Stop::Error(error)) => Err(error),
        }
    }

    /// Runs one command.
    fn step(&mut self, name: &str, command: &mut Command) -> Result<(), Stop> {
        println!("\n── {name}");
        let begin = Instant::now();
        let status = command.stdin(Stdio::null()).status();
        let status = status.map_err(|error| Stop::Error(Error::Run(format!("{name}: {error}"))))?;
        let seconds = begin.elapsed().as_secs_f64();
        if !status.success() {
            println!("── FAILED: {name} ({status}, {seconds:.0} s)");
            return Err(Stop::Failed);
        }
        println!("── passed: {name} ({seconds:.0} s)");
        self.passed_count += 1;
        Ok(())
    }

    /// Runs `cargo` with these words.
    fn cargo(&mut self, name: &str, words: &str) -> Result<(), Stop> {
        self.step(name, cargo().args(words.split_whitespace()))
    }

    /// Runs this very program with these words.
    fn xtask(&mut self, name: &str, words: &str) -> Result<(), Stop> {
        let own = env::current_exe().map_err(|error| Stop::Error(Error::Run(error.to_string())))?;
        self.step(
            name,
            Command::new(own)
                .args(words.split_whitespace())
                .current_dir(workspace()),
        )
    }
}

/// Installs what is missing, if it may.
fn set_up_mpi() -> Result<(), Error> {
    let mut lacking = missing();
    if !runs("valgrind") {
        lacking.push("valgrind");
    }
    if lacking.is_empty() {
        return Ok(());
    }
    let lacking = lacking.join(", ");
    let advice = format!(
        "missing: {lacking}; install {}, or leave MPI out by --no-mpi",
        PACKAGES.join(" ")
    );
    let sudo = match is_root() {
        true => None,
        false
            if Command::new("sudo")
                .args(["-n", "true"])
                .status()
                .is_ok_and(|status| status.success()) =>
        {
            Some("sudo")
        }
        false => return Err(Error::Mpi(advice)),
    };
    if !runs("apt-get") {
        return Err(Error::Mpi(advice));
    }
    println!("── installing what is missing: {lacking}");
    let install = ["install", "--yes", "--no-install-recommends"];
    for words in [&["update"][..], &[&install[..], &PACKAGES].concat()] {
        let mut command = match sudo {
            Some(sudo) => Command::new(sudo),
            None => Command::new("apt-get"),
        };
        if sudo.is_some() {
            command.arg("apt-get");
        }
        let status = command
            .arg("--quiet")
            .args(words)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(Error::Mpi(format!("apt-get {} failed; {advice}", words[0])));
        }
    }
    match missing()[..] {
        [] => Ok(()),
        ref still => Err(Error::Mpi(format!(
            "still missing after apt-get: {}; {advice}",
            still.join(", ")
        ))),
    }
}

/// What is told without running the code.
fn checks(steps: &mut Steps, mpi: bool) -> Result<(), Stop> {
    steps.cargo("format", "fmt --all --check")?;
    let clippy = "clippy --workspace --all-targets";
    steps.cargo("clippy", &format!("{clippy} -- -D warnings"))?;
    let with = |features: &str| format!("{clippy} --features {features} -- -D warnings");
    steps.cargo(
        "clippy, all features but MPI",
        &with(&format!("{FEATURES},xtask/book")),
    )?;
    if mpi {
        steps.cargo(
            "clippy, MPI",
            &with(&format!("{FEATURES},treefold/mpi,xtask/mpi")),
        )?;
    }
    let features = if mpi {
        format!("{FEATURES},treefold/mpi")
    } else {
        FEATURES.to_owned()
    };
    let doc = format!("doc --workspace --no-deps --features {features}");
    let mut doc_command = cargo();
    steps.step(
        "docs",
        doc_command
            .args(doc.split_whitespace())
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    steps.xtask("the book builds", "book")?;
    steps.cargo(
        "simd-kernels without std",
        "clippy -p treefold-simd-kernels --no-default-features -- -D warnings",
    )?;
    steps.cargo(
        "tree-index on bare metal",
        "build --locked --manifest-path crates/tree-index/bare-metal/Cargo.toml --target-dir target/bare-metal",
    )
}

fn tests(steps: &mut Steps, mpi: bool) -> Result<(), Stop> {
    steps.cargo("tests", &format!("test --workspace --features {FEATURES}"))?;
    for (checker, name, tests) in [
        ("shuttle", "mailboxes under shuttle", "shuttled"),
        ("loom", "rings under loom", "loomed"),
    ] {
        let words =
            format!("test --package treefold-comm --lib --target-dir target/{checker} {tests}");
        let mut command = cargo();
        command.args(words.split_whitespace());
        command.env("RUSTFLAGS", format!("--cfg {checker}"));
        steps.step(name, &mut command)?;
    }
    if !mpi {
        return Ok(());
    }
    for package in ["treefold-comm", "treefold-reduce"] {
        let build = [
            "test",
            "--no-run",
            "--package",
            package,
            "--test",
            "mpi",
            "--features",
            "mpi",
        ];
        let programs = executables(cargo().args(build)).map_err(Stop::Error)?;
        let shared = MPI_RANKS.map(|ranks| (ranks, "on"));
        let alone = MPI_RANKS_WITHOUT_SHARED_MEMORY.map(|ranks| (ranks, "off"));
        for (ranks, shared_memory) in shared.into_iter().chain(alone) {
            for program in &programs {
                let name =
                    format!("{package} under mpirun, {ranks} ranks, shared memory {shared_memory}");
                let mut mpirun = Launcher::of(program).command(ranks, &[]);
                // Both Open MPI's and MPICH's launcher end ranks that wait for each other for ever.
                mpirun.env("MPIEXEC_TIMEOUT", MPI_TIMEOUT_SECONDS);
                mpirun.env("TREEFOLD_SHARED_MEMORY", shared_memory);
                steps.step(&name, &mut mpirun)?;
            }
        }
    }
    steps.cargo(
        "commands under MPI",
        "test --package xtask --features mpi --test mpi",
    )
}

fn commands(steps: &mut Steps, mpi: bool) -> Result<(), Stop> {
    let quick = "--ranks 1,2,17 --distribution all --algorithm all";
    steps.xtask("repro-check on threads", &format!("repro-check {quick}"))?;
    if mpi {
        steps.xtask(
            "repro-check under MPI",
            &format!("repro-check {quick} --backend mpi"),
        )?;
    }
    steps.cargo("benches, as tests", "bench --package benches -- --test")?;
    steps.xtask("bench --quick", "bench all --quick")?;
    if mpi {
        steps.xtask(
            "bench reduce --quick under MPI",
            "bench reduce --quick --backend mpi",
        )?;
    }
    if runs("valgrind") {
        steps.cargo(
            "instruction counts",
            "test --release --package benches --test instructions -- --nocapture",
        )?;
    } else {
        println!("skipped: instruction counts, for want of valgrind");
    }
    // The main job must need Rust alone: with MPI's tools out of reach it still builds and runs.
    let nowhere = "/nowhere";
    let mut rust_alone = cargo();
    let words = "run --release --package xtask --bin xtask --target-dir target/rust-alone -- repro-check --ranks 1,2,17";
    rust_alone.args(words.split_whitespace());
    rust_alone
        .env("MPICC", nowhere)
        .env("PKG_CONFIG", nowhere)
        .env("LIBCLANG_PATH", nowhere);
    steps.step("repro-check with Rust alone", &mut rust_alone)
}
