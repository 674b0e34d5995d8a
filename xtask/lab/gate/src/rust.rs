//! The stages that `cargo` and `cargo xtask` do alone.

use checkout::workspace::{cargo, excluded_packages};
use launch::Error;
use launch::installed::runs;

use super::members::{FEATURES, MEMBERS};
use super::prefixes;
use super::steps::{Steps, Stop};
use super::tests;

pub(super) fn checks(steps: &mut Steps) -> Result<(), Stop> {
    steps.cargo("format", "fmt --all --check")?;
    for package in excluded_packages()? {
        let name = package.file_name().unwrap_or_default().to_string_lossy();
        let mut format = cargo();
        format.args(["fmt", "--check"]).current_dir(&package);
        steps.build(&format!("format, {name}"), &mut format)?;
    }
    // Members that others give features to are looked at without them, too.
    let clippy = "clippy --all-targets";
    let few = "--package treefold --package treefold-comm --package treefold-reduce";
    steps.cargo(
        "clippy, few features",
        &format!("{clippy} {few} -- -D warnings"),
    )?;
    let all = format!("{clippy} {MEMBERS} --features {FEATURES} -- -D warnings");
    steps.cargo("clippy, all features", &all)?;
    let doc = format!("doc {MEMBERS} --no-deps --features {FEATURES}");
    let mut doc_command = cargo();
    steps.build(
        "docs",
        doc_command
            .args(doc.split_whitespace())
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    steps.cargo(
        "simd-kernels without std",
        "clippy -p treefold-simd-kernels --no-default-features -- -D warnings",
    )?;
    steps.cargo(
        "tree-index on bare metal",
        "build --locked --manifest-path crates/tree-index/bare-metal/Cargo.toml --target-dir target/bare-metal",
    )
}

pub(super) fn threads(steps: &mut Steps) -> Result<(), Stop> {
    tests::run_all(steps)?;
    steps.cargo(
        "examples of documentation",
        &format!("test --doc {MEMBERS} --features {FEATURES}"),
    )
}

/// The product of what the stages `threads` and `commands` meet in pairs: the published sums by everything on all numbers of ranks, and
/// all computed pages.
pub(super) fn product(steps: &mut Steps) -> Result<(), Stop> {
    tests::run_ignored(steps, "published")?;
    tests::run_ignored(steps, "papers")
}

pub(super) fn models(steps: &mut Steps) -> Result<(), Stop> {
    for (checker, name, tests) in [
        ("shuttle", "mailboxes under shuttle", "shuttled"),
        ("loom", "rings under loom", "loomed"),
    ] {
        let words =
            format!("test --package treefold-comm --lib --target-dir target/{checker} {tests}");
        let mut command = cargo();
        command.args(words.split_whitespace());
        command.env("RUSTFLAGS", format!("--cfg {checker}"));
        steps.build(name, &mut command)?;
    }
    Ok(())
}

/// What the optimiser may not change. With the features of what an installation builds, which is not built again.
pub(super) fn optimised(steps: &mut Steps) -> Result<(), Stop> {
    // What it may make of a zero shows only where it is at work.
    steps.cargo(
        "floating-point environments, optimised",
        "test --release --package treefold-reduce --features mpi,num-complex,par --test environment",
    )?;
    if !runs("valgrind") {
        steps.say("skipped: instruction counts, for want of valgrind");
        return Ok(());
    }
    steps.cargo(
        "instruction counts",
        "test --release --package instructions -- --nocapture",
    )
}

pub(super) fn commands(steps: &mut Steps) -> Result<(), Stop> {
    let quick = "--ranks 1,2,17 --distribution all --algorithm all";
    steps.xtask("repro-check on threads", &format!("repro-check {quick}"))?;
    // About a minute. Longer campaigns, from other seeds, run on request.
    steps.xtask("campaign on threads", "campaign --cases 3000")?;
    let words = "campaign --cases 1000 --seed 20001 --leaks";
    steps.xtask("campaign on threads, leaks", words)?;
    steps.xtask("bench --quick", "bench all --quick")?;
    if !steps.mpi() {
        return Ok(());
    }
    steps.xtask_of_ranks(
        "repro-check under MPI",
        &format!("repro-check {quick} --backend mpi"),
    )?;
    // All kinds of faults; then more of those that end the job, or leave other ranks waiting.
    let few = "--seed 20001 --cases 40 --ranks 3 --faults panic,kill,wrong-length,skip";
    let interposer = prefixes::prefix(steps)?.join("lib/libtreefold_pmpi.so");
    for words in ["--cases 200", few] {
        let mut campaign = tests::xtask(steps)?;
        campaign.args(["campaign", "--backend", "mpi"]);
        campaign.args(words.split_whitespace());
        campaign.arg("--interposer").arg(&interposer);
        steps.installation().pass_on(&mut campaign);
        let step = format!("campaign under MPI, {words}");
        steps.in_turn(|steps| steps.step(&step, &mut campaign))?;
    }
    for name in ["reduce", "exact"] {
        let words = format!("bench {name} --quick --backend mpi");
        steps.xtask_of_ranks(&format!("bench {name} --quick under MPI"), &words)?;
    }
    Ok(())
}

/// What build scripts use that compile C, read headers or look for libraries.
const BUILD_TOOLS: [&str; 5] = ["bindgen", "cc", "clang-sys", "cmake", "pkg-config"];

/// What `cargo xtask` has built is not built again: by the first step, none of it can have used MPI's tools.
pub(super) fn rust_alone(steps: &mut Steps) -> Result<(), Stop> {
    steps.check("no build script needs more than Rust", || {
        let mut tree = cargo();
        tree.args("tree --package xtask --edges normal,build --prefix none".split_whitespace());
        let output = tree.output().map_err(|error| error.to_string())?;
        let packages = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = packages
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let needs: Vec<&str> = names.filter(|name| BUILD_TOOLS.contains(name)).collect();
        match (output.status.success(), needs.is_empty()) {
            (true, true) => Ok(format!("none of {}", BUILD_TOOLS.join(", "))),
            (true, false) => Err(needs.join(", ")),
            (false, _) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    })?;
    let nowhere = "/nowhere";
    let mut rust_alone = tests::xtask(steps)?;
    rust_alone.args(["repro-check", "--ranks", "1,2,17"]);
    rust_alone
        .env("MPICC", nowhere)
        .env("PKG_CONFIG", nowhere)
        .env("LIBCLANG_PATH", nowhere);
    steps.step("repro-check with Rust alone", &mut rust_alone)
}

/// Ranks on the nodes of a cluster in a box.
pub(super) fn cluster(steps: &mut Steps) -> Result<(), Stop> {
    let mut empty = tests::xtask(steps)?;
    let empty = empty.args(["cluster", "--exec", "--", "true"]).output();
    let empty = empty.map_err(|error| Error::Run(format!("cluster: {error}")))?;
    if !empty.status.success() {
        let error = String::from_utf8_lossy(&empty.stderr).into_owned();
        steps.say(&format!("skipped: cluster: {error}"));
        return Ok(());
    }
    // Clusters without ranks run in stage `threads`.
    tests::run_ignored(steps, "cluster")?;
    let nodes = "cluster --nodes 4 --ranks-per-node 2";
    let check = "repro-check --ranks 1,2,4,8 --algorithm all";
    steps.xtask("repro-check on nodes", &format!("{nodes} -- {check}"))?;
    let network = "--delay 1ms --loss 0.5%";
    let check = "repro-check --ranks 8";
    let words = format!("{nodes} {network} -- {check}");
    steps.xtask("repro-check, delay and loss", &words)?;
    let words = "campaign --backend cluster --cases 160";
    steps.xtask("campaign on clusters", words)
}

pub(super) fn book(steps: &mut Steps) -> Result<(), Stop> {
    steps.cargo(
        "clippy, the book",
        "clippy --package xtask --bin book --features book -- -D warnings",
    )?;
    steps.xtask("the book builds", "book")
}
