//! The stages that consist of `cargo` and `cargo xtask` commands.

use checkout::workspace::excluded_packages;

use crate::commands::{Result, Stop, cargo, output, run, with_rust_alone, words};
use crate::files::name;
use crate::libraries;
use crate::setup;
use crate::steps::Steps;
use crate::tests::{self, FEATURES, MEMBERS};

pub(crate) fn checks(steps: &mut Steps) -> Result {
    steps.cargo("format", "fmt --all --check")?;
    for package in excluded_packages()? {
        let mut format = cargo("fmt --check");
        let step = format!("format, {}", name(&package));
        steps.build(step, format.current_dir(&package))?;
    }
    // Members that get features from others are also checked without these.
    steps.cargo(
        "clippy, few features",
        "clippy --all-targets --package treefold --package treefold-comm --package treefold-reduce -- -D warnings",
    )?;
    let all = format!("clippy --all-targets {MEMBERS} --features {FEATURES} -- -D warnings");
    steps.cargo("clippy, all features", &all)?;
    let mut docs = cargo(&format!("doc {MEMBERS} --no-deps --features {FEATURES}"));
    steps.build("docs", docs.env("RUSTDOCFLAGS", "-D warnings"))?;
    steps.cargo(
        "simd-kernels without std",
        "clippy -p treefold-simd-kernels --no-default-features -- -D warnings",
    )?;
    steps.cargo(
        "tree-index on bare metal",
        "build --locked --manifest-path crates/tree-index/bare-metal/Cargo.toml --target-dir target/bare-metal",
    )
}

pub(crate) fn threads(steps: &mut Steps) -> Result {
    tests::run_all(steps)?;
    let words = format!("test --doc {MEMBERS} --features {FEATURES}");
    steps.cargo("examples of documentation", &words)
}

/// All combinations of what `threads` and `commands` test in pairs: the published sums by all algorithms on all numbers of ranks, and
/// all computed pages.
pub(crate) fn product(steps: &mut Steps) -> Result {
    tests::run_ignored(steps, "published")?;
    tests::run_ignored(steps, "papers")
}

pub(crate) fn models(steps: &mut Steps) -> Result {
    for (checker, name, tests) in [
        ("shuttle", "mailboxes under shuttle", "shuttled"),
        ("loom", "rings under loom", "loomed"),
    ] {
        let words =
            format!("test --package treefold-comm --lib --target-dir target/{checker} {tests}");
        let flags = format!("--cfg {checker}");
        steps.build(name, cargo(&words).env("RUSTFLAGS", flags))?;
    }
    Ok(())
}

/// Tests what the optimiser must not change. Uses the installation's features, to reuse its build.
pub(crate) fn optimised(steps: &mut Steps) -> Result {
    // Its treatment of zeros shows only in optimised code.
    steps.cargo(
        "floating-point environments, optimised",
        "test --release --package treefold-reduce --features mpi,num-complex,par --test environment",
    )?;
    setup::needs("instruction counts", &["valgrind"])?;
    steps.cargo(
        "instruction counts",
        "test --release --package instructions -- --nocapture",
    )
}

pub(crate) fn commands(steps: &mut Steps) -> Result {
    let quick = "repro-check --ranks 1,2,17 --distribution all --algorithm all";
    steps.xtask("repro-check on threads", quick)?;
    // About a minute. Longer campaigns, from other seeds, run on request.
    steps.xtask("campaign on threads", "campaign --cases 3000")?;
    let words = "campaign --cases 1000 --seed 20001 --leaks";
    steps.xtask("campaign on threads, leaks", words)?;
    steps.xtask("bench --quick", "bench all --quick")?;
    if !steps.mpi {
        return Ok(());
    }
    let words = format!("{quick} --backend mpi");
    steps.xtask_of_ranks("repro-check under MPI", &words)?;
    // All kinds of faults; then more of the faults that end the job or leave other ranks waiting.
    let few = "--seed 20001 --cases 40 --ranks 3 --faults panic,kill,wrong-length,skip";
    let interposer = libraries::prefix(steps)?.join("lib/libtreefold_pmpi.so");
    for words in ["--cases 200", few] {
        let all = words!["campaign --backend mpi", words, "--interposer", interposer];
        let campaign = tests::xtask(steps, all)?;
        let step = format!("campaign under MPI, {words}");
        steps.in_turn(|steps| steps.step(step, campaign))?;
    }
    for name in ["reduce", "exact"] {
        let words = format!("bench {name} --quick --backend mpi");
        steps.xtask_of_ranks(&format!("bench {name} --quick under MPI"), &words)?;
    }
    Ok(())
}

/// The tools of build scripts that compile C, read headers or find libraries.
const BUILD_TOOLS: [&str; 5] = ["bindgen", "cc", "clang-sys", "cmake", "pkg-config"];

/// Programs that `cargo xtask` has built are not rebuilt: the first step shows that they cannot have used MPI's tools.
pub(crate) fn rust_alone(steps: &mut Steps) -> Result {
    steps.check("no build script needs more than Rust", || {
        let tree = "tree --package xtask --edges normal,build --prefix none";
        let packages = output(cargo(tree))?;
        let names = packages.lines();
        let names = names.filter_map(|line| line.split_whitespace().next());
        let needs: Vec<&str> = names.filter(|name| BUILD_TOOLS.contains(name)).collect();
        match needs[..] {
            [] => Ok(format!("none of {}", BUILD_TOOLS.join(", "))),
            _ => Err(needs.join(", ").into()),
        }
    })?;
    let mut check = tests::xtask(steps, words!["repro-check --ranks 1,2,17"])?;
    steps.step("repro-check with Rust alone", with_rust_alone(&mut check))
}

/// Ranks on the nodes of a virtual cluster.
pub(crate) fn cluster(steps: &mut Steps) -> Result {
    let empty = run(tests::xtask(steps, words!["cluster --exec -- true"])?)?;
    if !empty.status.success() {
        return Err(Stop::Skipped(format!("cluster: {}", empty.errors)));
    }
    // Clusters without ranks run in stage `threads`.
    tests::run_ignored(steps, "cluster")?;
    let nodes = "cluster --nodes 4 --ranks-per-node 2";
    for (name, words) in [
        (
            "repro-check on nodes",
            "-- repro-check --ranks 1,2,4,8 --algorithm all",
        ),
        (
            "repro-check, delay and loss",
            "--delay 1ms --loss 0.5% -- repro-check --ranks 8",
        ),
    ] {
        steps.xtask(name, &format!("{nodes} {words}"))?;
    }
    let words = "campaign --backend cluster --cases 160";
    steps.xtask("campaign on clusters", words)
}

pub(crate) fn book(steps: &mut Steps) -> Result {
    steps.cargo(
        "clippy, the book",
        "clippy --package xtask --bin book --features book -- -D warnings",
    )?;
    steps.xtask("the book builds", "book")
}
