//! The wheel for Linux on x86-64: linked by zig with the symbols of an old glibc, and tried in each Python that is found.

use std::env;
use std::fs;
use std::iter;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::licences::joined;
use checkout::workspace::target;
use harness::Error;

use super::{empty, licences, listed};
use crate::python::environment::Environment;
use crate::python::{add_tests, sources};
use crate::setup;
use crate::steps::{Steps, Stop};

/// What builds and looks at wheels for many systems.
const TOOLS: [&str; 3] = ["auditwheel", "wheel", "ziglang"];

/// The tag that pip and auditwheel know: the symbols of glibc 2.17.
const PLATFORM: &str = "manylinux_2_17_x86_64";

/// The most that it may take.
const BYTES_MAX: u64 = 6_000_000;

/// The minor versions of Python 3 that are looked for.
const PYTHONS: RangeInclusive<u32> = 10..=15;

/// What the tests need, from the registry.
const NEEDED: [&str; 3] = ["cffi", "numpy", "pytest"];

/// The name of the file with the licences of what is linked in.
const THIRD_PARTIES: &str = "THIRD-PARTY-LICENSES.txt";

/// Makes it, looks at it, and tries it.
pub(super) fn make(steps: &mut Steps, dist: &Path) -> Result<(), Stop> {
    if env::consts::ARCH != "x86_64" {
        println!("skipped: the wheel, which is made on x86-64");
        return Ok(());
    }
    let Some(environment) = Environment::set_up("release", &TOOLS)? else {
        return Ok(());
    };
    let folder = target()?.join("dist");
    let (made, parts) = (folder.join("wheel"), folder.join("parts"));
    empty(&made)?;
    empty(&parts)?;
    let mut build = environment.program("maturin");
    build.args(["build", "--zig", "--compatibility", "manylinux2014"]);
    build.args(["--locked", "--quiet", "--out"]).arg(&made);
    // It asks the first `python3` for zig.
    let folders = env::var_os("PATH").unwrap_or_default();
    let own = iter::once(environment.programs());
    let folders = env::join_paths(own.chain(env::split_paths(&folders)));
    build.env(
        "PATH",
        folders.map_err(|error| Error::Run(error.to_string()))?,
    );
    steps.step("the wheel is linked by zig", build.current_dir(sources()))?;

    // Packed anew with the licences, which only the lock file tells.
    let wheel = only(&made)?;
    let mut unpack = environment.python("-m wheel unpack");
    steps.step("its parts", unpack.arg(&wheel).arg("--dest").arg(&parts))?;
    let unpacked = only(&parts)?;
    let metadata = listed(&unpacked)?;
    let is_metadata = |path: &&PathBuf| path.extension().is_some_and(|end| end == "dist-info");
    let metadata = metadata.iter().find(is_metadata);
    let metadata = metadata.ok_or_else(|| Error::file(&unpacked, "it has no .dist-info"))?;
    let texts = joined(&licences::third_parties(&["treefold-python"])?);
    let file = metadata.join(THIRD_PARTIES);
    fs::write(&file, texts).map_err(|error| Stop::Error(Error::file(&file, error)))?;
    let mut pack = environment.python("-m wheel pack");
    steps.step(
        "with the licences of what is linked in",
        pack.arg(&unpacked).arg("--dest-dir").arg(dist),
    )?;

    let wheels = listed(dist)?;
    let is_wheel = |path: &&PathBuf| path.extension().is_some_and(|end| end == "whl");
    let wheel = wheels.iter().find(is_wheel);
    let wheel = wheel.ok_or_else(|| Error::file(dist, "it has no wheel"))?;
    steps.check("its platform and size", || look_at(&environment, wheel))?;
    let found: Vec<(u32, PathBuf)> = PYTHONS
        .filter_map(|minor| Some((minor, python(minor)?)))
        .collect();
    if found.is_empty() {
        println!("skipped: no Python from 3.10 on");
    }
    for (minor, python) in found {
        try_in(steps, minor, &python, dist, &folder)?;
    }
    Ok(())
}

/// What auditwheel says of its platform, and its size.
fn look_at(environment: &Environment, wheel: &Path) -> Result<String, String> {
    let mut show = environment.program("auditwheel");
    let output = show.arg("show").arg(wheel).output();
    let output = output.map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&output.stdout).replace('\n', " ");
    let bytes = fs::metadata(wheel)
        .map_err(|error| error.to_string())?
        .len();
    match (
        told.contains(&format!("\"{PLATFORM}\"")),
        bytes <= BYTES_MAX,
    ) {
        (true, true) => Ok(format!("{PLATFORM}, {} kB", bytes.div_ceil(1000))),
        (true, false) => Err(format!("{bytes} bytes, more than {BYTES_MAX}")),
        (false, _) => Err(format!("auditwheel says{told}")),
    }
}

/// Installs the wheel without the registry in a fresh environment of a Python, and runs the tests there.
fn try_in(
    steps: &mut Steps,
    minor: u32,
    python: &Path,
    dist: &Path,
    folder: &Path,
) -> Result<(), Stop> {
    let name = format!("Python 3.{minor}");
    let fresh = folder.join(format!("python3.{minor}"));
    empty(&fresh)?;
    steps.check(&format!("{name}: what tests need"), || {
        let installed = setup::install_from_pypi(python, &NEEDED, &fresh);
        installed.map(|()| NEEDED.join(", "))
    })?;
    let mut install = Command::new(fresh.join("bin/pip"));
    install.args(["install", "--quiet", "--no-index", "--find-links"]);
    install.arg(dist).arg("treefold");
    steps.step(&format!("{name}: the wheel"), &mut install)?;
    let mut tests = Command::new(fresh.join("bin/python"));
    tests.args("-m pytest --quiet -p no:cacheprovider".split_whitespace());
    add_tests(&mut tests);
    steps.step(&format!("{name}: tests"), tests.current_dir(&fresh))
}

/// An interpreter, on PATH or one of pyenv's.
fn python(minor: u32) -> Option<PathBuf> {
    let name = format!("python3.{minor}");
    let runs = |program: &PathBuf| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let on_path = PathBuf::from(&name);
    if runs(&on_path) {
        return Some(on_path);
    }
    let versions = PathBuf::from(env::var_os("PYENV_ROOT")?).join("versions");
    let folders = fs::read_dir(versions).ok()?;
    let programs = folders.filter_map(|entry| Some(entry.ok()?.path().join("bin").join(&name)));
    programs.into_iter().find(runs)
}

/// What is alone in a folder.
fn only(folder: &Path) -> Result<PathBuf, Stop> {
    match &listed(folder)?[..] {
        [one] => Ok(one.clone()),
        others => {
            let reason = format!("{} files or folders are there, not one", others.len());
            Err(Stop::Error(Error::file(folder, reason)))
        }
    }
}
