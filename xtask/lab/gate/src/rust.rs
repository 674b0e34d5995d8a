//! The stages that `cargo` and `cargo xtask` do alone.

use checkout::workspace::{cargo, excluded_packages};
use harness::installed::runs;

use super::members::{FEATURES, LAB, MEMBERS, product};
use super::steps::{Steps, Stop};

pub(super) fn checks(steps: &mut Steps) -> Result<(), Stop> {
    steps.cargo("format", "fmt --all --check")?;
    for package in excluded_packages()? {
        let name = package.file_name().unwrap_or_default().to_string_lossy();
        let mut format = cargo();
        format.args(["fmt", "--check"]).current_dir(&package);
        steps.step(&format!("format, {name}"), &mut format)?;
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
    steps.step(
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
    let product = product();
    steps.cargo("tests", &format!("test {product} --features {FEATURES}"))?;
    // Those of the benches are run by stage `commands`, which builds them.
    let lab = LAB.iter().filter(|&&member| member != "benches");
    let lab: String = lab.map(|member| format!(" --package {member}")).collect();
    steps.cargo("tests of the lab", &format!("test --release{lab}"))?;
    // What an optimiser may make of a zero shows only where it is at work. As the lab has built the crate.
    steps.cargo(
        "floating-point environments, optimised",
        "test --release --package treefold-reduce --features mpi,par --test environment",
    )?;
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
    Ok(())
}

pub(super) fn commands(steps: &mut Steps) -> Result<(), Stop> {
    let quick = "--ranks 1,2,17 --distribution all --algorithm all";
    steps.xtask("repro-check on threads", &format!("repro-check {quick}"))?;
    if steps.mpi() {
        steps.xtask(
            "repro-check under MPI",
            &format!("repro-check {quick} --backend mpi"),
        )?;
    }
    steps.xtask("campaign on threads", "campaign --cases 5000")?;
    let words = "campaign --cases 2000 --seed 20001 --leaks";
    steps.xtask("campaign on threads, leaks", words)?;
    if steps.mpi() {
        steps.xtask("campaign under MPI", "campaign --backend mpi --cases 200")?;
    }
    steps.cargo("benches, as tests", "bench --package benches -- --test")?;
    steps.xtask("bench --quick", "bench all --quick")?;
    if steps.mpi() {
        for name in ["reduce", "exact"] {
            let words = format!("bench {name} --quick --backend mpi");
            steps.xtask(&format!("bench {name} --quick under MPI"), &words)?;
        }
    }
    if !runs("valgrind") {
        println!("skipped: instruction counts, for want of valgrind");
        return Ok(());
    }
    steps.cargo(
        "instruction counts",
        "test --release --package benches --test instructions -- --nocapture",
    )
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
    let mut rust_alone = cargo();
    let words = "run --release --package xtask --bin xtask -- repro-check --ranks 1,2,17";
    rust_alone.args(words.split_whitespace());
    rust_alone
        .env("MPICC", nowhere)
        .env("PKG_CONFIG", nowhere)
        .env("LIBCLANG_PATH", nowhere);
    steps.step("repro-check with Rust alone", &mut rust_alone)
}

/// Ranks on the nodes of a cluster in a box.
pub(super) fn cluster(steps: &mut Steps) -> Result<(), Stop> {
    if let Err(error) = ::cluster::check() {
        println!("skipped: cluster: {error}");
        return Ok(());
    }
    steps.cargo(
        "clusters that run",
        "test --release --package treefold-cluster --test cluster",
    )?;
    let test = "test --release --package xtask --test cluster -- --ignored --nocapture";
    let mut command = cargo();
    steps.installation().pass_on(&mut command);
    command.args(test.split_whitespace());
    steps.step("ranks on nodes, and faults between nodes", &mut command)?;
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
