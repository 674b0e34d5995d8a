//! The stage `python`: the package of `python/` is built as a wheel, installed in a virtual environment, and tested there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::Error;
use harness::workspace::{cargo, target, workspace};

use super::setup;
use super::steps::{Steps, Stop};

/// What builds the wheel, and what its tests use.
const TOOLS: [&str; 4] = ["maturin>=1.9.4,<2", "mypy", "numpy", "pytest"];

/// What cargo checks of the native half.
const CARGO: [(&str, &str); 2] = [
    ("format, Python", "fmt --check"),
    ("clippy, Python", "clippy --locked --release -- -D warnings"),
];

/// Runs the stage.
pub(super) fn python(steps: &mut Steps) -> Result<(), Stop> {
    let folder = target().map_err(Stop::Error)?.join("python");
    let environment = folder.join("environment");
    if let Err(reason) = setup::install_from_pypi(&TOOLS, &environment) {
        println!("skipped: python, {reason}");
        return Ok(());
    }
    let sources = workspace().join("python");
    for (name, words) in CARGO {
        let mut command = cargo();
        command.args(words.split_whitespace());
        command
            .current_dir(&sources)
            .env("CARGO_TARGET_DIR", &folder);
        steps.step(name, &mut command)?;
    }
    let wheels = folder.join("wheels");
    let failed = |error| Stop::Error(Error::file(&wheels, error));
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(failed)?;
    }
    let program = |name: &str| Command::new(environment.join("bin").join(name));
    let mut build = program("maturin");
    build.args(["build", "--release", "--locked", "--quiet", "--out"]);
    build.arg(&wheels).current_dir(&sources);
    build.env("CARGO_TARGET_DIR", &folder);
    steps.step("wheel", &mut build)?;
    let mut install = program("pip");
    install.args(["install", "--quiet", "--force-reinstall", "--no-deps"]);
    install.arg(only_file(&wheels).map_err(failed)?);
    steps.step("installed wheel", &mut install)?;
    // Outside of `python/`, whose package has no native half.
    let mut tests = program("python");
    tests.args(
        "-m pytest --quiet -p no:cacheprovider --doctest-modules --doctest-glob=*.md"
            .split_whitespace(),
    );
    tests.args([sources.join("tests"), sources.join("README.md")]);
    tests.args(["--pyargs", "treefold"]);
    steps.step("tests and examples in Python", tests.current_dir(&folder))?;
    let mut stubs = program("python");
    stubs.args([
        "-m",
        "mypy.stubtest",
        "treefold",
        "--concise",
        "--ignore-missing-stub",
    ]);
    steps.step("type stubs", stubs.current_dir(&folder))
}

/// The file that is alone in its folder.
fn only_file(folder: &Path) -> std::io::Result<PathBuf> {
    let mut entries = fs::read_dir(folder)?;
    let first = entries.next().transpose()?;
    let first = first.ok_or_else(|| std::io::Error::other("there is no wheel"))?;
    Ok(first.path())
}
