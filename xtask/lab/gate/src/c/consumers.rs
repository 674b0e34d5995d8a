//! Programs that use an installed treefold: how they are compiled, linked and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use launch::Error;
use launch::installed::runs;

use super::findings;
use super::pkg_config;
use super::programs::{C, CPP_AND_FORTRAN, Program, programs};
use crate::libraries::ranks_of;
use crate::prefixes::MPI_LIBRARIES;
use crate::shown::Shown;
use crate::steps::{Steps, Stop};

/// A program of this name is given the golden vectors.
const GOLDEN: &str = "golden";

/// How C is compiled.
pub(crate) const C_FLAGS: [&str; 5] = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"];

/// Finds what compilers do not: a read beyond an array, memory that is lost.
const VALGRIND: [&str; 5] = [
    "valgrind",
    "--quiet",
    "--error-exitcode=1",
    "--leak-check=full",
    "--errors-for-leak-kinds=definite",
];

/// The same for ranks, whose findings are written to a file for each process: those of the MPI library do not count.
const VALGRIND_ON_RANKS: [&str; 4] = [
    "valgrind",
    "--xml=yes",
    "--leak-check=full",
    "--show-leak-kinds=definite",
];

/// Programs that tutorials show, and how these run them.
const SHOWN: [(&str, Shown); 8] = [
    (
        "examples-first_sum-c",
        shown("tutorial-c.md", "./first_sum"),
    ),
    ("examples-first_sum-cpp", shown("tutorial-c.md", "./sums")),
    (
        "examples-first_sum-f90",
        shown("tutorial-fortran.md", "./first_sum"),
    ),
    ("examples-by_key-c", shown("tutorial-by-key.md", "./by_key")),
    (
        "examples-by_key-cpp",
        shown("tutorial-by-key.md", "./shops"),
    ),
    (
        "examples-by_key-f90",
        shown("tutorial-by-key.md", "./prices"),
    ),
    (
        "examples-allreduce-c",
        shown("tutorial-c.md", "mpirun -n 3 ./allreduce"),
    ),
    (
        "examples-allreduce-f90",
        shown("tutorial-fortran.md", "mpirun -n 3 ./allreduce"),
    ),
];

const fn shown(page: &'static str, command: &'static str) -> Shown {
    Shown { page, command }
}

/// What programs include that were written for ReproRed.
const REPROREDS_HEADER: &str = "<binary_tree_summation.h>";

/// The number of ranks that run under valgrind.
const VALGRIND_RANKS: usize = 2;

/// The same by the compiler, and undefined behaviour.
const SANITIZERS: [&str; 3] = [
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// Rank counts of programs with sanitizers.
const SANITIZED_RANKS: [usize; 2] = [1, 2];

/// Without any shared library.
const STATIC: [&str; 1] = ["-static"];

/// Rank counts of programs that have run with the shared library on other numbers of ranks.
const STATIC_RANKS: [usize; 1] = [2];

/// Far more than one program takes.
pub(crate) const TIMEOUT_SECONDS: &str = "300";

/// The consumers of a package, and where they are built.
pub(super) struct Consumers<'a> {
    /// The package that has the sources.
    pub(super) package: &'a Path,
    /// Where treefold is installed.
    pub(super) prefix: &'a Path,
    /// Where programs are built.
    pub(super) build: &'a Path,
    /// The golden vectors.
    pub(super) golden: &'a Path,
    /// What ends the names of the MPI library's compiler wrappers, if programs are its ranks.
    pub(super) mpi: Option<&'a str>,
}

/// How a program is run.
#[derive(Clone, Copy)]
enum How {
    /// As one process.
    Alone,
    /// By this program and its options.
    Under(&'static [&'static str]),
    /// Once for each of these numbers of ranks.
    OnRanks(&'static [usize]),
}

impl Consumers<'_> {
    /// Builds and runs all of them.
    pub(super) fn check(&self, steps: &mut Steps) -> Result<(), Stop> {
        let failed = |error| Stop::Error(Error::file(self.build, error));
        fs::create_dir_all(self.build).map_err(failed)?;
        self.by_pkg_config(steps)?;
        self.by_cmake(steps)
    }

    /// C with the shared library.
    fn by_pkg_config(&self, steps: &mut Steps) -> Result<(), Stop> {
        let programs = programs(self.package, &C)?;
        if let Some(lacking) = lacking(&["cc", "pkg-config"]) {
            println!("skipped: programs in C, for want of {lacking}");
            return Ok(());
        }
        for (index, program) in programs.iter().enumerate() {
            let flags = &self.flags(program, &[])?;
            let executable = self.compile(steps, program, flags, &[])?;
            self.run_program(steps, program, &executable, self.on(self.ranks()))?;
            // Examples show how; tests also call with what is wrong.
            if program.name.starts_with("examples") {
                continue;
            }
            // Between jobs, Open MPI's own handshakes over TCP send memory that nobody has written.
            if program.name.contains("spawn") {
                println!("skipped: {} under valgrind", program.name);
                continue;
            }
            if !runs("valgrind") {
                println!("skipped: {} under valgrind, which is missing", program.name);
            } else if let Some(library) = self.mpi {
                // Every other program with the first library, the rest with the second.
                if library == MPI_LIBRARIES[index % MPI_LIBRARIES.len()] {
                    self.valgrind_on_ranks(steps, program, &executable)?;
                }
            } else {
                self.run_program(steps, program, &executable, How::Under(&VALGRIND))?;
            }
            // MPI libraries are not compiled with what sanitizers need.
            if self.mpi.is_some() {
                continue;
            }
            let executable = self.compile(steps, program, flags, &SANITIZERS)?;
            self.run_program(steps, program, &executable, How::Alone)?;
        }
        match self.mpi {
            // MPI libraries are shared ones here.
            Some(_) => Ok(()),
            None => self.fully_static(steps, &programs),
        }
    }

    /// C with sanitizers, as the installed libraries have them. Alone, a read beyond an array must be seen in the library.
    pub(super) fn with_sanitizers(&self, steps: &mut Steps) -> Result<(), Stop> {
        let failed = |error| Stop::Error(Error::file(self.build, error));
        fs::create_dir_all(self.build).map_err(failed)?;
        if self.mpi.is_none() {
            self.beyond_an_array(steps)?;
        }
        for program in programs(self.package, &C)? {
            let flags = self.flags(&program, &[])?;
            let executable = self.compile(steps, &program, &flags, &SANITIZERS)?;
            self.run_program(steps, &program, &executable, self.on(&SANITIZED_RANKS))?;
        }
        Ok(())
    }

    fn beyond_an_array(&self, steps: &mut Steps) -> Result<(), Stop> {
        for program in programs(self.package, &[("tests/asan", "c")])? {
            let flags = self.flags(&program, &[])?;
            let executable = self.compile(steps, &program, &flags, &SANITIZERS)?;
            steps.check("a read beyond an array is seen", || {
                let output = Command::new(&executable).output();
                let output = output.map_err(|error| error.to_string())?;
                let said = String::from_utf8_lossy(&output.stderr);
                if said.contains("heap-buffer-overflow") && said.contains("simd_kernels") {
                    Ok("in the kernels".to_owned())
                } else {
                    Err(format!("not seen: {said}"))
                }
            })?;
        }
        Ok(())
    }

    /// What pkg-config says of the library that a program uses.
    fn flags(&self, program: &Program, options: &[&str]) -> Result<Vec<String>, Stop> {
        let source = fs::read_to_string(&program.source);
        let source = source.map_err(|error| Stop::Error(Error::file(&program.source, error)))?;
        let name = match self.mpi {
            Some(_) if source.contains(REPROREDS_HEADER) => "treefold-reprored",
            Some(_) => "treefold-mpi",
            None => "treefold",
        };
        pkg_config::flags(self.prefix, name, options)
    }

    /// C without any shared library, not even the compiler's.
    fn fully_static(&self, steps: &mut Steps, programs: &[Program]) -> Result<(), Stop> {
        let mut archive = Command::new("cc");
        let archive = archive.arg("-print-file-name=libc.a").output();
        // The compiler repeats a name that it does not find.
        if !archive.is_ok_and(|found| found.stdout.starts_with(b"/")) {
            println!("skipped: fully static programs, for want of libc.a");
            return Ok(());
        }
        for program in programs {
            let flags = self.flags(program, &["--static"])?;
            let executable = self.compile(steps, program, &flags, &STATIC)?;
            self.run_program(steps, program, &executable, How::Alone)?;
        }
        Ok(())
    }

    /// C++ and Fortran, and C with the static library.
    fn by_cmake(&self, steps: &mut Steps) -> Result<(), Stop> {
        let static_ones = programs(self.package, &C)?;
        let shared_ones = programs(self.package, &CPP_AND_FORTRAN)?;
        if let Some(lacking) = lacking(&["cmake", "make", "cc", "c++", "gfortran"]) {
            println!("skipped: programs in C++ and Fortran, for want of {lacking}");
            return Ok(());
        }
        let build = self.build.join("cmake");
        let mut configure = Command::new("cmake");
        configure
            .arg("-S")
            .arg(self.package.join("tests/consumer"))
            .arg("-B")
            .arg(&build);
        configure.arg("-DCMAKE_BUILD_TYPE=Release");
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", self.prefix.display()));
        if let Some(suffix) = self.mpi {
            for (language, wrapper) in [("C", "mpicc"), ("CXX", "mpicxx"), ("Fortran", "mpifort")] {
                configure.arg(format!("-DMPI_{language}_COMPILER={wrapper}.{suffix}"));
            }
        }
        steps.build(
            &format!("{}: cmake configures", self.title()),
            &mut configure,
        )?;
        let mut make = Command::new("cmake");
        make.arg("--build").arg(&build).args(["--parallel", "2"]);
        steps.build(&format!("{}: cmake builds", self.title()), &mut make)?;
        for (programs, how) in [
            (static_ones, self.on(&STATIC_RANKS)),
            (shared_ones, self.on(self.ranks())),
        ] {
            for program in programs {
                self.run_program(steps, &program, &build.join(&program.name), how)?;
            }
        }
        Ok(())
    }

    /// Compiles one file of C; these options are added.
    fn compile(
        &self,
        steps: &mut Steps,
        program: &Program,
        flags: &[String],
        added: &[&str],
    ) -> Result<PathBuf, Stop> {
        let executable = match added.first() {
            None => self.build.join(&program.name),
            Some(first) => {
                let kind = first.trim_start_matches('-');
                self.build.join(format!("{}-{kind}", program.name))
            }
        };
        let compiler = match self.mpi {
            Some(suffix) => format!("mpicc.{suffix}"),
            None => "cc".to_owned(),
        };
        let mut compile = Command::new(compiler);
        compile.args(C_FLAGS).args(added).arg(&program.source);
        compile.args(flags).arg("-lm");
        // What this library is found by when the program runs.
        compile.arg(format!("-Wl,-rpath,{}", self.prefix.join("lib").display()));
        compile.arg("-o").arg(&executable);
        let options = added.join(" ");
        let step = format!("{}: {} compiles {options}", self.title(), program.name);
        steps.build(step.trim_end(), &mut compile)?;
        Ok(executable)
    }

    /// Runs a program's ranks under valgrind, and looks for what it found in treefold.
    fn valgrind_on_ranks(
        &self,
        steps: &mut Steps,
        program: &Program,
        executable: &Path,
    ) -> Result<(), Stop> {
        let valgrind = Path::new(VALGRIND_ON_RANKS[0]);
        let mut command = steps.installation().command(VALGRIND_RANKS, valgrind);
        let report = format!("--xml-file={}.%p.xml", program.name);
        command.args(&VALGRIND_ON_RANKS[1..]).arg(report);
        command.arg(executable);
        if program.is(GOLDEN) {
            command.arg(self.golden);
        }
        command.current_dir(self.build);
        command.env("MPIEXEC_TIMEOUT", TIMEOUT_SECONDS);
        let title = format!("{}: {}", self.title(), program.name);
        let step = format!("{title}, p = {VALGRIND_RANKS} under valgrind");
        steps.step(&step, &mut command)?;
        steps.check(&format!("{title}: what valgrind found"), || {
            findings::check(self.build, &program.name, VALGRIND_RANKS)
        })
    }

    /// Runs a program.
    fn run_program(
        &self,
        steps: &mut Steps,
        program: &Program,
        executable: &Path,
        how: How,
    ) -> Result<(), Stop> {
        let commands = match how {
            How::Alone => {
                let mut command = Command::new(executable);
                // With the sanitizer, too, memory that is not there is an error of ours.
                command.env("ASAN_OPTIONS", "allocator_may_return_null=1");
                vec![(command, "alone".to_owned())]
            }
            How::Under(words) => {
                let mut command = Command::new(words[0]);
                command.args(&words[1..]).arg(executable);
                vec![(command, format!("under {}", words[0]))]
            }
            How::OnRanks(numbers) => {
                let on_ranks = |&ranks| {
                    let mut command = steps.installation().command(ranks, executable);
                    // The launchers end ranks that wait for each other for ever.
                    command.env("MPIEXEC_TIMEOUT", TIMEOUT_SECONDS);
                    // MPI libraries leave memory to the end of the process.
                    command.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1");
                    (command, format!("p = {ranks}"))
                };
                numbers.iter().map(on_ranks).collect()
            }
        };
        // What CMake built has a folder of its own.
        let file = executable.strip_prefix(self.build).unwrap_or(executable);
        for (mut command, how) in commands {
            command.current_dir(self.build);
            if program.is(GOLDEN) {
                command.arg(self.golden);
            }
            let step = format!("{}: {}, {how}", self.title(), file.display());
            let shown = SHOWN.iter().find(|(name, _)| *name == program.name);
            match shown.filter(|_| ["alone", "p = 3"].contains(&&*how)) {
                Some((_, shown)) => shown.check(steps, &step, &mut command, str::to_owned)?,
                None => steps.step(&step, &mut command)?,
            }
        }
        Ok(())
    }

    /// On these numbers of ranks, if there are any.
    fn on(&self, ranks: &'static [usize]) -> How {
        match self.mpi {
            Some(_) => How::OnRanks(ranks),
            None => How::Alone,
        }
    }

    /// Rank counts of programs.
    fn ranks(&self) -> &'static [usize] {
        self.mpi.map_or(&[], ranks_of)
    }

    /// For a person.
    fn title(&self) -> &str {
        self.mpi.unwrap_or("without MPI")
    }
}

/// Those of these programs that this machine does not have.
pub(super) fn lacking(programs: &[&str]) -> Option<String> {
    let lacking = programs.iter().copied().filter(|program| !runs(program));
    let lacking: Vec<&str> = lacking.collect();
    (!lacking.is_empty()).then(|| lacking.join(", "))
}
