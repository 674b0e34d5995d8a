//! The stage of engines: exact sums in Polars and pandas, and DuckDB's extension, whose wheel is built, and whose functions are tested in the
//! real engine.

use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::workspace::{target, workspace};

use crate::python::environment::Environment;
use crate::python::{FOR_TESTS, PYTEST, engines, sources};
use crate::setup;
use crate::steps::{Steps, Stop};

/// The engine, whose tables it reads, and what else the page on databases and data frames uses.
const PACKAGES: [&str; 4] = ["duckdb>=2", "pyarrow", "pandas", "polars"];

/// The last version of the engine that the extension refuses.
const TOO_OLD: &str = "duckdb<2";

/// The package with Polars, pandas and DuckDB, and DuckDB before 2.0, which refuses it.
pub(super) fn duckdb(steps: &mut Steps) -> Result<(), Stop> {
    // Not by the engine's name alone: mypy takes a folder for a package.
    let Some(environment) = Environment::set_up("with-duckdb", &PACKAGES)? else {
        return Ok(());
    };
    environment.build_and_install(steps, &sources(), FOR_TESTS)?;
    engines(steps, &environment, "the newest")?;
    let wheel = environment.build(steps, &extension(), FOR_TESTS)?;
    finish(steps, &environment, &wheel)?;
    environment.install(steps, &wheel)?;
    let mut tests = environment.python(PYTEST);
    tests.arg(extension().join("tests"));
    tests.arg(workspace().join("docs/databases.md"));
    tests.args(["--pyargs", "treefold.duckdb"]);
    steps.step("tests in DuckDB", &mut tests)?;
    let mut types = environment.python("-m mypy --strict --config-file");
    types.arg(sources().join("pyproject.toml"));
    types.arg(sources().join("treefold/duckdb.py"));
    steps.step("types of treefold.duckdb", &mut types)?;
    let old = target()?.join("python/duckdb-too-old");
    if let Err(reason) = setup::install_from_pypi(Path::new("python3"), &[TOO_OLD], &old) {
        println!("skipped: DuckDB before 2.0, {reason}");
        return Ok(());
    }
    let file = environment
        .python("-c")
        .arg("import treefold_duckdb; print(treefold_duckdb.FILE)")
        .output();
    let file = file.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let mut refused = Command::new(old.join("bin/python"));
    refused.arg(extension().join("tests/too_old.py"));
    refused.arg(file.unwrap_or_default());
    steps.step("DuckDB before 2.0 is refused", refused.current_dir(old))
}

/// Makes of the library in a wheel the file that DuckDB loads.
pub(crate) fn finish(
    steps: &mut Steps,
    environment: &Environment,
    wheel: &Path,
) -> Result<(), Stop> {
    let mut finish = environment.python("");
    finish.arg(extension().join("backend.py")).arg(wheel);
    steps.step("DuckDB's file", &mut finish)
}

/// The folder of the extension.
pub(crate) fn extension() -> PathBuf {
    workspace().join("bindings/duckdb")
}
