//! Runs the test suites under MPI, with one library at a time.

use std::process::Command;

use checkout::workspace::Executable;
use launch::{LIBRARIES, Launcher, Library, Source};

use crate::commands::{Result, run};
use crate::libraries::MPI_LIBRARIES;
use crate::steps::Steps;
use crate::tests::{self, find};

/// The numbers of ranks on which the suites run.
struct Ranks {
    shared: &'static [usize],
    /// Without shared memory, as between nodes.
    without_shared_memory: &'static [usize],
    /// Both lists as text, for messages and records.
    shown: &'static str,
}

/// For the first of two libraries. `OF_SECOND` exchanges the lists, so each number of ranks runs once with shared memory and once without.
const OF_FIRST: Ranks = Ranks {
    shared: &[1, 3],
    without_shared_memory: &[2, 5],
    shown: "1, 3; without shared memory 2, 5",
};

const OF_SECOND: Ranks = Ranks {
    shared: &[2, 5],
    without_shared_memory: &[1, 3],
    shown: "2, 5; without shared memory 1, 3",
};

/// If only one library is tested.
const OF_ONE: Ranks = Ranks {
    shared: &[1, 2, 3, 5],
    without_shared_memory: &[2, 3],
    shown: "1, 2, 3, 5; without shared memory 2, 3",
};

/// The numbers of ranks of programs that start more processes.
const MPI_RANKS_THAT_SPAWN: [usize; 2] = [1, 2];

/// A time limit far above the time that ranks need to end after one of them is stopped.
const STOPPED_TIMEOUT_SECONDS: &str = "60";

/// A time limit far above the time of one crate's MPI tests.
const MPI_TIMEOUT_SECONDS: &str = "600";

/// The test of `reduce` that every rank runs.
const ON_RANKS: [&str; 4] = ["under_mpi", "--exact", "--ignored", "--nocapture"];

/// Runs the suites with the library that `--mpi` names, or with this machine's.
pub(crate) fn mpi(steps: &mut Steps) -> Result {
    all_suites(steps, &OF_FIRST)
}

pub(crate) fn mpich(steps: &mut Steps) -> Result {
    steps.with_library("mpich", |steps| all_suites(steps, &OF_SECOND))
}

/// Runs the suites with the libraries from PyPI, or the one that `--mpi` names.
pub(crate) fn wheels(steps: &mut Steps) -> Result {
    let is_chosen = |library: &&Library| match steps.installation.library() {
        Some(chosen) => chosen.name == library.name,
        None => matches!(library.source, Source::Wheel { .. }),
    };
    let chosen: Vec<&Library> = LIBRARIES.iter().filter(is_chosen).collect();
    for library in chosen {
        steps.with_library(library.name, |steps| {
            let tests = tests::built(steps, "--test mpi --test plans --test spawn")?;
            suites(steps, &tests, &OF_ONE)?;
            let words = "repro-check --backend mpi --ranks 1,2,5";
            steps.xtask_of_ranks(&format!("repro-check, {}", library.name), words)?;
            steps.note(&["comm", "reduce", "repro-check"], OF_ONE.shown);
            Ok(())
        })?;
    }
    Ok(())
}

/// The tests of `comm` and `reduce` under MPI: the programs of stage `threads`, built once for all libraries.
fn suites(steps: &mut Steps, tests: &[Executable], ranks: &Ranks) -> Result {
    let installation = steps.installation.clone();
    let library = installation.name().unwrap_or("MPI");
    let shared = ranks.shared.iter().map(|&ranks| (ranks, "on"));
    let alone = ranks.without_shared_memory;
    let alone = alone.iter().map(|&ranks| (ranks, "off"));
    let cases: Vec<_> = shared.chain(alone).collect();
    // The launchers of Open MPI and MPICH end ranks that hang.
    let timeout = ("MPIEXEC_TIMEOUT", MPI_TIMEOUT_SECONDS);
    for (package, name, words) in [("comm", "mpi", &[][..]), ("reduce", "plans", &ON_RANKS)] {
        let suite = Launcher::of(installation.clone(), &find(tests, package, name)?.path);
        for &(ranks, shared_memory) in &cases {
            let mut launch = suite.command(ranks, words);
            launch.envs([timeout, ("TREEFOLD_SHARED_MEMORY", shared_memory)]);
            let step =
                format!("{package}, {library}, {ranks} ranks, shared memory {shared_memory}");
            steps.step(step, launch)?;
        }
    }
    let spawn = Launcher::of(installation.clone(), &find(tests, "comm", "spawn")?.path);
    for ranks in MPI_RANKS_THAT_SPAWN {
        let mut launch = spawn.command(ranks, &[]);
        let step = format!("comm, {library}, {ranks} ranks that start others");
        steps.step(step, launch.envs([timeout]))?;
    }
    Ok(())
}

/// The same, ranks that wait for a stopped one, and the tests of the examples and commands.
fn all_suites(steps: &mut Steps, ranks: &Ranks) -> Result {
    // Builds all tests, since cargo builds a package's examples only if no test is named.
    let tests = tests::built(steps, "")?;
    suites(steps, &tests, ranks)?;
    let installation = steps.installation.clone();
    let library = installation.name().unwrap_or("MPI");
    // With each library one rank is stopped, and the others wait for it until the limit; each library stops another rank.
    let is_second = installation.name() == Some(MPI_LIBRARIES[1]);
    let stopped: &[_] = if is_second {
        &[("comm", "2", "")]
    } else {
        &[
            ("comm", "0", ""),
            ("reduce", "2", ", the others test their runs"),
        ]
    };
    for (package, rank, how) in stopped {
        let test = find(&tests, package, "stopped")?;
        let mut launch = Launcher::of(installation.clone(), &test.path).command(4, &[rank]);
        launch.env("MPIEXEC_TIMEOUT", STOPPED_TIMEOUT_SECONDS);
        let step = format!("{package}, {library}, rank {rank} of 4 is stopped{how}");
        steps.check(step, || ended_without(&mut launch))?;
    }
    for (step, package, name) in [
        ("examples", "treefold", "examples"),
        ("commands", "xtask", "mpi"),
    ] {
        let test = find(&tests, package, name)?;
        let mut command = Command::new(&test.path);
        installation.pass_on(&mut command);
        command.arg("--ignored").current_dir(&test.package);
        steps.step(format!("{step}, {library}"), command)?;
    }
    steps.note(&["comm", "reduce", "examples", "commands"], ranks.shown);
    Ok(())
}

/// Runs ranks that end without one of them, which the launcher reports as a failure. Returns their output.
fn ended_without(launch: &mut Command) -> Result<String> {
    let captured = run(launch)?;
    let ended = captured
        .output
        .lines()
        .filter(|line| line.contains("ends after"));
    let ended: Vec<&str> = ended.collect();
    // The launcher may end the others as soon as one has ended.
    if ended.is_empty() || captured.errors.contains("panicked") {
        Err(format!("{}\n{}", captured.status, captured.all()).into())
    } else {
        Ok(ended.join(", "))
    }
}
