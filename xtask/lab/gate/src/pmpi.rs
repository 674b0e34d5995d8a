//! The stage `pmpi`: runs the programs of `bindings/interposer/tests` with an installed interposer. They check every reduction against the MPI
//! standard, and are not linked to treefold. With and without the interposer they must find the same, except for the order of sums.

mod loaded;
mod messages;
mod names;
mod ranks;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use checkout::workspace::{target, workspace};

use crate::c::programs::programs;
use crate::commands::{Result, command, run, words};
use crate::files::{make, name};
use crate::libraries::{MPI_LIBRARIES, prefix};
use crate::pages::Shown;
use crate::setup;
use crate::steps::Steps;

use ranks::LIBRARY;
pub(crate) use ranks::{Mode, compile, launch, treefold_run};

/// The folders of the C programs, the Fortran programs and the tutorial's program.
const C: [(&str, &str); 1] = [("tests/c", "c")];
const FORTRAN: [(&str, &str); 1] = [("tests/fortran", "F90")];
const EXAMPLES: [(&str, &str); 1] = [("examples", "c")];

/// The program that prints times; other numbers of ranks would show nothing new.
const OVERHEAD: &str = "overhead";
pub(crate) const OVERHEAD_RANKS: usize = 2;

/// Repetitions of the shortest message: few, since times on a busy machine mean little.
const OVERHEAD_REPETITIONS: &str = "20";

/// The program that fails if the tree's order is expected but the MPI library has another one, as on this many ranks.
const BITS: &str = "bits";
const CANARY_RANKS: usize = 5;

/// On this many ranks a sum has two items.
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
    names::check(steps, &prefix.join("lib").join(LIBRARY))?;
    loaded::of_no_family(steps, &prefix)?;
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

    /// Checks that docs/tutorial-check.md shows its program's report, except for times and the library's version, and that `treefold-run --vary` finds
    /// algorithms whose results differ without treefold.
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
            run(command)?
                .on_one_stream()
                .expect(true, &[differs, is_same])
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

    /// The program that checks bits, before it runs in all modes.
    fn bits(&self, steps: &mut Steps, program: &Path) -> Result {
        let title = self.title(program);
        // Shows that the check can fail.
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
        // On 1, 2 and 3 ranks most orders have the tree's bits.
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
            let (option, text) = if is_own {
                let text = format!("launcher: {launcher}, {library}\nprogram: libmpi");
                ("--which", text)
            } else {
                let text =
                    format!("{launcher} belongs to {library}, but the program is linked to ");
                ("--check", text)
            };
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

/// The findings of a report, without seconds (words with three decimals) and without places in a program.
fn without_times(report: &str) -> String {
    let is_found = |line: &&str| line.starts_with("  ");
    let is_before = |line: &&str| !line.starts_with("  The program ");
    let is_place =
        |line: &&str| line.contains("which differ, or may, from") || line.contains("+0x");
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
