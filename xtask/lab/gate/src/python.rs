//! The stages of the Python package: build a wheel, install it in virtual environments, and test it there.

pub(crate) mod environment;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::workspace::workspace;
use launch::Launcher;

use environment::Environment;

use crate::commands::{Result, command, first_of, output, words};
use crate::files::make;
use crate::libraries::MPI_LIBRARIES;
use crate::pages::{Picture, Shown};
use crate::steps::Steps;

/// The packages for our tests and for NumPy's own.
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

/// Rank counts of the story, and of the tutorial.
const RANKS: [usize; 3] = [1, 2, 3];

/// The rank counts of tests with a library; each is used with one of the two.
fn ranks_of(library: &str) -> &'static [usize] {
    match library {
        "mpich" => &[2],
        _ => &[1, 3],
    }
}

/// The profile of a tested wheel, which reuses the tests' builds. Users' wheels differ only in speed.
pub(crate) const FOR_TESTS: &str = "dev";

/// The profile of a wheel whose speed is measured.
const FOR_USERS: &str = "release";

/// The tutorial's command; with this few ranks, sums do not depend on the MPI library.
const TUTORIAL: [(usize, &str); 3] = [
    (1, "mpirun -n 1 python first_sum.py"),
    (2, "mpirun -n 2 python first_sum.py"),
    (3, "mpirun -n 3 python first_sum.py"),
];

/// The tests, with examples in docstrings and pages, without modules for missing packages.
pub(crate) const PYTEST: &str = "-m pytest --quiet -p no:cacheprovider --doctest-modules --doctest-glob=*.md --doctest-ignore-import-errors";

/// A strict type checker with the package's settings.
fn mypy() -> Vec<OsString> {
    let settings = sources().join("pyproject.toml");
    words!["-m mypy --strict --config-file", settings]
}

/// Tests the package without mpi4py, then the same wheel with mpi4py.
pub(crate) fn python(steps: &mut Steps) -> Result {
    let environment = Environment::make("environment", PACKAGES_FOR_TESTS)?;
    let wheel = environment.build(steps, &sources(), FOR_TESTS)?;
    environment.install(steps, &wheel)?;
    let tests = words![
        PYTEST,
        package_tests(),
        sources().join("README.md"),
        workspace().join("docs/tutorial-python.md"),
        workspace().join("docs/tutorial-by-key.md"),
        "--pyargs treefold",
    ];
    steps.step("tests and examples in Python", environment.python(tests))?;
    let dask = words![PYTEST, sources().join("tests/packages/test_dask.py")];
    steps.step(
        "dask, with workers in two processes",
        of_tests(&mut environment.python(dask)),
    )?;
    let numpys = words![sources().join("tests/suites.py"), "numpy --quick"];
    steps.step("NumPy's own tests, by treefold", environment.python(numpys))?;
    let stubs = words![
        "-m mypy.stubtest treefold --concise --ignore-missing-stub --allowlist",
        sources().join("tests/stubtest-allowlist.txt"),
        "--mypy-config-file",
        sources().join("pyproject.toml"),
    ];
    steps.step("type stubs", environment.python(stubs))?;
    types(steps, &environment)?;
    if !steps.mpi {
        return Ok(());
    }
    on_ranks(steps, &wheel)
}

/// Tests exact sums in an environment's engines.
pub(crate) fn engines(steps: &mut Steps, environment: &Environment, which: &str) -> Result {
    let folder = sources().join("tests/engines");
    let tests = words![PYTEST, folder, "--pyargs treefold.pandas treefold.polars"];
    let step = format!("exact sums, {which} engines");
    steps.step(step, of_tests(&mut environment.python(tests)))
}

/// The examples that users read; the others are measurements.
const TYPED_EXAMPLES: [&str; 5] = [
    "first_sum.py",
    "compare.py",
    "conjugate_gradient.py",
    "field_mean.py",
    "maintained_view.py",
];

/// Checks that type checkers infer the types of results.
fn types(steps: &mut Steps, environment: &Environment) -> Result {
    let typed = sources().join("tests/typed.py");
    steps.step("types of results", environment.python(words![typed]))?;
    let examples = TYPED_EXAMPLES.map(|name| sources().join("examples").join(name));
    steps.step(
        "types of results and of examples, by mypy",
        environment.python(words![mypy(), typed, examples]),
    )?;
    steps.step("types of results, by pyright", pyright(environment, &typed))
}

fn pyright(environment: &Environment, file: &Path) -> Command {
    let python = environment.interpreter();
    environment.python(words![
        "-m pyright --level error --pythonpath",
        python,
        file
    ])
}

/// Tests `treefold.mpi` on ranks of Open MPI and MPICH, with one wheel of treefold and one of mpi4py.
fn on_ranks(steps: &mut Steps, wheel: &Path) -> Result {
    let environment = Environment::make("mpi", PACKAGES_FOR_MPI)?;
    let types = words![mypy(), sources().join("treefold/mpi")];
    steps.step("types of treefold.mpi", environment.python(types))?;
    environment.install(steps, wheel)?;
    steps.with_each_library(|steps, library| {
        let python = Launcher::of(steps.installation.clone(), environment.interpreter());
        let folder = environment.target.join(library);
        for &ranks in ranks_of(library) {
            let mut tests = python.command(ranks, &[]);
            let folder_of_tests = sources().join("tests/mpi");
            tests.args(words![PYTEST, folder_of_tests, "--pyargs treefold.mpi"]);
            for_mpi4py(of_tests(&mut tests), library, &folder)?;
            tests.current_dir(&environment.target);
            let step = format!("tests in Python, {library}, {ranks} ranks");
            steps.step(step, tests)?;
        }
        let is_here = |&(ranks, _): &(usize, _)| ranks_of(library).contains(&ranks);
        for (ranks, command) in TUTORIAL.into_iter().filter(is_here) {
            let mut first_sum = python.command(ranks, &[]);
            first_sum.arg(sources().join("examples/first_sum.py"));
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

/// Makes mpi4py's wheel find Debian's library of this name; uses a folder for links.
pub(crate) fn for_mpi4py(command: &mut Command, library: &str, folder: &Path) -> Result {
    give_own_name(library, folder)?;
    command.env("MPI4PY_MPIABI", library);
    command.env("LD_LIBRARY_PATH", first_of("LD_LIBRARY_PATH", folder));
    Ok(())
}

/// Tests the package together with others.
pub(crate) fn python_packages(steps: &mut Steps) -> Result {
    let environment = Environment::make("packages", PACKAGES)?;
    let wheel = environment.build(steps, &sources(), FOR_TESTS)?;
    environment.install(steps, &wheel)?;
    steps.part(|steps| {
        let old = Environment::make("old-engines", OLD_ENGINES)?;
        old.install(steps, &wheel)?;
        engines(steps, &old, "the oldest")
    })?;
    let typed = sources().join("tests/typed_packages.py");
    steps.step(
        "types of results with other packages",
        environment.python(words![typed]),
    )?;
    steps.step(
        "types of results with other packages, by mypy",
        environment.python(words![mypy(), typed]),
    )?;
    steps.step(
        "types of results with other packages, by pyright",
        pyright(&environment, &typed),
    )?;
    let folder = sources().join("tests/packages");
    let tests = words![PYTEST, folder, "--pyargs treefold.dask"];
    let mut tests = environment.python(tests);
    steps.step("tests with other packages", of_tests(&mut tests))
}

/// Runs NumPy's, pandas' and SciPy's tests of reductions with treefold.
pub(crate) fn python_suites(steps: &mut Steps) -> Result {
    let packages = format!(
        "hypothesis {}",
        SUITES.map(|(_, package)| package).join(" ")
    );
    let environment = Environment::make("suites", &packages)?;
    environment.build_and_install(steps, &sources(), FOR_TESTS)?;
    for (name, package) in SUITES {
        let suite = words![sources().join("tests/suites.py"), name];
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
    let example = |name: &str| sources().join("examples").join(name);
    let mean = environment.python(words![example("field_mean.py")]);
    steps.step("the mean of a field", mean)?;
    let view = environment.python(words![example("maintained_view.py")]);
    steps.step("a maintained view", view)?;
    let numbers = environment.target.join("numpy.json");
    let speed = command!(environment.interpreter(), example("speed.py"), numbers);
    steps.step("times over NumPy's", speed)?;
    steps.note_picture(Picture::read("numpy", &numbers)?);
    steps.with_library(MPI_LIBRARIES[0], |steps| {
        let python = Launcher::of(steps.installation.clone(), environment.interpreter());
        let result = |ranks: usize| environment.target.join(format!("{ranks}.npz"));
        for ranks in RANKS {
            let mut solve = python.command(ranks, &[]);
            solve
                .arg(example("conjugate_gradient.py"))
                .arg(result(ranks));
            steps.step(format!("conjugate gradients, {ranks} ranks"), solve)?;
        }
        let numbers = environment.target.join("python-story.json");
        let compare = words![example("compare.py"), numbers, RANKS.map(result)];
        steps.step("the solvers' residuals", environment.python(compare))?;
        steps.note_picture(Picture::read("python-story", &numbers)?);
        Ok(())
    })
}

/// mpi4py's wheel loads MPICH's library by MPICH's own name, but Debian's has another one: creates a link in a folder.
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

/// Makes tests find their shared modules.
fn of_tests(pytest: &mut Command) -> &mut Command {
    pytest.env("PYTHONPATH", sources().join("tests"))
}

/// The tests that need neither other packages nor MPI.
pub(crate) fn package_tests() -> Vec<OsString> {
    let apart = ["tests/engines", "tests/packages", "tests/mpi"];
    let apart = apart.map(|tests| words!["--ignore", sources().join(tests)]);
    words![sources().join("tests"), apart]
}

/// The folder of the package.
pub(crate) fn sources() -> PathBuf {
    workspace().join("bindings/python")
}
