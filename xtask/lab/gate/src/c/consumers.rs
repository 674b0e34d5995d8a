//! Compiles, links and runs programs against an installed treefold.

use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::files::{make, read};
use checkout::workspace::workspace;

use super::programs::{C, C_FLAGS, CPP_AND_FORTRAN, Program, flags, programs};
use super::{check_findings, golden};
use crate::pages::Shown;
use crate::{MPI_LIBRARIES, Result, Steps, Stop, command, needs, output, ranks_of, run, words};

/// The program that reads the golden vectors, whose file is its argument.
const GOLDEN: &str = "golden";

/// Valgrind finds reads beyond an array, and memory leaks.
const VALGRIND: &str =
    "valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite";

/// Valgrind's options for ranks. Each process writes a file of findings; findings in the MPI library do not count.
const VALGRIND_ON_RANKS: &str = "--xml=yes --leak-check=full --show-leak-kinds=definite";

/// Helgrind finds data races, except those in the installed suppressions.
const HELGRIND: &str = "valgrind --quiet --error-exitcode=1 --tool=helgrind";

/// The program that sums sections of large arrays, and must not copy them.
const STRIDED: &str = "strided";

/// The most bytes that `strided` may allocate in total. A copy of a section would take four times as much.
const STRIDED_BYTES: u64 = 1_000_000;

/// The number of ranks that run under valgrind.
const VALGRIND_RANKS: usize = 2;

/// The tools that build projects in C, C++ and Fortran.
pub(super) const BY_CMAKE: [&str; 5] = ["cmake", "make", "cc", "c++", "gfortran"];

/// Programs in tutorials, each with the page and the command that the page shows.
const SHOWN: &str = "\
examples-first_sum-c tutorial-c.md ./first_sum
examples-first_sum-cpp tutorial-c.md ./sums
examples-first_sum-f90 tutorial-fortran.md ./first_sum
examples-by_key-c tutorial-by-key.md ./by_key
examples-by_key-cpp tutorial-by-key.md ./shops
examples-by_key-f90 tutorial-by-key.md ./prices
examples-allreduce-c tutorial-c.md mpirun -n 3 ./allreduce
examples-allreduce-f90 tutorial-fortran.md mpirun -n 3 ./allreduce";

/// The header of programs that were written for ReproRed.
const REPROREDS_HEADER: &str = "<binary_tree_summation.h>";

/// Options for sanitizers, which check what valgrind checks, and undefined behaviour.
const SANITIZERS: &str = "-g -fsanitize=address,undefined -fno-sanitize-recover=all";

/// Rank counts of programs with sanitizers.
const SANITIZED_RANKS: [usize; 2] = [1, 2];

/// The option to link without shared libraries.
const STATIC: &str = "-static";

/// Rank counts of statically linked programs. With the shared library, the same programs run on other rank counts.
const STATIC_RANKS: [usize; 1] = [2];

/// The time limit of each program, which no correct program comes near.
pub(crate) const TIMEOUT_SECONDS: &str = "300";

/// The programs that use a package, and where they are built.
pub(super) struct Consumers<'a> {
    /// The package with their sources.
    package: PathBuf,
    /// Where treefold is installed.
    prefix: &'a Path,
    /// Where programs are built.
    build: PathBuf,
    /// The golden vectors.
    golden: PathBuf,
    /// The suffix of the MPI library's compiler wrappers, if programs run as its ranks.
    mpi: Option<&'a str>,
}

/// A program, and where it was built.
struct Built<'p> {
    program: &'p Program,
    path: PathBuf,
}

impl<'a> Consumers<'a> {
    /// The consumers of a prefix, built in a folder with the golden vectors, with or without an MPI library.
    pub(super) fn of(prefix: &'a Path, folder: &Path, mpi: Option<&'a str>) -> Self {
        let (package, golden, build) = match mpi {
            Some(library) => ("bindings/c-mpi", golden::OF_RANKS, library),
            None => ("bindings/c", golden::OF_BYTES, "local"),
        };
        Self {
            package: workspace().join(package),
            prefix,
            build: folder.join(build),
            golden: folder.join(golden),
            mpi,
        }
    }

    /// Builds and runs all programs.
    pub(super) fn check(&self, steps: &mut Steps) -> Result {
        make(&self.build)?;
        steps.part(|steps| self.by_pkg_config(steps))?;
        steps.part(|steps| self.by_cmake(steps))
    }

    /// Builds and runs C programs with the shared library.
    fn by_pkg_config(&self, steps: &mut Steps) -> Result {
        let programs = programs(&self.package, &C)?;
        needs("programs in C", &["cc", "pkg-config"])?;
        for (index, program) in programs.iter().enumerate() {
            let built = self.compile(steps, program, "")?;
            self.run(steps, &built, self.ranks())?;
            // Examples are not run under valgrind: they show correct use, and only tests make wrong calls.
            if !program.name.starts_with("examples") {
                steps.part(|steps| self.under_valgrind(steps, &built, index))?;
            }
            // Programs with MPI are omitted, because MPI libraries are not built for sanitizers.
            if self.mpi.is_none() && !program.name.starts_with("examples") {
                let built = self.compile(steps, program, SANITIZERS)?;
                self.run(steps, &built, &[])?;
            }
        }
        steps.part(|steps| self.by_command_lines(steps))?;
        // The MPI libraries here are shared, so no program is fully static.
        if self.mpi.is_some() {
            return Ok(());
        }
        steps.part(|steps| self.under_helgrind(steps))?;
        // Fully static programs also need the C library's archive. If cc does not find it, cc prints the name unchanged.
        let archive = output(command!("cc -print-file-name=libc.a"))?;
        if !archive.starts_with('/') {
            return Stop::skipped("fully static programs: libc.a is missing");
        }
        for program in &programs {
            let built = self.compile(steps, program, STATIC)?;
            self.run(steps, &built, &[])?;
        }
        Ok(())
    }

    /// Builds and runs Fortran programs by the tutorial's command line, with the modules and their C file.
    fn by_command_lines(&self, steps: &mut Steps) -> Result {
        let mut modules = vec!["treefold_descriptor.c", "treefold.F90"];
        let (library, compiler) = match self.mpi {
            Some(suffix) => ("treefold-mpi", format!("mpifort.{suffix}")),
            None => ("treefold", "gfortran".to_owned()),
        };
        modules.extend(self.mpi.map(|_| "treefold_mpi.F90"));
        needs("Fortran by its command line", &[&compiler, "pkg-config"])?;
        let of_library = flags(self.prefix, library, "")?;
        let folder = self.prefix.join("share/treefold/fortran");
        let modules: Vec<PathBuf> = modules.iter().map(|name| folder.join(name)).collect();
        let found = self.found();
        for program in programs(&self.package, &[("examples", "f90")])? {
            let path = self.build.join(format!("{}-by-line", program.name));
            let sources = &program.source;
            let mut compile = command!(compiler, modules, sources, of_library, found, "-o");
            // The compiler writes modules to its working directory.
            compile.arg(&path).current_dir(&self.build);
            let step = format!("{}: {} by one command line", self.title(), program.name);
            steps.build(step, compile)?;
            let ranks = self.ranks().get(..1).unwrap_or_default();
            let program = &program;
            self.run(steps, &Built { program, path }, ranks)?;
        }
        Ok(())
    }

    /// Runs programs whose calls use several threads.
    fn under_helgrind(&self, steps: &mut Steps) -> Result {
        needs("threads under helgrind", &["cc", "pkg-config", "valgrind"])?;
        for program in programs(&self.package, &[("tests/helgrind", "c")])? {
            let built = self.compile(steps, &program, "")?;
            let known = self.prefix.join("share/treefold/helgrind.supp");
            let known = format!("--suppressions={}", known.display());
            let command = command!(HELGRIND, known, built.path);
            self.step(steps, &built, command, "under helgrind")?;
        }
        Ok(())
    }

    /// Builds and runs C programs with sanitizers, which the installed libraries also have. Without MPI, checks that a bad read is detected.
    pub(super) fn with_sanitizers(&self, steps: &mut Steps) -> Result {
        make(&self.build)?;
        if self.mpi.is_none() {
            for program in programs(&self.package, &[("tests/asan", "c")])? {
                let built = self.compile(steps, &program, SANITIZERS)?;
                steps.check("a read beyond an array is seen", || {
                    let log = run(command!(built.path))?;
                    log.expect(false, &["heap-buffer-overflow", "simd_kernels"])
                })?;
            }
        }
        for program in programs(&self.package, &C)? {
            let built = self.compile(steps, &program, SANITIZERS)?;
            self.run(steps, &built, &SANITIZED_RANKS)?;
        }
        Ok(())
    }

    /// Builds and runs C++ and Fortran programs, and C programs with the static library.
    fn by_cmake(&self, steps: &mut Steps) -> Result {
        let static_ones = programs(&self.package, &C)?;
        let shared_ones = programs(&self.package, &CPP_AND_FORTRAN)?;
        needs("programs in C++ and Fortran", &BY_CMAKE)?;
        let build = self.build.join("cmake");
        let source = self.package.join("tests/consumer");
        let found = format!("-DCMAKE_PREFIX_PATH={}", self.prefix.display());
        let release = "-DCMAKE_BUILD_TYPE=Release";
        let mut configure = command!("cmake -S", source, "-B", build, release, found);
        if let Some(suffix) = self.mpi {
            for (language, wrapper) in [("C", "mpicc"), ("CXX", "mpicxx"), ("Fortran", "mpifort")] {
                configure.arg(format!("-DMPI_{language}_COMPILER={wrapper}.{suffix}"));
            }
        }
        let title = self.title();
        steps.build(format!("{title}: cmake configures"), configure)?;
        let make = command!("cmake --build", build, "--parallel 2");
        steps.build(format!("{title}: cmake builds"), make)?;
        for (programs, ranks) in [
            (static_ones, &STATIC_RANKS[..]),
            (shared_ones, self.ranks()),
        ] {
            for program in programs {
                let path = build.join(&program.name);
                let built = Built {
                    program: &program,
                    path,
                };
                self.run(steps, &built, ranks)?;
                if program.is(STRIDED) {
                    steps.part(|steps| self.allocates_little(steps, &built.path))?;
                }
            }
        }
        Ok(())
    }

    /// Counts the memory that a program allocates.
    fn allocates_little(&self, steps: &mut Steps, executable: &Path) -> Result {
        needs("what strided sums allocate", &["valgrind"])?;
        let step = format!("{}: what strided sums allocate", self.title());
        steps.check(step, || {
            let log = run(command!("valgrind", executable))?.errors;
            let bytes = allocated(&log).ok_or_else(|| format!("no count in:\n{log}"))?;
            if bytes > STRIDED_BYTES {
                return Err(format!("{bytes} bytes, more than {STRIDED_BYTES}").into());
            }
            Ok(format!("{bytes} bytes"))
        })
    }

    /// Compiles a C file with pkg-config's options for the library that it uses, and more options.
    fn compile<'p>(
        &self,
        steps: &mut Steps,
        program: &'p Program,
        added: &str,
    ) -> Result<Built<'p>> {
        let library = match self.mpi {
            Some(_) if read(&program.source)?.contains(REPROREDS_HEADER) => "treefold-reprored",
            Some(_) => "treefold-mpi",
            None => "treefold",
        };
        let of_library = if added == STATIC { "--static" } else { "" };
        let of_library = flags(self.prefix, library, of_library)?;
        let kind = added.split_whitespace().next().unwrap_or_default();
        let path = self.build.join(format!("{}{kind}", program.name));
        let compiler = match self.mpi {
            Some(suffix) => format!("mpicc.{suffix}"),
            None => "cc".to_owned(),
        };
        let (source, found) = (&program.source, self.found());
        let compile = command!(
            compiler, C_FLAGS, added, source, of_library, "-lm", found, "-o", path
        );
        let step = format!("{}: {} compiles {added}", self.title(), program.name);
        steps.build(step.trim_end(), compile)?;
        Ok(Built { program, path })
    }

    /// Runs a program once for each number of ranks; without MPI, as a single process.
    fn run(&self, steps: &mut Steps, built: &Built<'_>, ranks: &[usize]) -> Result {
        if self.mpi.is_none() {
            let mut command = command!(built.path);
            // A failed allocation must return treefold's error with sanitizers, too.
            command.env("ASAN_OPTIONS", "allocator_may_return_null=1");
            return self.step(steps, built, command, "alone");
        }
        for &count in ranks {
            let mut command = steps.installation.command(count, &built.path);
            // MPI libraries do not free all memory before the process ends.
            command.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1");
            self.step(steps, built, command, &format!("p = {count}"))?;
        }
        Ok(())
    }

    /// Runs a program under valgrind. A program of ranks runs with only one of the MPI libraries, which alternate from program to program.
    fn under_valgrind(&self, steps: &mut Steps, built: &Built<'_>, index: usize) -> Result {
        let name = &built.program.name;
        // Open MPI's TCP handshakes between jobs send uninitialised memory.
        if name.contains("spawn") {
            return Stop::skipped(format!("{name} under valgrind"));
        }
        needs(&format!("{name} under valgrind"), &["valgrind"])?;
        let Some(library) = self.mpi else {
            let command = command!(VALGRIND, built.path);
            return self.step(steps, built, command, "under valgrind");
        };
        if library != MPI_LIBRARIES[index % MPI_LIBRARIES.len()] {
            return Ok(());
        }
        let ranks = VALGRIND_RANKS;
        let mut command = steps.installation.command(ranks, Path::new("valgrind"));
        let report = format!("--xml-file={name}.%p.xml");
        command.args(words![VALGRIND_ON_RANKS, report, built.path]);
        let how = format!("p = {ranks} under valgrind");
        self.step(steps, built, command, &how)?;
        let step = format!("{}: {name}: what valgrind found", self.title());
        steps.check(step, || check_findings(&self.build, name, ranks))
    }

    /// Runs a program with this command. If a tutorial shows the program's output, compares the two outputs.
    fn step(
        &self,
        steps: &mut Steps,
        built: &Built<'_>,
        mut command: Command,
        how: &str,
    ) -> Result {
        command.current_dir(&self.build);
        // The launchers end ranks that hang.
        command.env("MPIEXEC_TIMEOUT", TIMEOUT_SECONDS);
        if built.program.is(GOLDEN) {
            command.arg(&self.golden);
        }
        // CMake's programs are in a folder inside `build`.
        let file = built.path.strip_prefix(&self.build).unwrap_or(&built.path);
        let step = format!("{}: {}, {how}", self.title(), file.display());
        let shown = SHOWN.lines().find_map(|line| {
            let rest = line.strip_prefix(&*built.program.name)?.strip_prefix(' ')?;
            let (page, command_there) = rest.split_once(' ')?;
            Some(Shown(page, command_there))
        });
        match shown.filter(|_| ["alone", "p = 3"].contains(&how)) {
            Some(shown) => steps.check(step, || shown.check(&mut command, str::to_owned)),
            None => steps.step(step, command),
        }
    }

    /// The option that lets a program find the library at run time.
    fn found(&self) -> String {
        format!("-Wl,-rpath,{}", self.prefix.join("lib").display())
    }

    /// Rank counts of programs.
    fn ranks(&self) -> &'static [usize] {
        self.mpi.map_or(&[], ranks_of)
    }

    /// The name of these consumers in messages.
    fn title(&self) -> &str {
        self.mpi.unwrap_or("without MPI")
    }
}

/// The number of bytes in valgrind's line `total heap usage: 1 allocs, 1 frees, 1,024 bytes allocated`.
fn allocated(log: &str) -> Option<u64> {
    let (_, rest) = log.split_once("total heap usage:")?;
    let (before, _) = rest.split_once(" bytes allocated")?;
    let number = before.rsplit(' ').next()?.replace(',', "");
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::allocated;

    #[test]
    fn bytes_are_read() {
        let log =
            "==1==   total heap usage: 1,024 allocs, 7 frees, 283,797 bytes allocated\n==1== \n";
        assert_eq!(allocated(log), Some(283_797));
        assert_eq!(allocated("==1== "), None);
    }
}
