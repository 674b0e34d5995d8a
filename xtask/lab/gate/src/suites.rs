//! Runs the test suites under MPI, with one library at a time, and tests that kill processes. Also tests crate `treefold-rsmpi`, which is
//! built for each library and needs libclang.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::files::{listed, name};
use checkout::workspace::{Executable, executables, target};
use launch::{Installation, LIBRARIES, Launcher, Library, Source};

use crate::tests::{self, find};
use crate::{MPI_LIBRARIES, Result, Steps, cargo, run, setup};

/// The numbers of ranks on which the suites run.
struct Ranks {
    shared: &'static [usize],
    /// Without shared memory, as between nodes.
    without_shared_memory: &'static [usize],
    /// Both lists as text, for messages and records.
    shown: &'static str,
}

/// The rank counts for the first of two libraries. `OF_SECOND` swaps the lists, so each count runs once with shared memory and once without.
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

/// The rank counts for a library that is tested alone.
const OF_ONE: Ranks = Ranks {
    shared: &[1, 2, 3, 5],
    without_shared_memory: &[2, 3],
    shown: "1, 2, 3, 5; without shared memory 2, 3",
};

/// The numbers of ranks for the program whose ranks start more processes.
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
        None => matches!(library.source, Source::Wheel(_)),
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

/// Runs the tests of `comm` and `reduce` under MPI. These programs are also those of stage `threads`, built once for all libraries.
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
            let on = format!("{ranks} ranks, shared memory {shared_memory}");
            steps.step(format!("{package}, {library}, {on}"), launch)?;
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

/// Runs the suites, ranks that wait for a stopped rank, and the tests of the examples and commands.
fn all_suites(steps: &mut Steps, ranks: &Ranks) -> Result {
    // Builds all tests, since cargo builds a package's examples only if no test is named.
    let tests = tests::built(steps, "")?;
    suites(steps, &tests, ranks)?;
    let installation = steps.installation.clone();
    let library = installation.name().unwrap_or("MPI");
    // One rank is stopped, and the others wait for it until their silence limit. With each library, a different rank is stopped.
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

/// Runs ranks, one of which is stopped; the launcher then reports a failure. Returns the lines in which the other ranks say that they end.
fn ended_without(launch: &mut Command) -> Result<String> {
    let captured = run(launch)?;
    let lines = captured.output.lines();
    let ended: Vec<&str> = lines.filter(|line| line.contains("ends after")).collect();
    // The launcher may end all ranks as soon as one has ended.
    if ended.is_empty() || captured.errors.contains("panicked") {
        Err(format!("{}\n{}", captured.status, captured.all()).into())
    } else {
        Ok(ended.join(", "))
    }
}

const RSMPI_RANKS: [usize; 2] = [1, 3];

/// Runs the stage.
pub(crate) fn rsmpi(steps: &mut Steps) -> Result {
    if !has_libclang() {
        setup::install_packages("libclang-dev", "missing: libclang")?;
    }
    steps.with_each_library(|steps, name| {
        let library = Library::parse("--mpi", name)?;
        let folder = target()?.join("rsmpi");
        // The builds for all MPI libraries share a target folder, so each build replaces the programs of the previous one.
        let cargo = |words: &str| -> Command {
            let mut cargo = cargo(words);
            cargo.env("MPICC", library.program("mpicc"));
            cargo.env("CARGO_TARGET_DIR", &folder);
            cargo
        };
        // The build script of mpi-sys does not detect that the library has changed.
        let step = format!("clean before {name}");
        steps.step(step, cargo("clean --package mpi-sys"))?;
        let package = "--package treefold-rsmpi";
        // Clippy and examples run only once.
        let is_first = name == MPI_LIBRARIES[0];
        if is_first {
            let words = format!("clippy {package} --all-targets -- -D warnings");
            steps.build(format!("clippy, rsmpi for {name}"), cargo(&words))?;
        }
        let tests = format!("test --no-run {package}");
        steps.build(format!("tests, rsmpi for {name}"), cargo(&tests))?;
        let built = executables(&mut cargo(&tests))?;
        if is_first {
            let words = format!("test --doc {package}");
            steps.build(format!("doctests, rsmpi for {name}"), cargo(&words))?;
        }
        for target in ["ranks", "rsmpi_sum"] {
            let program = &find(&built, "treefold-rsmpi", target)?.path;
            let launcher = Launcher::of(steps.installation.clone(), program);
            for ranks in RSMPI_RANKS {
                let step = format!("rsmpi, {name}: {target}, p = {ranks}");
                steps.step(step, launcher.command(ranks, &[]))?;
            }
        }
        Ok(())
    })
}

/// Whether a file is libclang rather than libclang-cpp, which other packages install.
fn is_library(file: &Path) -> bool {
    let name = name(file);
    name.starts_with("libclang") && !name.starts_with("libclang-cpp")
}

/// Whether the binding generator can find libclang.
fn has_libclang() -> bool {
    let entries = |path: &Path| listed(path).unwrap_or_default().into_iter();
    let mut files = entries(Path::new("/usr/lib")).flat_map(|folder| entries(&folder.join("lib")));
    env::var_os("LIBCLANG_PATH").is_some() || files.any(|file| is_library(&file))
}

/// The MPI library that can report to ranks that a process has died.
const ULFM_LIBRARY: &str = "openmpi5";

/// The time limit of a job, after which its `mpirun` is killed. A hanging `mpirun` ignores a request to end: PRRTE of Open MPI 5.0.11 can
/// deadlock if ranks call `MPI_Abort`.
const LIMIT_SECONDS: &str = "300";

/// The number of moments at which the test of `reduce` kills processes.
const MOMENTS: usize = 4;

/// An algorithm of each kind: a schedule, a schedule whose ranks all wait for one rank, the thesis' algorithm, and the MPI library's own.
const ALGORITHMS: [&str; 4] = ["recursive-doubling", "binomial", "algorithm1", "mpi-native"];

/// The ranks of the example, and how many of them are killed, one after the other. Ten jobs kill a hundred ranks.
const EXAMPLE_RANKS: usize = 12;
const KILLED: usize = 10;
const SEEDS: usize = 10;

pub(crate) fn ulfm(steps: &mut Steps) -> Result {
    setup::install(&Installation::find(Some(ULFM_LIBRARY), None)?)?;
    let folder = Library::parse("--mpi", ULFM_LIBRARY)?.environment();
    let mpirun = folder.unwrap_or_default().join("bin/mpirun");
    let mpirun = mpirun.display();
    // With option `--with-ft ulfm`, the library reports that a process has died.
    let launcher =
        format!("timeout --signal=KILL {LIMIT_SECONDS} {mpirun} --with-ft ulfm -n {{ranks}}");
    let installation = Installation::find(Some(ULFM_LIBRARY), Some(&launcher))?;
    steps.with_installation(installation, |steps| {
        let test = "test --no-run --package treefold-reduce --test ulfm --features mpi";
        losses(steps, &program(test, "reduce", "ulfm")?)?;
        let example = "build --package treefold --example survivors --features mpi";
        survivors(steps, &program(example, "treefold", "survivors")?)
    })
}

fn program(words: &str, package: &str, target: &str) -> Result<PathBuf> {
    let built = executables(&mut cargo(words))?;
    Ok(find(&built, package, target)?.path.clone())
}

/// Tests plans of all kinds, killing one rank after the other.
fn losses(steps: &mut Steps, test: &Path) -> Result {
    for shared_memory in ["on", "off"] {
        let mut run = |name: String, ranks, words: &[&str]| {
            let mut launch = steps.installation.command(ranks, test);
            let variable = ("TREEFOLD_SHARED_MEMORY", shared_memory);
            launch.args(words).envs([variable]);
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

/// Runs the example with several seeds, each of which decides in which iterations ranks are killed.
fn survivors(steps: &mut Steps, example: &Path) -> Result {
    for seed in 1..=SEEDS {
        let mut launch = steps.installation.command(EXAMPLE_RANKS, example);
        launch.args([KILLED, seed].map(|number| number.to_string()));
        let step = format!("survivors, {EXAMPLE_RANKS} ranks, seed {seed}");
        steps.check(step, || {
            let captured = run(launch)?;
            let expected = format!("{EXAMPLE_RANKS} ranks, of which {KILLED} were lost");
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
