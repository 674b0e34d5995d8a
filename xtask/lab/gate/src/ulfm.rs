//! The stage `ulfm`: kills processes and lets the others continue, with Open MPI from PyPI.

use std::path::{Path, PathBuf};

use checkout::workspace::executables;
use launch::{Installation, Library};

use crate::commands::{Result, cargo, run};
use crate::setup;
use crate::steps::Steps;
use crate::tests::find;

/// The library that reports that a process has died.
const LIBRARY: &str = "openmpi5";

/// The time limit of a job, after which its `mpirun` is killed: a hanging one ignores a request to end (PRRTE of Open MPI 5.0.11 can
/// deadlock if ranks call `MPI_Abort`).
const LIMIT_SECONDS: &str = "300";

/// When the test of `reduce` kills processes, by number there.
const MOMENTS: usize = 4;

/// An algorithm of each kind: a schedule, one whose ranks all wait for one rank, the thesis' and the library's own.
const ALGORITHMS: [&str; 4] = ["recursive-doubling", "binomial", "algorithm1", "mpi-native"];

/// The ranks of the example, and how many of them are killed: one after the other, ten jobs make a hundred.
const RANKS: usize = 12;
const KILLED: usize = 10;
const SEEDS: usize = 10;

pub(crate) fn ulfm(steps: &mut Steps) -> Result {
    setup::install(&Installation::find(Some(LIBRARY), None)?)?;
    let folder = Library::parse("--mpi", LIBRARY)?.environment();
    let mpirun = folder.unwrap_or_default().join("bin/mpirun");
    let mpirun = mpirun.display();
    // With this option the library reports that a process has died.
    let launcher =
        format!("timeout --signal=KILL {LIMIT_SECONDS} {mpirun} --with-ft ulfm -n {{ranks}}");
    let installation = Installation::find(Some(LIBRARY), Some(&launcher))?;
    steps.with_installation(installation, |steps| {
        let test = "test --no-run --package treefold-reduce --test ulfm --features mpi";
        losses(steps, &built(test, "reduce", "ulfm")?)?;
        let example = "build --package treefold --example survivors --features mpi";
        survivors(steps, &built(example, "treefold", "survivors")?)
    })
}

fn built(words: &str, package: &str, target: &str) -> Result<PathBuf> {
    let built = executables(&mut cargo(words))?;
    Ok(find(&built, package, target)?.path.clone())
}

/// Tests plans of all kinds, killing one rank after the other.
fn losses(steps: &mut Steps, test: &Path) -> Result {
    for shared_memory in ["on", "off"] {
        let mut run = |name: String, ranks, words: &[&str]| {
            let mut launch = steps.installation.command(ranks, test);
            launch
                .args(words)
                .env("TREEFOLD_SHARED_MEMORY", shared_memory);
            steps.step(format!("{name}, shared memory {shared_memory}"), launch)
        };
        run("a world that shrinks without a loss".to_owned(), 3, &[])?;
        for algorithm in ALGORITHMS {
            for moment in 0..MOMENTS {
                let name = format!("3 of 5 ranks are killed, {algorithm}, moment {moment}");
                run(name, 5, &[&moment.to_string(), algorithm])?;
            }
        }
    }
    Ok(())
}

/// Runs the example with seeds; each job's ranks are killed in random iterations.
fn survivors(steps: &mut Steps, example: &Path) -> Result {
    for seed in 1..=SEEDS {
        let mut launch = steps.installation.command(RANKS, example);
        launch.args([KILLED, seed].map(|number| number.to_string()));
        steps.check(format!("survivors, {RANKS} ranks, seed {seed}"), || {
            let captured = run(launch)?;
            let expected = format!("{RANKS} ranks, of which {KILLED} were lost");
            let lines = captured.output.lines();
            let line = lines.skip_while(|line| !line.starts_with(&expected)).nth(1);
            match line.filter(|line| line.ends_with("all as on one rank")) {
                Some(line) if captured.status.success() => Ok(line.to_owned()),
                _ => Err(format!("{}\n{}", captured.status, captured.all()).into()),
            }
        })?;
    }
    let killed_count = KILLED * SEEDS;
    println!("{killed_count} processes were killed, and every iterate had the same bits");
    Ok(())
}
