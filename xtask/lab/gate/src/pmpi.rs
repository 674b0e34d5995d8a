//! The stage `pmpi`: an installed interposer before the programs of `bindings/interposer/tests`, which check every reduction by what MPI
//! says of it, and are not linked to treefold. What they find with the interposer they must find without it, but for the order of sums.

mod loaded;
mod names;
mod ranks;
mod told;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::workspace::{target, workspace};
use launch::Error;
use launch::installed::is_on_path;

use super::c::consumers::C_FLAGS;
use super::c::programs::{Program, programs};
use super::libraries::with_library;
use super::prefixes::{self, MPI_LIBRARIES};
use super::setup;
use super::shown::Shown;
use super::steps::{Steps, Stop};

use ranks::LIBRARY;
pub(super) use ranks::{Mode, check, launch, report};

/// The folder of the programs in C, and that of those in Fortran.
const C: [(&str, &str); 1] = [("tests/c", "c")];
const FORTRAN: [(&str, &str); 1] = [("tests/fortran", "F90")];

/// No fused operations: the programs compute what they expect. `mpif.h` declares no types of arguments, so that each call looks as if
/// it contradicted the others.
const FORTRAN_FLAGS: [&str; 5] = [
    "-O2",
    "-ffp-contract=off",
    "-ffree-line-length-none",
    "-fallow-argument-mismatch",
    "-w",
];

/// This program prints times, and has nothing to find on other numbers of ranks.
const OVERHEAD: &str = "overhead";
pub(crate) const OVERHEAD_RANKS: usize = 2;

/// Repetitions of the shortest message: a few, as a busy machine says little about times.
const OVERHEAD_REPETITIONS: &str = "20";

/// This program fails where the tree is expected and the MPI library's order is another one, as it is on so many ranks.
const BITS: &str = "bits";
const CANARY_RANKS: usize = 5;

/// So many make a sum of two.
const LAUNCHER_RANKS: usize = 2;

/// What the tutorial shows, with which library.
const TUTORIAL_LIBRARY: &str = "openmpi";
const TUTORIAL: Shown = Shown {
    page: "tutorial-check.md",
    command: "treefold-run --check mpirun -n 5 ./steps",
};

/// Runs the stage.
pub(super) fn pmpi(steps: &mut Steps) -> Result<(), Stop> {
    setup::install_compilers();
    let prefix = prefixes::prefix(steps)?;
    names::check(steps, &prefix.join("lib").join(LIBRARY))?;
    loaded::of_no_family(steps, &prefix)?;
    for library in MPI_LIBRARIES {
        with_library(steps, library, |steps| {
            let folder = target()?.join("pmpi-programs");
            let folder = folder.join(library);
            let failed = |error| Stop::Error(Error::file(&folder, error));
            fs::create_dir_all(&folder).map_err(failed)?;
            let suite = Suite {
                library,
                prefix: &prefix,
                folder: &folder,
            };
            suite.check(steps)
        })?;
    }
    Ok(())
}

/// The programs for one MPI library.
struct Suite<'a> {
    /// What ends the names of its compiler wrappers.
    library: &'a str,
    /// Where the interposer is installed.
    prefix: &'a Path,
    /// Where programs are built.
    folder: &'a Path,
}

impl Suite<'_> {
    fn check(&self, steps: &mut Steps) -> Result<(), Stop> {
        self.told(steps)?;
        self.loaded(steps)?;
        let package = workspace().join("bindings/interposer");
        for program in programs(&package, &C)? {
            let mut compile = self.compiler();
            let executable = self.compile(steps, &program, compile.args(C_FLAGS))?;
            if program.is(OVERHEAD) {
                let words = [OVERHEAD_REPETITIONS];
                self.run_program(steps, &executable, Mode::On, OVERHEAD_RANKS, &words)?;
                continue;
            }
            if program.is(BITS) {
                if self.library == MPI_LIBRARIES[0] {
                    self.canary(steps, &executable)?;
                }
                self.launcher(steps, &executable)?;
                self.run_in_all_modes(steps, &executable)?;
                // On 1, 2 and 3 ranks most orders have the tree's bits.
                if !Mode::On.ranks(self.library).contains(&CANARY_RANKS) {
                    self.run_program(steps, &executable, Mode::On, CANARY_RANKS, &[])?;
                }
                continue;
            }
            self.run_in_all_modes(steps, &executable)?;
        }
        self.tutorial(steps, &package)?;
        let fortran = programs(&package, &FORTRAN)?;
        let compiler = format!("mpifort.{}", self.library);
        if !is_on_path(&compiler) {
            println!("skipped: programs in Fortran, for want of {compiler}");
            return Ok(());
        }
        for program in fortran {
            let mut compile = Command::new(&compiler);
            compile.args(FORTRAN_FLAGS).arg(self.persistent());
            let executable = self.compile(steps, &program, &mut compile)?;
            self.run_in_all_modes(steps, &executable)?;
        }
        Ok(())
    }

    /// The library's compiler of C.
    fn compiler(&self) -> Command {
        Command::new(format!("mpicc.{}", self.library))
    }

    /// What the library calls a persistent reduction: Open MPI 4 has them before the standard.
    fn persistent(&self) -> &'static str {
        match self.library {
            "openmpi" => "-DALLREDUCE_INIT=MPIX_Allreduce_init",
            _ => "-DALLREDUCE_INIT=MPI_Allreduce_init",
        }
    }

    /// The report on docs/tutorial-check.md is that of its program, but for times and the library's version.
    fn tutorial(&self, steps: &mut Steps, package: &Path) -> Result<(), Stop> {
        for program in programs(package, &[("examples", "c")])? {
            let mut compile = self.compiler();
            let executable = self.compile(steps, &program, compile.args(C_FLAGS))?;
            self.run_in_all_modes(steps, &executable)?;
            if self.library != TUTORIAL_LIBRARY {
                continue;
            }
            let mut command = check(steps.installation(), self.prefix, CANARY_RANKS, &executable);
            let step = format!("{} as on its page", self.title(&executable));
            TUTORIAL.check(steps, &step, &mut command, without_times)?;
            self.vary(steps, &executable)?;
        }
        Ok(())
    }

    /// `treefold-run --vary` finds algorithms by which results part, unless they are treefold's.
    fn vary(&self, steps: &mut Steps, executable: &Path) -> Result<(), Stop> {
        let mut command = ranks::by_treefold_run(
            "--vary",
            steps.installation(),
            self.prefix,
            CANARY_RANKS,
            executable,
        );
        let step = format!("{} by treefold-run --vary", self.title(executable));
        steps.check(&step, || {
            let (status, told) = ranks::run(&mut command)?;
            let parts = ranks::says(&told, "without treefold, stdout parts at line 1");
            let is_same = ranks::says(&told, "with treefold, stdout is the same by all");
            if status.success() && parts && is_same {
                Ok(told)
            } else {
                Err(format!("{status}, and it says\n{told}"))
            }
        })
    }

    /// Compiles one file. Nothing of treefold is linked.
    fn compile(
        &self,
        steps: &mut Steps,
        program: &Program,
        command: &mut Command,
    ) -> Result<PathBuf, Stop> {
        let executable = self.folder.join(&program.name);
        command.arg(&program.source).arg("-o").arg(&executable);
        command.args(["-lm", "-pthread"]);
        let step = format!("{}: {} compiles", self.library, program.name);
        steps.build(&step, command)?;
        Ok(executable)
    }

    fn run_in_all_modes(&self, steps: &mut Steps, executable: &Path) -> Result<(), Stop> {
        for mode in Mode::ALL {
            for &ranks in mode.ranks(self.library) {
                self.run_program(steps, executable, mode, ranks, &[])?;
            }
        }
        Ok(())
    }

    fn run_program(
        &self,
        steps: &mut Steps,
        executable: &Path,
        mode: Mode,
        ranks: usize,
        words: &[&str],
    ) -> Result<(), Stop> {
        let prefix = self.prefix;
        let mut command = launch(steps.installation(), prefix, mode, ranks, executable);
        let step = format!("{}, p = {ranks}, {}", self.title(executable), mode.title());
        steps.step(&step, command.args(words))
    }

    /// The check of bits can fail.
    fn canary(&self, steps: &mut Steps, executable: &Path) -> Result<(), Stop> {
        let without = Mode::Without;
        let installation = steps.installation();
        let mut command = launch(installation, self.prefix, without, CANARY_RANKS, "env");
        command.arg("EXPECTED_BITS=tree").arg(executable);
        let step = format!(
            "{} finds other bits than the tree's",
            self.title(executable)
        );
        steps.check(&step, || {
            let output = command.output().map_err(|error| error.to_string())?;
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            match (output.status.success(), errors.contains("wrong == 0")) {
                (false, true) => Ok(format!("without the interposer, p = {CANARY_RANKS}")),
                (true, _) => Err("the MPI library's bits pass for the tree's".to_owned()),
                (false, false) => Err(format!("it fails for another reason:\n{errors}")),
            }
        })
    }

    /// `treefold-run` sets up everything, and its report names what was called.
    fn launcher(&self, steps: &mut Steps, executable: &Path) -> Result<(), Stop> {
        let mut command = check(
            steps.installation(),
            self.prefix,
            LAUNCHER_RANKS,
            executable,
        );
        let step = format!("{} by treefold-run --check", self.title(executable));
        report(steps, &step, &mut command, "Allreduce")?;
        self.which(steps, executable)
    }

    /// `treefold-run` tells which library a program calls, and refuses another one's launcher.
    fn which(&self, steps: &mut Steps, executable: &Path) -> Result<(), Stop> {
        let run = self.prefix.join("bin/treefold-run");
        for library in MPI_LIBRARIES {
            let launcher = format!("mpirun.{library}");
            let is_own = library == self.library;
            let (option, text) = if is_own {
                (
                    "--which",
                    format!("launcher: {launcher}, {library}\nprogram: libmpi"),
                )
            } else {
                (
                    "--check",
                    format!("{launcher} is of {library}, but the program is of "),
                )
            };
            let mut command = Command::new(&run);
            command
                .args([option, &*launcher, "-n", "2"])
                .arg(executable);
            let step = format!(
                "{} by treefold-run {option}, {launcher}",
                self.title(executable)
            );
            steps.check(&step, || {
                let (status, told) = ranks::run(&mut command)?;
                if status.success() == is_own && ranks::says(&told, &text) {
                    Ok(told.trim().to_owned())
                } else {
                    Err(format!("{status}, and it says\n{told}"))
                }
            })?;
        }
        Ok(())
    }

    fn title(&self, executable: &Path) -> String {
        let file = executable.file_name().unwrap_or_default();
        format!("{}: {}", self.library, file.display())
    }
}

/// The lines of a report that say what was found, without seconds, which are words with three decimals, and without places in a program.
fn without_times(report: &str) -> String {
    let is_found = |line: &&str| line.starts_with("  ");
    let is_before = |line: &&str| !line.starts_with("  The program ");
    let is_place =
        |line: &&str| line.contains("which differ, or may, from") || line.contains("+0x");
    let is_time = |word: &&str| {
        let decimals = word.split_once('.').map(|(_, decimals)| decimals);
        decimals.is_some_and(|decimals| decimals.len() == 3 && decimals.parse::<u16>().is_ok())
    };
    let words = report
        .lines()
        .skip_while(is_before)
        .filter(is_found)
        .filter(|line| !is_place(line))
        .flat_map(str::split_whitespace);
    words
        .filter(|word| !is_time(word))
        .collect::<Vec<_>>()
        .join(" ")
}
