//! The suites that run under MPI, on ranks of one library.

use std::process::Command;

use checkout::workspace::Executable;
use launch::{Error, LIBRARIES, Launcher, Library, Source};

use super::libraries::with_library;
use super::prefixes::MPI_LIBRARIES;
use super::steps::{Steps, Stop};
use super::tests;

/// On how many ranks the suites run.
struct Ranks {
    shared: &'static [usize],
    /// Where every message goes by MPI, as between nodes.
    without_shared_memory: &'static [usize],
    /// For a person.
    told: &'static str,
}

/// With this and a second library, each number of ranks runs once with shared memory and once without.
const OF_FIRST: Ranks = Ranks {
    shared: &[1, 3],
    without_shared_memory: &[2, 5],
    told: "1, 3; without shared memory 2, 5",
};

const OF_SECOND: Ranks = Ranks {
    shared: &[2, 5],
    without_shared_memory: &[1, 3],
    told: "2, 5; without shared memory 1, 3",
};

/// With a library that has no second.
const OF_ONE: Ranks = Ranks {
    shared: &[1, 2, 3, 5],
    without_shared_memory: &[2, 3],
    told: "1, 2, 3, 5; without shared memory 2, 3",
};

/// The numbers of ranks of programs that start more processes.
const MPI_RANKS_THAT_SPAWN: [usize; 2] = [1, 2];

/// Far more than ranks take that end without one which is stopped.
const STOPPED_TIMEOUT_SECONDS: &str = "60";

/// Far more than the MPI tests of one crate take.
const MPI_TIMEOUT_SECONDS: &str = "600";

/// The test of `reduce` that every rank runs.
const ON_RANKS: [&str; 4] = ["under_mpi", "--exact", "--ignored", "--nocapture"];

/// With the library that `--mpi` names, or with that of this machine.
pub(super) fn mpi(steps: &mut Steps) -> Result<(), Stop> {
    all_suites(steps, &OF_FIRST)
}

pub(super) fn mpich(steps: &mut Steps) -> Result<(), Stop> {
    with_library(steps, "mpich", |steps| all_suites(steps, &OF_SECOND))
}

fn all_suites(steps: &mut Steps, ranks: &Ranks) -> Result<(), Stop> {
    suites(steps, ranks, true)?;
    steps.note(&["comm", "reduce", "examples", "commands"], ranks.told);
    Ok(())
}

/// Those that can be installed, or the one that `--mpi` names.
pub(super) fn wheels(steps: &mut Steps) -> Result<(), Stop> {
    let is_chosen = |library: &&Library| match steps.installation().library() {
        Some(chosen) => chosen.name == library.name,
        None => matches!(library.source, Source::Wheel { .. }),
    };
    let chosen: Vec<&Library> = LIBRARIES.iter().filter(is_chosen).collect();
    for library in chosen {
        with_library(steps, library.name, |steps| {
            suites(steps, &OF_ONE, false)?;
            let words = "repro-check --backend mpi --ranks 1,2,5";
            steps.xtask_of_ranks(&format!("repro-check, {}", library.name), words)?;
            steps.note(&["comm", "reduce", "repro-check"], OF_ONE.told);
            Ok(())
        })?;
    }
    Ok(())
}

/// The tests of `comm` and `reduce` under MPI; and those of the examples and the commands, where `all` says so. They are those of stage
/// `threads`, built once for all libraries.
fn suites(steps: &mut Steps, ranks: &Ranks, all: bool) -> Result<(), Stop> {
    let installation = steps.installation().clone();
    let library = installation.name().unwrap_or("MPI");
    // All of them, if the examples are run, which cargo builds beside the tests of a package where no test is named.
    let names = if all {
        ""
    } else {
        "--test mpi --test plans --test spawn"
    };
    let tests: Vec<Executable> = tests::built(steps, names)?;
    let test_of = |package: &str, name: &str| {
        let mut of_name = tests
            .iter()
            .filter(|test| test.is_test && test.target == name);
        let found = of_name.find(|test| test.package.ends_with(package));
        let missing = || Error::Mpi(format!("cargo built no test `{name}` of {package}"));
        found.ok_or_else(|| Stop::Error(missing()))
    };
    let shared = ranks.shared.iter().map(|&ranks| (ranks, "on"));
    let alone = ranks
        .without_shared_memory
        .iter()
        .map(|&ranks| (ranks, "off"));
    let cases: Vec<_> = shared.chain(alone).collect();
    for (package, name, words) in [("comm", "mpi", &[][..]), ("reduce", "plans", &ON_RANKS)] {
        let suite = Launcher::of(installation.clone(), &test_of(package, name)?.path);
        for &(ranks, shared_memory) in &cases {
            let name =
                format!("{package}, {library}, {ranks} ranks, shared memory {shared_memory}");
            let mut launch = suite.command(ranks, words);
            // The launchers of Open MPI and of MPICH's family end ranks that wait for each other for ever.
            launch.env("MPIEXEC_TIMEOUT", MPI_TIMEOUT_SECONDS);
            launch.env("TREEFOLD_SHARED_MEMORY", shared_memory);
            steps.step(&name, &mut launch)?;
        }
    }
    let spawn = Launcher::of(installation.clone(), &test_of("comm", "spawn")?.path);
    for ranks in MPI_RANKS_THAT_SPAWN {
        let name = format!("comm, {library}, {ranks} ranks that start others");
        let mut launch = spawn.command(ranks, &[]);
        launch.env("MPIEXEC_TIMEOUT", MPI_TIMEOUT_SECONDS);
        steps.step(&name, &mut launch)?;
    }
    if !all {
        return Ok(());
    }
    // A rank is stopped with each library, and the others wait for it in vain: with the second library another rank.
    let is_second = installation.name() == Some(MPI_LIBRARIES[1]);
    let stopped = Launcher::of(installation.clone(), &test_of("comm", "stopped")?.path);
    let rank = if is_second { "2" } else { "0" };
    let name = format!("comm, {library}, rank {rank} of 4 is stopped");
    let mut launch = stopped.command(4, &[rank]);
    launch.env("MPIEXEC_TIMEOUT", STOPPED_TIMEOUT_SECONDS);
    steps.check(&name, || ended_without(&mut launch))?;
    if !is_second {
        let stopped = Launcher::of(installation.clone(), &test_of("reduce", "stopped")?.path);
        let mut launch = stopped.command(4, &["2"]);
        launch.env("MPIEXEC_TIMEOUT", STOPPED_TIMEOUT_SECONDS);
        let name = format!("reduce, {library}, rank 2 of 4 is stopped, the others test their runs");
        steps.check(&name, || ended_without(&mut launch))?;
    }
    for (step, package, name) in [
        ("examples", "treefold", "examples"),
        ("commands", "xtask", "mpi"),
    ] {
        let test = test_of(package, name)?;
        let mut command = Command::new(&test.path);
        installation.pass_on(&mut command);
        command.arg("--ignored");
        let step = format!("{step}, {library}");
        steps.step(&step, command.current_dir(&test.package))?;
    }
    Ok(())
}

/// Runs ranks that end without one of them, which the launcher takes for a failure. Says what they have printed.
fn ended_without(launch: &mut Command) -> Result<String, String> {
    let output = launch.output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let ended = printed.lines().filter(|line| line.contains("ends after"));
    let ended: Vec<&str> = ended.collect();
    // The launcher may end the others as soon as one has ended.
    if ended.is_empty() || errors.contains("panicked") {
        Err(format!("{}\n{printed}{errors}", output.status))
    } else {
        Ok(ended.join(", "))
    }
}
