//! The stages of the package for Python: it is built as a wheel, installed in virtual environments, and tested there.

pub(crate) mod environment;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::iter;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::workspace::workspace;
use launch::Error;
use launch::Launcher;

use environment::Environment;

use super::libraries::with_library;
use super::pictures::Picture;
use super::prefixes::MPI_LIBRARIES;
use super::shown::Shown;
use super::steps::{Steps, Stop};

/// What the package's tests use, and NumPy's own.
const PACKAGES_FOR_TESTS: [&str; 5] = [
    "array-api-strict",
    "dask[array]",
    "distributed",
    "hypothesis",
    "pyright[nodejs]",
];

/// Packages that pass their arrays to treefold.
const PACKAGES: [&str; 7] = [
    "dask[array]",
    "distributed",
    "flox",
    "jax",
    "polars",
    "pyarrow",
    "xarray",
];

/// The oldest engines in which treefold sums columns; stage `duckdb` has the newest.
const OLD_ENGINES: [&str; 4] = [
    "pandas==2.2.0",
    "polars==1.0.0",
    "pyarrow==17.0.0",
    "numpy<2",
];

/// What the tests on ranks use.
const PACKAGES_FOR_MPI: [&str; 2] = ["mpi4py>=4", "numba"];

/// Rank counts of the story, and of the tutorial.
const RANKS: [usize; 3] = [1, 2, 3];

/// The rank counts of tests with a library: over both, each once.
fn ranks_of(library: &str) -> &'static [usize] {
    match library {
        "mpich" => &[2],
        _ => &[1, 3],
    }
}

/// The profile of a wheel that is tested: as the tests are built, and of what they have built. What users get differs in speed alone.
pub(crate) const FOR_TESTS: &str = "dev";

/// That of a wheel whose speed is measured.
const FOR_USERS: &str = "wheel";

/// How the tutorial runs its program, on so many ranks: fewer than those whose sums depend on the MPI library.
const TUTORIAL: [(usize, &str); 3] = [
    (1, "mpirun -n 1 python first_sum.py"),
    (2, "mpirun -n 2 python first_sum.py"),
    (3, "mpirun -n 3 python first_sum.py"),
];

/// With examples in docstrings and pages. Modules for packages that are not there are left out.
pub(crate) const PYTEST: &str = "-m pytest --quiet -p no:cacheprovider --doctest-modules --doctest-glob=*.md --doctest-ignore-import-errors";

/// The package where there is no mpi4py; then the same wheel with mpi4py.
pub(super) fn python(steps: &mut Steps) -> Result<(), Stop> {
    let Some(environment) = Environment::set_up("environment", &PACKAGES_FOR_TESTS)? else {
        return Ok(());
    };
    let wheel = environment.build(steps, &sources(), FOR_TESTS)?;
    environment.install(steps, &wheel)?;
    let mut tests = environment.python(PYTEST);
    add_tests(&mut tests);
    tests.args([
        sources().join("README.md"),
        workspace().join("docs/tutorial-python.md"),
        workspace().join("docs/tutorial-by-key.md"),
    ]);
    tests.args(["--pyargs", "treefold"]);
    steps.step("tests and examples in Python", &mut tests)?;
    let mut dask = environment.python(PYTEST);
    dask.arg(sources().join("tests/packages/test_dask.py"));
    dask.env("PYTHONPATH", sources().join("tests"));
    steps.step("dask, with workers in two processes", &mut dask)?;
    let mut numpys = environment.python("");
    numpys.arg(sources().join("tests/numpys.py"));
    steps.step("NumPy's own tests, by treefold", &mut numpys)?;
    let mut stubs = environment.python("-m mypy.stubtest treefold --concise --ignore-missing-stub");
    stubs
        .arg("--allowlist")
        .arg(sources().join("tests/stubtest-allowlist.txt"))
        .arg("--mypy-config-file")
        .arg(sources().join("pyproject.toml"));
    steps.step("type stubs", &mut stubs)?;
    types(steps, &environment)?;
    if steps.mpi() {
        on_ranks(steps, &wheel)
    } else {
        Ok(())
    }
}

/// Exact sums in the engines of an environment, where treefold is installed.
pub(super) fn engines(
    steps: &mut Steps,
    environment: &Environment,
    which: &str,
) -> Result<(), Stop> {
    let mut tests = environment.python(PYTEST);
    tests.arg(sources().join("tests/engines"));
    tests.args(["--pyargs", "treefold.pandas", "treefold.polars"]);
    tests.env("PYTHONPATH", sources().join("tests"));
    steps.step(&format!("exact sums, {which} engines"), &mut tests)
}

/// What people read; the other examples are measurements.
const TYPED_EXAMPLES: [&str; 4] = [
    "first_sum.py",
    "compare.py",
    "conjugate_gradient.py",
    "field_mean.py",
];

/// What type checkers know of results, which are of these types.
fn types(steps: &mut Steps, environment: &Environment) -> Result<(), Stop> {
    let typed = sources().join("tests/typed.py");
    let mut results = environment.python("");
    steps.step("types of results", results.arg(&typed))?;
    let mut mypy = environment.python("-m mypy --strict --config-file");
    mypy.arg(sources().join("pyproject.toml")).arg(&typed);
    mypy.args(TYPED_EXAMPLES.map(|name| sources().join("examples").join(name)));
    steps.step("types of results and of examples, by mypy", &mut mypy)?;
    let mut pyright = environment.python("-m pyright --level error --pythonpath");
    pyright.arg(environment.interpreter());
    steps.step("types of results, by pyright", pyright.arg(&typed))
}

/// `treefold.mpi` on ranks of Open MPI and of MPICH: one wheel of treefold, and one of mpi4py.
fn on_ranks(steps: &mut Steps, wheel: &Path) -> Result<(), Stop> {
    let Some(environment) = Environment::set_up("mpi", &PACKAGES_FOR_MPI)? else {
        return Ok(());
    };
    let mut types = environment.python("-m mypy --strict --config-file");
    types.arg(sources().join("pyproject.toml"));
    types.arg(sources().join("treefold/mpi"));
    steps.step("types of treefold.mpi", &mut types)?;
    environment.install(steps, wheel)?;
    let python = environment.interpreter();
    for library in MPI_LIBRARIES {
        with_library(steps, library, |steps| {
            let python = Launcher::of(steps.installation().clone(), &python);
            let folder = environment.target.join(library);
            for &ranks in ranks_of(library) {
                let words: Vec<&str> = PYTEST.split_whitespace().collect();
                let mut tests = python.command(ranks, &words);
                tests.arg(sources().join("tests/mpi"));
                tests.args(["--pyargs", "treefold.mpi"]);
                tests.env("PYTHONPATH", sources().join("tests"));
                for_mpi4py(&mut tests, library, &folder)?;
                tests.current_dir(&environment.target);
                let name = format!("tests in Python, {library}, {ranks} ranks");
                steps.step(&name, &mut tests)?;
            }
            let is_here = |&(ranks, _): &(usize, _)| ranks_of(library).contains(&ranks);
            for (ranks, command) in TUTORIAL.into_iter().filter(is_here) {
                let mut first_sum = python.command(ranks, &[]);
                first_sum.arg(sources().join("examples/first_sum.py"));
                for_mpi4py(&mut first_sum, library, &folder)?;
                let page = "tutorial-python-mpi.md";
                let name = format!("the tutorial, {library}, {ranks} ranks");
                Shown { page, command }.check(steps, &name, &mut first_sum, str::to_owned)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The interpreter of an environment with mpi4py; `None`, which it prints, where there cannot be one.
pub(super) fn mpi4py() -> Result<Option<PathBuf>, Stop> {
    let environment = Environment::set_up("mpi", &PACKAGES_FOR_MPI)?;
    Ok(environment.map(|environment| environment.interpreter()))
}

/// Lets mpi4py's wheel find Debian's library of this name. A folder is for what it needs.
pub(super) fn for_mpi4py(command: &mut Command, library: &str, folder: &Path) -> Result<(), Stop> {
    give_own_name(library, folder).map_err(|error| Stop::Error(Error::file(folder, error)))?;
    command.env("MPI4PY_MPIABI", library);
    command.env("LD_LIBRARY_PATH", first_of(folder));
    Ok(())
}

/// The package with others.
pub(super) fn python_packages(steps: &mut Steps) -> Result<(), Stop> {
    let Some(environment) = Environment::set_up("packages", &PACKAGES)? else {
        return Ok(());
    };
    let wheel = environment.build(steps, &sources(), FOR_TESTS)?;
    environment.install(steps, &wheel)?;
    if let Some(old) = Environment::set_up("old-engines", &OLD_ENGINES)? {
        old.install(steps, &wheel)?;
        engines(steps, &old, "the oldest")?;
    }
    let mut tests = environment.python(PYTEST);
    tests.arg(sources().join("tests/packages"));
    tests.args(["--pyargs", "treefold.dask"]);
    tests.env("PYTHONPATH", sources().join("tests"));
    steps.step("tests with other packages", &mut tests)
}

/// What `docs/dask.md` and `docs/examples.md` tell of programs in Python.
pub(super) fn python_story(steps: &mut Steps) -> Result<(), Stop> {
    let packages = [&PACKAGES[..], &PACKAGES_FOR_MPI].concat();
    let Some(environment) = Environment::set_up("story", &packages)? else {
        return Ok(());
    };
    environment.build_and_install(steps, &sources(), FOR_USERS)?;
    let mut mean = environment.python("");
    mean.arg(sources().join("examples/field_mean.py"));
    steps.step("the mean of a field", &mut mean)?;
    let numbers = environment.target.join("numpy.json");
    let mut speed = environment.python("");
    speed.arg(sources().join("examples/speed.py")).arg(&numbers);
    speed.current_dir(workspace());
    steps.step("times over NumPy's", &mut speed)?;
    steps.note_picture(Picture::read("numpy", numbers)?);
    with_library(steps, MPI_LIBRARIES[0], |steps| {
        let installation = steps.installation().clone();
        let python = Launcher::of(installation, environment.interpreter());
        let examples = sources().join("examples");
        let result = |ranks: usize| environment.target.join(format!("{ranks}.npz"));
        for ranks in RANKS {
            let mut solve = python.command(ranks, &[]);
            solve
                .arg(examples.join("conjugate_gradient.py"))
                .arg(result(ranks));
            steps.step(&format!("conjugate gradients, {ranks} ranks"), &mut solve)?;
        }
        let mut compare = environment.python("");
        compare.arg(examples.join("compare.py"));
        let numbers = environment.target.join("python-story.json");
        compare.arg(&numbers).args(RANKS.map(result));
        steps.step("the solvers' residuals", &mut compare)?;
        steps.note_picture(Picture::read("python-story", numbers)?);
        Ok(())
    })
}

/// mpi4py's wheel asks for MPICH's library by the name that MPICH gives it, and Debian gives it another one: leaves a link in a folder.
fn give_own_name(library: &str, folder: &Path) -> io::Result<()> {
    const OWN_NAME: &str = "libmpi.so.12";
    const DEBIANS_NAME: &str = "libmpich.so.12";
    fs::create_dir_all(folder)?;
    if library != "mpich" {
        return Ok(());
    }
    let mut compiler = Command::new("mpicc.mpich");
    let found = compiler.arg(format!("-print-file-name={DEBIANS_NAME}"));
    let found = String::from_utf8_lossy(&found.output()?.stdout).into_owned();
    let link = folder.join(OWN_NAME);
    if link.is_symlink() {
        fs::remove_file(&link)?;
    }
    symlink(found.trim(), link)
}

/// The folders in which the loader looks for libraries, after this one.
fn first_of(folder: &Path) -> OsString {
    let before = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let before = env::split_paths(&before).filter(|path| !path.as_os_str().is_empty());
    let all = iter::once(folder.to_owned()).chain(before);
    env::join_paths(all).unwrap_or_else(|_| folder.into())
}

/// Names the tests that need neither other packages nor MPI.
pub(crate) fn add_tests(pytest: &mut Command) {
    pytest.arg(sources().join("tests"));
    for apart in ["tests/engines", "tests/packages", "tests/mpi"] {
        pytest.arg("--ignore").arg(sources().join(apart));
    }
}

/// The folder of the package.
pub(crate) fn sources() -> PathBuf {
    workspace().join("bindings/python")
}
