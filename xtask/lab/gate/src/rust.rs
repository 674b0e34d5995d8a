//! The stages that consist of `cargo` and `cargo xtask` commands, and the stages `deny` and `fuzz`, whose tools are binaries from PyPI.

use std::env;
use std::path::{Path, PathBuf};

use checkout::files::{copy, listed, make, name, remove};
use checkout::workspace::{excluded_packages, published_members, target, workspace};

use crate::tests::{self, FEATURES, MEMBERS};
use crate::{
    Result, Steps, Stop, cargo, command, needs, output, prefix, run, setup, with_rust_alone, words,
    xtask,
};

pub(crate) fn checks(steps: &mut Steps) -> Result {
    steps.cargo("format", "fmt --all --check")?;
    for package in excluded_packages()? {
        let mut format = cargo("fmt --check");
        let step = format!("format, {}", name(&package));
        steps.build(step, format.current_dir(&package))?;
    }
    // In a build of the workspace, a member also gets the features that other members enable. These three are checked without them, too.
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
    // Programs that depend on the crate build it without optimisation by default. The thread of a test has as little stack as that of a rank.
    steps.cargo(
        "kernels without optimisation",
        "test --package treefold-simd-kernels --config profile.dev.package.treefold-simd-kernels.opt-level=0",
    )?;
    let words = format!("test --doc {MEMBERS} --features {FEATURES}");
    steps.cargo("examples of documentation", &words)
}

/// Tests all combinations, where `threads` and `commands` test pairs of choices: the published sums by all algorithms on all numbers of
/// ranks, and all computed pages.
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

/// Tests what the optimiser must not change. The features are those of the installation, so that its build is reused.
pub(crate) fn optimised(steps: &mut Steps) -> Result {
    // Only optimised code shows how the optimiser treats zeros.
    steps.cargo(
        "floating-point environments, optimised",
        "test --release --package treefold-reduce --features mpi,num-complex,par --test environment",
    )?;
    needs("instruction counts", &["valgrind"])?;
    steps.cargo(
        "instruction counts",
        "test --release --package instructions -- --nocapture",
    )
}

pub(crate) fn commands(steps: &mut Steps) -> Result {
    let quick = "repro-check --ranks 1,2,17 --distribution all --algorithm all";
    steps.xtask("repro-check on threads", quick)?;
    // This campaign takes about a minute. Longer campaigns, from other seeds, run on request.
    steps.xtask("campaign on threads", "campaign --cases 3000")?;
    let words = "campaign --cases 1000 --seed 20001 --leaks";
    steps.xtask("campaign on threads, leaks", words)?;
    steps.xtask("bench --quick", "bench all --quick")?;
    if !steps.mpi {
        return Ok(());
    }
    let words = format!("{quick} --backend mpi");
    steps.xtask_of_ranks("repro-check under MPI", &words)?;
    // The first campaign has all kinds of faults. The second has more cases of faults that end the job or leave other ranks waiting.
    let few = "--seed 20001 --cases 40 --ranks 3 --faults panic,kill,wrong-length,skip";
    let interposer = prefix(steps)?.join("lib/libtreefold_pmpi.so");
    for words in ["--cases 200", few] {
        let all = words!["campaign --backend mpi", words, "--interposer", interposer];
        let campaign = xtask(steps, all)?;
        let step = format!("campaign under MPI, {words}");
        steps.in_turn(|steps| steps.step(step, campaign))?;
    }
    for name in ["reduce", "exact"] {
        let words = format!("bench {name} --quick --backend mpi");
        steps.xtask_of_ranks(&format!("bench {name} --quick under MPI"), &words)?;
    }
    Ok(())
}

/// Crates by which build scripts compile C, read headers or find libraries.
const BUILD_TOOLS: [&str; 5] = ["bindgen", "cc", "clang-sys", "cmake", "pkg-config"];

/// Runs a command without MPI's tools. Programs that exist are not rebuilt, so the first step shows that no build used these tools.
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
    let mut check = xtask(steps, words!["repro-check --ranks 1,2,17"])?;
    steps.step("repro-check with Rust alone", with_rust_alone(&mut check))
}

/// Runs ranks on the nodes of a virtual cluster.
pub(crate) fn cluster(steps: &mut Steps) -> Result {
    let empty = run(xtask(steps, words!["cluster --exec -- true"])?)?;
    if !empty.status.success() {
        return Stop::skipped(format!("cluster: {}", empty.errors));
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
    let words = "clippy --package book -- -D warnings";
    steps.cargo("clippy, the book", words)?;
    steps.cargo("the book builds", "run --package book")
}

/// The member that needs an MPI library to build; stage `rsmpi` builds it.
const OF_ONE_LIBRARY: &str = "treefold-rsmpi";

/// The folder where cargo builds each member from its package alone.
const BUILT: &str = "target/packages";

/// Checks that every member can be packaged.
pub(crate) fn packages(steps: &mut Steps) -> Result {
    let words = packaging(&published_members()?);
    steps.cargo("packages", &format!("{words} --no-verify"))
}

/// Builds each member from its package alone.
pub(crate) fn packages_verified(steps: &mut Steps) -> Result {
    let members = built_members()?;
    // Cargo does not unpack or rebuild a package with the same version, even if its contents changed.
    remove(&workspace().join(BUILT))?;
    forget_unpacked(&members)?;
    let words = packaging(&members);
    steps.cargo(
        "packages, each built",
        &format!("{words} --target-dir {BUILT}"),
    )
}

/// The files that [`packages_verified`] creates.
pub(crate) fn built() -> Result<Vec<PathBuf>> {
    let folder = workspace().join(BUILT).join("package");
    let version = env!("CARGO_PKG_VERSION");
    let members = built_members()?.into_iter();
    Ok(members
        .map(|member| folder.join(format!("{member}-{version}.crate")))
        .collect())
}

fn built_members() -> Result<Vec<String>> {
    let mut members = published_members()?;
    members.retain(|name| name != OF_ONE_LIBRARY);
    Ok(members)
}

/// Removes packages that cargo unpacked earlier.
fn forget_unpacked(members: &[String]) -> Result {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let sources = home.unwrap_or_default().join("registry/src");
    // The folder may not exist yet.
    for registry in listed(&sources).unwrap_or_default() {
        for member in members {
            let name = format!("{member}-{}", env!("CARGO_PKG_VERSION"));
            remove(&registry.join(name))?;
        }
    }
    Ok(())
}

/// Cargo's arguments: one command packages all members, since they depend on each other and are not on crates.io yet. The gate also runs
/// before a commit, hence `--allow-dirty`.
fn packaging(members: &[String]) -> String {
    let chosen = members.iter().map(|name| format!(" --package {name}"));
    format!("package --allow-dirty{}", chosen.collect::<String>())
}

/// How long libFuzzer runs for each target.
const FUZZ_SECONDS: u32 = 60;

/// A limit on memory, above the needs of any target. No number in a file may cause a larger allocation.
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
    // The lock file of `libfuzzer` begins as a copy of the workspace's and is not kept.
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
        // libFuzzer writes new inputs to the first folder.
        fuzz.arg(&corpus).arg(begin).arg("--");
        fuzz.arg(format!("-max_total_time={FUZZ_SECONDS}"));
        fuzz.arg(format!("-rss_limit_mb={FUZZ_MEMORY_MIB}"));
        fuzz.arg(format!("-artifact_prefix={}/", found.display()));
        fuzz.env("RUSTUP_TOOLCHAIN", "nightly");
        // If an allocation of a plan fails, the plan must return an error and the process must not abort.
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
        Err(reason) => Stop::skipped(format!("{name}, {reason}")),
    }
}
