//! The stage of the crate for DataFusion: it is a workspace of its own, whose tests run in the real engine, from Rust and from Python.

use checkout::workspace::workspace;

use crate::python::environment::Environment;
use crate::python::{FOR_TESTS, PYTEST};
use crate::steps::{Steps, Stop};

const FOLDER: &str = "bindings/datafusion";

/// The engine from PyPI, of the crate's major version, and whose tables it reads.
const PACKAGES: [&str; 2] = ["datafusion>=55,<56", "pyarrow"];

pub(super) fn datafusion(steps: &mut Steps) -> Result<(), Stop> {
    let of_workspace = "--locked --target-dir target/datafusion";
    let manifest = format!("--manifest-path {FOLDER}/Cargo.toml");
    for (name, words, arguments) in [
        ("clippy", "clippy --workspace --all-targets", "-D warnings"),
        ("tests in the engine", "test", ""),
        ("bench, as a test", "bench --profile dev", "--test"),
    ] {
        let words = format!("{words} {of_workspace} {manifest} -- {arguments}");
        steps.cargo(&format!("{name}, DataFusion"), &words)?;
    }
    let Some(environment) = Environment::set_up("datafusion", &PACKAGES)? else {
        return Ok(());
    };
    let package = workspace().join(FOLDER).join("python");
    environment.build_and_install(steps, &package, FOR_TESTS)?;
    let mut tests = environment.python(PYTEST);
    tests.arg(package.join("tests"));
    tests.arg(package.join("README.md"));
    steps.step("tests in DataFusion from PyPI", &mut tests)?;
    let mut types = environment.python("-m mypy --strict");
    types.arg(package.join("treefold_datafusion"));
    steps.step("types of treefold_datafusion", &mut types)
}
