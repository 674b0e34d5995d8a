//! The stage `ulfm`: processes are killed, and the others go on, with Open MPI from PyPI.

use std::path::Path;
use std::process::Stdio;

use checkout::workspace::{Executable, cargo, executables};
use launch::{Error, Installation, Library};

use super::setup;
use super::steps::{Steps, Stop};

/// The library that reports that a process has died.
const LIBRARY: &str = "openmpi5";

/// How long a job may take. Its `mpirun` is killed then: one that hangs takes no notice of a request to end (PRRTE of Open MPI 5.0.11 can
/// wait for a lock of its own for ever, where ranks call `MPI_Abort`).
const LIMIT_SECONDS: &str = "300";

/// When processes are killed in the test of `reduce`, by their numbers there.
const MOMENTS: usize = 4;

/// Algorithms of each kind: a schedule, one whose ranks wait for one of them, the thesis' and the library's own.
const ALGORITHMS: [&str; 4] = ["recursive-doubling", "binomial", "algorithm1", "mpi-native"];

/// The ranks of the example, and how many of them are killed: one after the other, ten jobs make a hundred.
const RANKS: usize = 12;
const KILLED: usize = 10;
const SEEDS: u64 = 10;

pub(super) fn ulfm(steps: &mut Steps) -> Result<(), Stop> {
    let installation = installation().map_err(Stop::Error)?;
    steps.with_installation(installation, |steps| {
        let test = built(
            "test --no-run --package treefold-reduce --test ulfm --features mpi",
            "ulfm",
        )?;
        let example = built(
            "build --package treefold --example survivors --features mpi",
            "survivors",
        )?;
        losses(steps, &test.path)?;
        survivors(steps, &example.path)
    })
}

/// The library, started so that it reports that a process has died.
fn installation() -> Result<Installation, Error> {
    setup::install(&Installation::find(Some(LIBRARY), None)?)?;
    let folder = Library::parse("--mpi", LIBRARY)?
        .environment()
        .unwrap_or_default();
    let mpirun = folder.join("bin/mpirun");
    let launcher = format!(
        "timeout --signal=KILL {LIMIT_SECONDS} {} --with-ft ulfm -n {{ranks}}",
        mpirun.display()
    );
    Installation::find(Some(LIBRARY), Some(&launcher))
}

fn built(words: &str, target: &str) -> Result<Executable, Stop> {
    let built = executables(cargo().args(words.split_whitespace()))?;
    let mut of_target = built.into_iter().filter(|one| one.target == target);
    let missing = || Stop::Error(Error::Mpi(format!("cargo built no `{target}`")));
    of_target.next().ok_or_else(missing)
}

/// Plans of all kinds, from which one rank after the other is killed.
fn losses(steps: &mut Steps, test: &Path) -> Result<(), Stop> {
    for shared_memory in ["on", "off"] {
        let mut launch = steps.installation().command(3, test);
        launch.env("TREEFOLD_SHARED_MEMORY", shared_memory);
        let name = format!("a world that shrinks without a loss, shared memory {shared_memory}");
        steps.step(&name, &mut launch)?;
        for algorithm in ALGORITHMS {
            for moment in 0..MOMENTS {
                let mut launch = steps.installation().command(5, test);
                launch.args([&moment.to_string(), algorithm]);
                launch.env("TREEFOLD_SHARED_MEMORY", shared_memory);
                let name = format!(
                    "3 of 5 ranks are killed, {algorithm}, moment {moment}, shared memory {shared_memory}"
                );
                steps.step(&name, &mut launch)?;
            }
        }
    }
    Ok(())
}

/// The example, by seeds; each job's ranks are killed in random iterations.
fn survivors(steps: &mut Steps, example: &Path) -> Result<(), Stop> {
    let mut killed_count = 0;
    for seed in 1..=SEEDS {
        let mut launch = steps.installation().command(RANKS, example);
        launch.args([&KILLED.to_string(), &seed.to_string()]);
        launch.stdin(Stdio::null());
        let name = format!("survivors, {RANKS} ranks, seed {seed}");
        steps.check(&name, || {
            let output = launch.output().map_err(|error| error.to_string())?;
            let printed = String::from_utf8_lossy(&output.stdout);
            let expected = format!("{RANKS} ranks, of which {KILLED} were lost");
            let lines = printed.lines();
            let line = lines.skip_while(|line| !line.starts_with(&expected)).nth(1);
            match line.filter(|line| line.ends_with("all as on one rank")) {
                Some(line) if output.status.success() => Ok(line.to_owned()),
                _ => {
                    let errors = String::from_utf8_lossy(&output.stderr);
                    Err(format!("{}\n{printed}{errors}", output.status))
                }
            }
        })?;
        killed_count += KILLED;
    }
    println!("{killed_count} processes were killed, and every iterate had the same bits");
    Ok(())
}
