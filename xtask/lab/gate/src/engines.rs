//! The stages of engines: exact sums in Polars and pandas, the wheel of DuckDB's extension, and DataFusion's crate, which is a
//! workspace of its own. Their tests run in the real engines, as do those of the bindings [in C](over_c).

pub(crate) mod over_c;

use std::path::{Path, PathBuf};

use checkout::workspace::{target, workspace};

use crate::commands::{Result, Stop, command, output, words};
use crate::python::environment::Environment;
use crate::python::{FOR_TESTS, PYTEST, engines, sources};
use crate::setup;
use crate::steps::Steps;

/// The folder of DataFusion's crate.
const DATAFUSION: &str = "bindings/engines/datafusion";

/// The engine from PyPI in the crate's major version, and a package whose tables it reads.
const DATAFUSION_PACKAGES: &str = "datafusion>=55,<56 pyarrow";

pub(crate) fn datafusion(steps: &mut Steps) -> Result {
    let of_workspace =
        format!("--locked --target-dir target/datafusion --manifest-path {DATAFUSION}/Cargo.toml");
    for (name, words, arguments) in [
        ("clippy", "clippy --workspace --all-targets", "-D warnings"),
        ("tests in the engine", "test", ""),
        ("bench, as a test", "bench --profile dev", "--test"),
    ] {
        let words = format!("{words} {of_workspace} -- {arguments}");
        steps.cargo(format!("{name}, DataFusion"), &words)?;
    }
    let environment = Environment::make("datafusion", DATAFUSION_PACKAGES)?;
    let package = workspace().join(DATAFUSION).join("python");
    environment.build_and_install(steps, &package, FOR_TESTS)?;
    let tests = words![PYTEST, package.join("tests"), package.join("README.md")];
    steps.step("tests in DataFusion from PyPI", environment.python(tests))?;
    let types = words!["-m mypy --strict", package.join("treefold_datafusion")];
    steps.step("types of treefold_datafusion", environment.python(types))
}

/// DuckDB, the packages whose tables it reads, and others for the page on databases and data frames.
const DUCKDB_PACKAGES: &str = "duckdb>=2 pyarrow pandas polars";

/// A DuckDB version that is too old for the extension.
const TOO_OLD: &str = "duckdb<2";

/// The package with Polars, pandas and DuckDB, and DuckDB before 2.0, which refuses it.
pub(crate) fn duckdb(steps: &mut Steps) -> Result {
    // Not just the engine's name, since mypy would treat the folder as a package.
    let environment = Environment::make("with-duckdb", DUCKDB_PACKAGES)?;
    environment.build_and_install(steps, &sources(), FOR_TESTS)?;
    engines(steps, &environment, "the newest")?;
    let wheel = environment.build(steps, &extension(), FOR_TESTS)?;
    finish(steps, &environment, &wheel)?;
    environment.install(steps, &wheel)?;
    let tests = words![
        PYTEST,
        extension().join("tests"),
        workspace().join("docs/databases.md"),
        "--pyargs treefold.duckdb",
    ];
    steps.step("tests in DuckDB", environment.python(tests))?;
    let types = words![
        "-m mypy --strict --config-file",
        sources().join("pyproject.toml"),
        sources().join("treefold/duckdb.py"),
    ];
    steps.step("types of treefold.duckdb", environment.python(types))?;
    let old = target()?.join("python/duckdb-too-old");
    setup::install_from_pypi(Path::new("python3"), TOO_OLD, &old)
        .map_err(|reason| Stop::Skipped(format!("DuckDB before 2.0, {reason}")))?;
    let program = "import treefold_duckdb; print(treefold_duckdb.FILE)";
    let file = output(environment.python(words!["-c", program.to_owned()]))?;
    let script = extension().join("tests/too_old.py");
    let mut refused = command!(old.join("bin/python"), script, file.trim().to_owned());
    steps.step("DuckDB before 2.0 is refused", refused.current_dir(old))
}

/// Converts the library in a wheel to the file that DuckDB loads.
pub(crate) fn finish(steps: &mut Steps, environment: &Environment, wheel: &Path) -> Result {
    let words = words![extension().join("backend.py"), wheel];
    steps.step("DuckDB's file", environment.python(words))
}

/// The folder of DuckDB's extension.
pub(crate) fn extension() -> PathBuf {
    workspace().join("bindings/engines/duckdb")
}
