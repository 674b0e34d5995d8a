//! The stages of the Python package: build a wheel, install it in virtual environments, and test it there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use checkout::files::{make, only, remove};
use checkout::workspace::{target, workspace};
use launch::Launcher;

use crate::pages::{Picture, Shown};
use crate::{
    MPI_LIBRARIES, Result, Steps, Stop, Words, command, first_of, locked, output, setup,
    with_rust_alone, words,
};

/// The packages for treefold's tests and for NumPy's own tests.
const PACKAGES_FOR_TESTS: &str =
    "array-api-strict dask[array] distributed hypothesis pyright[nodejs]";

/// Packages whose arrays treefold accepts.
const PACKAGES: &str =
    "dask[array] distributed flox jax pandas-stubs polars pyarrow pyright[nodejs] xarray";

/// The oldest supported engines; stage `duckdb` uses the newest.
const OLD_ENGINES: &str = "pandas==2.2.0 polars==1.0.0 pyarrow==17.0.0 numpy<2";

/// The packages whose own tests treefold passes, by their names in `tests/suites.py`, with versions.
const SUITES: [(&str, &str); 3] = [
    ("numpy", "numpy==2.4.*"),
    ("pandas", "pandas==3.1.*"),
    ("scipy", "scipy==1.17.*"),
];

/// The packages for tests on ranks.
const PACKAGES_FOR_MPI: &str = "mpi4py>=4 numba";

/// Rank counts of stage `python-story`.
const RANKS: [usize; 3] = [1, 2, 3];

/// The rank counts of tests with an MPI library. Each rank count is tested with only one of the two libraries.
fn ranks_of(library: &str) -> &'static [usize] {
    match library {
        "mpich" => &[2],
        _ => &[1, 3],
    }
}

/// The build profile of a tested wheel. It is that of Rust's tests, so their builds are reused. Users' wheels differ only in speed.
pub(crate) const FOR_TESTS: &str = "dev";

/// The build profile of a wheel whose speed is measured.
const FOR_USERS: &str = "release";

/// The tutorial's commands. On at most three ranks, these sums do not depend on the MPI library.
const TUTORIAL: [(usize, &str); 3] = [
    (1, "mpirun -n 1 python first_sum.py"),
    (2, "mpirun -n 2 python first_sum.py"),
    (3, "mpirun -n 3 python first_sum.py"),
];

/// Options by which Python runs tests, and examples in docstrings and pages. Modules whose packages are missing are ignored.
const PYTEST: &str = "-m pytest --quiet -p no:cacheprovider --doctest-modules --doctest-glob=*.md --doctest-ignore-import-errors";

/// The variable and its value by which tests find the modules that they share.
const MODULES_OF_TESTS: (&str, &str) = ("PYTHONPATH", "bindings/python/tests");

/// Options by which Python runs a strict type checker with the package's settings.
pub(crate) const MYPY: &str = "-m mypy --strict --config-file @/bindings/python/pyproject.toml";

/// Tests the package without mpi4py, then the same wheel with mpi4py.
pub(crate) fn python(steps: &mut Steps) -> Result {
    let environment = Environment::make("environment", PACKAGES_FOR_TESTS)?;
    let wheel = environment.build(steps, &sources(), FOR_TESTS)?;
    environment.install(steps, &wheel)?;
    let pages = "@/bindings/python/README.md @/docs/tutorial-python.md @/docs/tutorial-by-key.md";
    let tests = words![package_tests(), pages, "--pyargs treefold"];
    environment.test(steps, "tests and examples in Python", tests)?;
    let dask = "@/bindings/python/tests/packages/test_dask.py";
    environment.test(steps, "dask, with workers in two processes", dask)?;
    let list = "\
NumPy's own tests, by treefold: @/bindings/python/tests/suites.py numpy --quick
type stubs: -m mypy.stubtest treefold --concise --ignore-missing-stub \
        --allowlist @/bindings/python/tests/stubtest-allowlist.txt \
        --mypy-config-file @/bindings/python/pyproject.toml";
    environment.steps(steps, list)?;
    // The examples that users read; the others are measurements.
    let examples = "@/bindings/python/examples/first_sum.py @/bindings/python/examples/compare.py \
        @/bindings/python/examples/conjugate_gradient.py @/bindings/python/examples/field_mean.py \
        @/bindings/python/examples/maintained_view.py";
    let what = ["results", "typed.py", " and of examples"];
    types(steps, &environment, what, examples)?;
    if !steps.mpi {
        return Ok(());
    }
    on_ranks(steps, &wheel)
}

/// Tests exact sums in an environment's engines.
pub(crate) fn engines(steps: &mut Steps, environment: &Environment, which: &str) -> Result {
    let step = format!("exact sums, {which} engines");
    let tests = "@/bindings/python/tests/engines --pyargs treefold.pandas treefold.polars";
    environment.test(steps, &step, tests)
}

/// Checks that type checkers infer the types of results in a file of tests, and that mypy accepts more files.
fn types(
    steps: &mut Steps,
    environment: &Environment,
    [what, file, and]: [&str; 3],
    more: &str,
) -> Result {
    let file = format!("@/bindings/python/tests/{file}");
    let python = environment.interpreter();
    for (how, words) in [
        (String::new(), words![&*file]),
        (format!("{and}, by mypy"), words![MYPY, &*file, more]),
        (
            ", by pyright".to_owned(),
            words!["-m pyright --level error --pythonpath", python, &*file],
        ),
    ] {
        steps.step(format!("types of {what}{how}"), environment.python(words))?;
    }
    Ok(())
}

/// Tests `treefold.mpi` on ranks of Open MPI and MPICH, with one wheel of treefold and one of mpi4py.
fn on_ranks(steps: &mut Steps, wheel: &Path) -> Result {
    let environment = Environment::make("mpi", PACKAGES_FOR_MPI)?;
    let types = words![MYPY, "@/bindings/python/treefold/mpi"];
    steps.step("types of treefold.mpi", environment.python(types))?;
    environment.install(steps, wheel)?;
    steps.with_each_library(|steps, library| {
        let python = Launcher::of(steps.installation.clone(), environment.interpreter());
        let folder = environment.target.join(library);
        for &ranks in ranks_of(library) {
            let mut tests = python.command(ranks, &[]);
            let own = "@/bindings/python/tests/mpi --pyargs treefold.mpi";
            of_tests(tests.args(words![PYTEST, own]));
            for_mpi4py(&mut tests, library, &folder)?;
            tests.current_dir(&environment.target);
            let step = format!("tests in Python, {library}, {ranks} ranks");
            steps.step(step, tests)?;
        }
        let is_here = |&(ranks, _): &(usize, _)| ranks_of(library).contains(&ranks);
        for (ranks, command) in TUTORIAL.into_iter().filter(is_here) {
            let mut first_sum = python.command(ranks, &[]);
            first_sum.arg(example("first_sum.py"));
            for_mpi4py(&mut first_sum, library, &folder)?;
            let step = format!("the tutorial, {library}, {ranks} ranks");
            let shown = Shown("tutorial-python-mpi.md", command);
            steps.check(step, || shown.check(&mut first_sum, str::to_owned))?;
        }
        Ok(())
    })
}

/// The interpreter of an environment with mpi4py.
pub(crate) fn mpi4py() -> Result<PathBuf> {
    Ok(Environment::make("mpi", PACKAGES_FOR_MPI)?.interpreter())
}

/// Makes mpi4py's wheel find Debian's MPI library of this name. Creates a link in a folder if necessary.
pub(crate) fn for_mpi4py(command: &mut Command, library: &str, folder: &Path) -> Result {
    give_own_name(library, folder)?;
    command.env("MPI4PY_MPIABI", library);
    command.env("LD_LIBRARY_PATH", first_of("LD_LIBRARY_PATH", folder));
    Ok(())
}

/// Tests the package together with other packages.
pub(crate) fn python_packages(steps: &mut Steps) -> Result {
    let environment = Environment::make("packages", PACKAGES)?;
    let wheel = environment.build(steps, &sources(), FOR_TESTS)?;
    environment.install(steps, &wheel)?;
    steps.part(|steps| {
        let old = Environment::make("old-engines", OLD_ENGINES)?;
        old.install(steps, &wheel)?;
        engines(steps, &old, "the oldest")
    })?;
    let what = "results with other packages";
    types(steps, &environment, [what, "typed_packages.py", ""], "")?;
    let tests = "@/bindings/python/tests/packages --pyargs treefold.dask";
    environment.test(steps, "tests with other packages", tests)
}

/// Runs NumPy's, pandas' and SciPy's tests of reductions with treefold.
pub(crate) fn python_suites(steps: &mut Steps) -> Result {
    let packages = SUITES.map(|(_, package)| package).join(" ");
    let environment = Environment::make("suites", &format!("hypothesis {packages}"))?;
    environment.build_and_install(steps, &sources(), FOR_TESTS)?;
    for (name, package) in SUITES {
        let suite = words!["@/bindings/python/tests/suites.py", name];
        let step = format!("own tests of {package}, by treefold");
        steps.step(step, environment.python(suite))?;
    }
    Ok(())
}

/// Checks the Python programs in `docs/dask.md` and `docs/examples.md`.
pub(crate) fn python_story(steps: &mut Steps) -> Result {
    let packages = format!("{PACKAGES} {PACKAGES_FOR_MPI}");
    let environment = Environment::make("story", &packages)?;
    environment.build_and_install(steps, &sources(), FOR_USERS)?;
    environment.steps(
        steps,
        "the mean of a field: @/bindings/python/examples/field_mean.py\n\
        a maintained view: @/bindings/python/examples/maintained_view.py",
    )?;
    let numbers = environment.target.join("numpy.json");
    let speed = command!(environment.interpreter(), example("speed.py"), numbers);
    steps.step("times over NumPy's", speed)?;
    steps.note_picture(Picture::read("numpy", &numbers)?);
    steps.with_library(MPI_LIBRARIES[0], |steps| {
        let python = Launcher::of(steps.installation.clone(), environment.interpreter());
        let result = |ranks: usize| environment.target.join(format!("{ranks}.npz"));
        for ranks in RANKS {
            let mut solve = python.command(ranks, &[]);
            solve.args([example("conjugate_gradient.py"), result(ranks)]);
            steps.step(format!("conjugate gradients, {ranks} ranks"), solve)?;
        }
        let numbers = environment.target.join("python-story.json");
        let compare = words![example("compare.py"), numbers, RANKS.map(result)];
        steps.step("the solvers' residuals", environment.python(compare))?;
        steps.note_picture(Picture::read("python-story", &numbers)?);
        Ok(())
    })
}

/// Creates a link to Debian's MPICH in a folder, under the file name that mpi4py's wheel loads.
fn give_own_name(library: &str, folder: &Path) -> Result {
    const OWN_NAME: &str = "libmpi.so.12";
    const DEBIANS_NAME: &str = "libmpich.so.12";
    make(folder)?;
    if library != "mpich" {
        return Ok(());
    }
    let option = format!("-print-file-name={DEBIANS_NAME}");
    let found = output(command!("mpicc.mpich", option))?;
    let link = folder.join(OWN_NAME);
    if link.is_symlink() {
        fs::remove_file(&link)?;
    }
    Ok(symlink(found.trim(), link)?)
}

fn of_tests(pytest: &mut Command) -> &mut Command {
    let (variable, folder) = MODULES_OF_TESTS;
    pytest.env(variable, workspace().join(folder))
}

/// The tests that need neither other packages nor MPI.
pub(crate) fn package_tests() -> Vec<std::ffi::OsString> {
    let apart = ["engines", "packages", "mpi"];
    let apart = apart.map(|tests| words!["--ignore", sources().join("tests").join(tests)]);
    words!["@/bindings/python/tests", apart]
}

/// The folder of the package.
pub(crate) fn sources() -> PathBuf {
    workspace().join("bindings/python")
}

fn example(name: &str) -> PathBuf {
    sources().join("examples").join(name)
}

/// The packages that build wheels, that wheels need, and that all tests need.
const TOOLS: &str = "maturin>=1.9.4,<2 cffi mypy numpy pytest";

/// Features that users' wheels lack. Wheels for tests have them, as Rust's tests do, so that common crates are built only once.
const FEATURE_OF_TESTS: &str = "treefold/tracing,treefold-c-mpi/local";

/// A Python virtual environment.
pub(crate) struct Environment {
    folder: PathBuf,
    /// The working directory of programs. In the source folder of a package, Python would import the package without its native library.
    pub(crate) target: PathBuf,
}

impl Environment {
    /// Creates an environment with the tools and more packages; on failure, the steps that need it are skipped.
    pub(crate) fn make(name: &str, packages: &str) -> Result<Self> {
        let target = target()?.join("python");
        let folder = target.join(name);
        let packages = format!("{TOOLS} {packages}");
        // Two stages that run in parallel may make the same environment.
        static MAKING: Mutex<()> = Mutex::new(());
        let _making = locked(&MAKING);
        setup::install_from_pypi(Path::new("python3"), &packages, &folder)
            .map_err(|reason| Stop::Skipped(format!("python, {reason}")))?;
        Ok(Self { folder, target })
    }

    /// The folder of the environment's programs.
    pub(crate) fn programs(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// A command that runs one of the environment's programs with these words.
    pub(crate) fn program(&self, name: &str, words: impl Words) -> Command {
        let mut command = command!(self.programs().join(name), words);
        command.current_dir(&self.target);
        command
    }

    /// A command that runs the interpreter with these words.
    pub(crate) fn python(&self, words: impl Words) -> Command {
        self.program("python", words)
    }

    /// The path of the interpreter.
    pub(crate) fn interpreter(&self) -> PathBuf {
        self.programs().join("python")
    }

    /// Runs the interpreter for each line of a list: the name of a step, a colon, and the words.
    fn steps(&self, steps: &mut Steps, list: &str) -> Result {
        let mut lines = list.lines().filter_map(|line| line.split_once(": "));
        lines.try_for_each(|(name, words)| steps.step(name, self.python(words)))
    }

    /// Runs pytest with these words.
    pub(crate) fn test(&self, steps: &mut Steps, name: &str, words: impl Words) -> Result {
        steps.step(name, of_tests(&mut self.python(words![PYTEST, words])))
    }

    /// Builds the wheel of the package in this folder, with a build profile.
    pub(crate) fn build(
        &self,
        steps: &mut Steps,
        package: &Path,
        profile: &str,
    ) -> Result<PathBuf> {
        let wheels = self.folder.join("wheels");
        remove(&wheels)?;
        let words = words!["build --locked --quiet --profile", profile, "--out", wheels];
        let mut build = self.program("maturin", words);
        if profile == FOR_TESTS && package == sources() {
            build.args(["--features", FEATURE_OF_TESTS]);
        }
        with_rust_alone(&mut build).current_dir(package);
        steps.build("wheel", build)?;
        Ok(only(&wheels)?)
    }

    /// Installs a wheel.
    pub(crate) fn install(&self, steps: &mut Steps, wheel: &Path) -> Result {
        let words = words!["install --quiet --force-reinstall --no-deps", wheel];
        steps.build("installed wheel", self.program("pip", words))
    }

    /// Builds and installs a wheel.
    pub(crate) fn build_and_install(
        &self,
        steps: &mut Steps,
        package: &Path,
        profile: &str,
    ) -> Result {
        let wheel = self.build(steps, package, profile)?;
        self.install(steps, &wheel)
    }
}
