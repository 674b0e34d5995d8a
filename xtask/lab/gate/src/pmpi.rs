//! The stage `pmpi`: runs the programs of `bindings/interposer/tests` with an installed interposer. The programs check every reduction against
//! the MPI standard, and are not linked to treefold. They must pass with and without the interposer; only the expected bits of sums differ.

mod messages;
mod ranks;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use checkout::files::{make, name};
use checkout::workspace::{target, workspace};
use launch::installed::is_on_path;
use ranks::LIBRARY;

use crate::c::programs::programs;
use crate::c::symbols::exported;
use crate::pages::Shown;
use crate::python::{for_mpi4py, mpi4py};
use crate::{MPI_LIBRARIES, Result, Steps, Stop, command, prefix, run, setup, words};

pub(crate) use ranks::{Mode, compile, launch, treefold_run};

/// The folders of the C programs, the Fortran programs and the tutorial's program.
const C: [(&str, &str); 1] = [("tests/c", "c")];
const FORTRAN: [(&str, &str); 1] = [("tests/fortran", "F90")];
const EXAMPLES: [(&str, &str); 1] = [("examples", "c")];

/// The program that prints times, and the number of ranks on which it runs. Other numbers would show nothing new.
const OVERHEAD: &str = "overhead";
pub(crate) const OVERHEAD_RANKS: usize = 2;

/// The number of repetitions of the shortest message. It is small, since times on a busy machine mean little.
const OVERHEAD_REPETITIONS: &str = "20";

/// The program that compares bits with the tree's, and a number of ranks on which the MPI library's order differs from the tree's.
const BITS: &str = "bits";
const CANARY_RANKS: usize = 5;

/// The number of ranks under `treefold-run`. On two ranks, every order of a sum gives the same bits.
const LAUNCHER_RANKS: usize = 2;

/// The tutorial's MPI library and command.
const TUTORIAL_LIBRARY: &str = "openmpi";
const TUTORIAL: Shown = Shown(
    "tutorial-check.md",
    "treefold-run --check mpirun -n 5 ./steps",
);

/// Runs the stage.
pub(crate) fn pmpi(steps: &mut Steps) -> Result {
    setup::install_compilers();
    let prefix = prefix(steps)?;
    names_are_of_mpi(steps, &prefix.join("lib").join(LIBRARY))?;
    of_no_family(steps, &prefix)?;
    steps.with_each_library(|steps, library| {
        let folder = target()?.join("pmpi-programs").join(library);
        make(&folder)?;
        let suite = Suite {
            library,
            prefix: &prefix,
            folder,
        };
        suite.check(steps)
    })
}

/// The programs for one MPI library.
struct Suite<'a> {
    /// The suffix of its compiler wrappers.
    library: &'a str,
    /// Where the interposer is installed.
    prefix: &'a Path,
    /// Where programs are built.
    folder: PathBuf,
}

impl Suite<'_> {
    fn check(&self, steps: &mut Steps) -> Result {
        self.messages(steps)?;
        self.loaded(steps)?;
        let package = workspace().join("bindings/interposer");
        for program in programs(&package, &C)? {
            let built = self.compile(steps, &program.source, Vec::new(), &program.name)?;
            if program.is(OVERHEAD) {
                let words = &[OVERHEAD_REPETITIONS];
                self.run(steps, &built, Mode::On, OVERHEAD_RANKS, words)?;
                continue;
            }
            if program.is(BITS) {
                self.bits(steps, &built)?;
            }
            self.run_in_all_modes(steps, &built)?;
        }
        for program in programs(&package, &EXAMPLES)? {
            let built = self.compile(steps, &program.source, Vec::new(), &program.name)?;
            self.run_in_all_modes(steps, &built)?;
            if self.library == TUTORIAL_LIBRARY {
                self.tutorial(steps, &built)?;
            }
        }
        steps.part(|steps| self.in_fortran(steps, &package))
    }

    fn in_fortran(&self, steps: &mut Steps, package: &Path) -> Result {
        let compiler = self.fortran("programs in Fortran")?;
        // Open MPI 4 has persistent reductions under pre-standard names.
        let persistent = match self.library {
            "openmpi" => "-DALLREDUCE_INIT=MPIX_Allreduce_init",
            _ => "-DALLREDUCE_INIT=MPI_Allreduce_init",
        };
        for program in programs(package, &FORTRAN)? {
            let built = self.folder.join(&program.name);
            let options = words![persistent];
            let built = compile(steps, &compiler, &program.source, options, built)?;
            self.run_in_all_modes(steps, &built)?;
        }
        Ok(())
    }

    /// Compiles one file of C for the library.
    fn compile(
        &self,
        steps: &mut Steps,
        source: &Path,
        options: Vec<OsString>,
        program: &str,
    ) -> Result<PathBuf> {
        let compiler = format!("mpicc.{}", self.library);
        compile(steps, &compiler, source, options, self.folder.join(program))
    }

    /// Checks that the report of the tutorial's program is on docs/tutorial-check.md, except for times and the library's version. Also checks
    /// that `treefold-run --vary` finds algorithms whose results differ without treefold.
    fn tutorial(&self, steps: &mut Steps, program: &Path) -> Result {
        let by_run = |steps: &Steps, option: &str| {
            treefold_run(option, steps, self.prefix, CANARY_RANKS, program)
        };
        let mut command = by_run(steps, "--check");
        let step = format!("{} as on its page", self.title(program));
        steps.check(step, || TUTORIAL.check(&mut command, without_times))?;
        let command = by_run(steps, "--vary");
        let step = format!("{} by treefold-run --vary", self.title(program));
        let differs = "without treefold, stdout differs at line 1";
        let is_same = "with treefold, stdout is the same with all";
        steps.check(step, || {
            let captured = run(command)?.on_one_stream();
            captured.expect(true, &[differs, is_same])
        })
    }

    fn run_in_all_modes(&self, steps: &mut Steps, program: &Path) -> Result {
        for mode in Mode::ALL {
            for &ranks in mode.ranks(self.library) {
                self.run(steps, program, mode, ranks, &[])?;
            }
        }
        Ok(())
    }

    fn run(
        &self,
        steps: &mut Steps,
        program: &Path,
        mode: Mode,
        ranks: usize,
        words: &[&str],
    ) -> Result {
        let mut command = launch(steps, self.prefix, mode, ranks, program);
        let step = format!("{}, p = {ranks}, {}", self.title(program), mode.title());
        steps.step(step, command.args(words))
    }

    /// Runs the program `bits` in ways that `run_in_all_modes` does not.
    fn bits(&self, steps: &mut Steps, program: &Path) -> Result {
        let title = self.title(program);
        // Checks that the program detects wrong bits: it must fail without the interposer.
        if self.library == MPI_LIBRARIES[0] {
            let mut command = launch(steps, self.prefix, Mode::Without, CANARY_RANKS, "env");
            command.arg("EXPECTED_BITS=tree").arg(program);
            let step = format!("{title} finds other bits than the tree's");
            steps.expect(step, command, false, &["wrong == 0"])?;
        }
        // `treefold-run` sets up everything, and its report names what was called.
        let command = treefold_run("--check", steps, self.prefix, LAUNCHER_RANKS, program);
        let step = format!("{title} by treefold-run --check");
        steps.expect(step, command, true, &["Allreduce"])?;
        self.which(steps, program)?;
        // On up to 3 ranks, most orders give the tree's bits, so the program also runs on more.
        if !Mode::On.ranks(self.library).contains(&CANARY_RANKS) {
            self.run(steps, program, Mode::On, CANARY_RANKS, &[])?;
        }
        Ok(())
    }

    /// Checks that `treefold-run` reports a program's library, and refuses another library's launcher.
    fn which(&self, steps: &mut Steps, program: &Path) -> Result {
        let treefold_run = self.prefix.join("bin/treefold-run");
        for library in MPI_LIBRARIES {
            let launcher = format!("mpirun.{library}");
            let is_own = library == self.library;
            let named = format!("launcher: {launcher}, {library}\nprogram: libmpi");
            let other = format!("{launcher} belongs to {library}, but the program is linked to ");
            let own = ("--which", named);
            let (option, text) = if is_own { own } else { ("--check", other) };
            let command = command!(treefold_run, option, launcher, "-n 2", program);
            let title = self.title(program);
            let step = format!("{title} by treefold-run {option}, {launcher}");
            steps.check(step, || {
                run(command)?.on_one_stream().expect(is_own, &[&text])
            })?;
        }
        Ok(())
    }

    fn title(&self, program: &Path) -> String {
        format!("{}: {}", self.library, name(program))
    }
}

/// The findings of a report, without times (words with three decimals) and without places in the checked program.
fn without_times(report: &str) -> String {
    let is_found = |line: &&str| line.starts_with("  ");
    let is_before = |line: &&str| !line.starts_with("  The program ");
    let is_place = |line: &&str| line.contains("results (may) differ") || line.contains("+0x");
    let is_time = |word: &&str| {
        let decimals = word.split_once('.').map(|(_, decimals)| decimals);
        decimals.is_some_and(|decimals| decimals.len() == 3 && decimals.parse::<u16>().is_ok())
    };
    let lines = report.lines().skip_while(is_before);
    let lines = lines.filter(|line| is_found(line) && !is_place(line));
    let words = lines.flat_map(str::split_whitespace);
    let words: Vec<&str> = words.filter(|word| !is_time(word)).collect();
    words.join(" ")
}

/// Reductions that every MPI library has, in C and in its Fortran.
const REDUCTIONS: [&str; 6] = [
    "MPI_Allreduce",
    "MPI_Reduce",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
];

/// The prefixes of MPI's names in C and in Fortran compilers' spellings. MPIX_ is that of pre-standard functions.
const OF_MPI: [&str; 4] = ["MPI_", "MPIX_", "mpi_", "mpix_"];

/// Checks the names that the interposer of a prefix defines.
fn names_are_of_mpi(steps: &mut Steps, library: &Path) -> Result {
    let step = "libtreefold_pmpi.so exports MPI's names only";
    steps.check(step, || judge_names(&exported(library)?))
}

/// The number of names if all are MPI's and none is missing; otherwise, an error that lists the wrong names.
fn judge_names(names: &BTreeSet<String>) -> Result<String> {
    let is_other = |name: &&String| !OF_MPI.iter().any(|begin| name.starts_with(begin));
    let others: Vec<&String> = names.iter().filter(is_other).collect();
    let is_missing = |name: &&str| !names.contains(*name);
    let missing: Vec<&str> = REDUCTIONS.into_iter().filter(is_missing).collect();
    if others.is_empty() && missing.is_empty() {
        return Ok(format!("{} names", names.len()));
    }
    Err(format!("other names: {others:?}; missing: {missing:?}").into())
}

const LOADED_RANKS: usize = 2;

/// The compiler's options for a shared library.
const SHARED: &str = "-shared -fPIC";

/// The path of a source in `tests/tool`.
fn source(name: &str) -> PathBuf {
    workspace()
        .join("bindings/interposer/tests/tool")
        .join(name)
}

/// Tests a program with an unknown MPI library, first without the interposer and then with it. The interposer must pass the calls on.
fn of_no_family(steps: &mut Steps, prefix: &Path) -> Result {
    let folder = target()?.join("pmpi-programs/nobody");
    make(&folder)?;
    let library = folder.join("libnobody.so");
    let library = compile(steps, "cc", &source("nobody.c"), words![SHARED], library)?;
    let program = folder.join("nobodys");
    let program = compile(steps, "cc", &source("nobodys.c"), words![library], program)?;
    let title = "a program of an unknown MPI library";
    let mut run = command!(program);
    steps.step(format!("{title}, without the interposer"), &mut run)?;
    run.env("LD_PRELOAD", LIBRARY);
    run.env("LD_LIBRARY_PATH", prefix.join("lib"));
    steps.step(format!("{title}, with the interposer"), run)
}

impl Suite<'_> {
    /// Tests programs that load this suite's MPI library privately, that is, without making its symbols global.
    fn loaded(&self, steps: &mut Steps) -> Result {
        steps.part(|steps| self.module(steps))?;
        self.device(steps)?;
        steps.part(|steps| self.mpi4py(steps))
    }

    /// Tests a program with a fake GPU driver, which declares some memory to be a device's.
    fn device(&self, steps: &mut Steps) -> Result {
        let driver = self.folder.join("libcuda.so.1");
        let shared = words![SHARED, "-Wl,-soname,libcuda.so.1"];
        let driver = compile(steps, "cc", &source("driver.c"), shared, driver)?;
        let found = format!("-Wl,-rpath,{}", self.folder.display());
        let program = self.compile(steps, &source("device.c"), words![driver, found], "device")?;
        let step = format!("{}: buffers in a device's memory", self.library);
        let command = treefold_run("--check", steps, self.prefix, LOADED_RANKS, program);
        steps.expect(step, command, true, &["in GPU memory"])
    }

    /// Tests a program without MPI that loads a module in Fortran, which uses MPI.
    fn module(&self, steps: &mut Steps) -> Result {
        let compiler = self.fortran("a module in Fortran")?;
        let host = self.folder.join("host");
        let host = compile(steps, "cc", &source("host.c"), Vec::new(), host)?;
        let module = self.folder.join("libmodule.so");
        let from = source("module.F90");
        let module = compile(steps, &compiler, &from, words![SHARED], module)?;
        let title = format!("{}: a module that loads the library", self.library);
        for mode in [Mode::Without, Mode::On] {
            let mut command = launch(steps, self.prefix, mode, LOADED_RANKS, &host);
            let step = format!("{title}, {}", mode.title());
            steps.step(step, command.arg(&module))?;
        }
        let mut command = treefold_run("--check", steps, self.prefix, LOADED_RANKS, &host);
        let step = format!("{title}, by treefold-run --check");
        steps.expect(step, command.arg(&module), true, &["Allreduce"])
    }

    /// The MPI library's Fortran compiler. If it is missing, the steps are skipped.
    fn fortran(&self, what: &str) -> Result<String> {
        let compiler = format!("mpifort.{}", self.library);
        if is_on_path(&compiler) {
            return Ok(compiler);
        }
        Stop::skipped(format!("{what}: {compiler} is missing"))
    }

    /// Tests mpi4py's wheel, which also loads its library privately.
    fn mpi4py(&self, steps: &mut Steps) -> Result {
        let python = mpi4py()?;
        let mut command = treefold_run("--check", steps, self.prefix, LOADED_RANKS, python);
        for_mpi4py(&mut command, self.library, &self.folder)?;
        command.arg(source("sums.py"));
        let step = format!("{}: mpi4py by treefold-run --check", self.library);
        steps.expect(step, command, true, &["Allreduce"])
    }
}

#[cfg(test)]
mod tests {
    use super::{REDUCTIONS, judge_names};

    #[test]
    fn names_are_judged() {
        let mut names = REDUCTIONS.map(str::to_owned).into();
        assert!(judge_names(&names).is_ok());
        names.insert("mpi_allreduce_f08_".to_owned());
        assert!(judge_names(&names).is_ok());
        names.insert("PMPI_Scan".to_owned());
        assert!(judge_names(&names).is_err());
        names.remove("PMPI_Scan");
        names.remove("MPI_Scan");
        assert!(judge_names(&names).is_err());
    }
}
