//! The wheel for 64-bit ARM in an emulator, by Debian's Python for it: neither foreign packages nor binfmt are needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use launch::installed::is_root;

use super::{empty, listed};
use crate::aarch64;
use crate::python::environment::Environment;
use crate::python::sources;
use crate::steps::{Steps, Stop};

/// Debian's Python, whose version has two numbers.
const PYTHON: &str = "/usr/bin/python3";

/// What it loads besides its own packages.
const LIBRARIES: [&str; 6] = [
    "libc6",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "libstdc++6",
    "zlib1g",
];

/// What the tests need, from the registry, and the systems that their wheels may be for.
const NEEDED: [&str; 3] = ["cffi", "numpy", "pytest"];
const PLATFORMS: [&str; 3] = [
    "manylinux_2_28_aarch64",
    "manylinux_2_27_aarch64",
    "manylinux2014_aarch64",
];

/// The tests that are run: the order's cases with bits, and what depends on how the wheel is linked. All of them would take an hour.
const TESTS: [&str; 2] = ["tests/test_golden.py", "tests/test_panic.py"];

/// Tries it, or says in one line why not.
pub(super) fn try_in(
    steps: &mut Steps,
    environment: &Environment,
    wheel: &Path,
    folder: &Path,
) -> Result<(), Stop> {
    let Some(version) = version().filter(|_| is_root()) else {
        println!(
            "skipped: the wheel for aarch64 in an emulator, which needs root on Debian and {PYTHON}"
        );
        return Ok(());
    };
    let (root, site) = (folder.join("root"), folder.join("site"));
    empty(&root)?;
    empty(&site)?;
    steps.check("a Python for aarch64", || {
        unpack(&version, folder, &root)?;
        Ok(format!("Debian's Python {version}"))
    })?;
    let mut install = environment.program("pip");
    install.args(["install", "--quiet", "--only-binary", ":all:"]);
    install
        .args(["--python-version", &version, "--target"])
        .arg(&site);
    for platform in PLATFORMS {
        install.args(["--platform", platform]);
    }
    steps.step("the wheel for aarch64", install.args(NEEDED).arg(wheel))?;
    let mut tests = Command::new("qemu-aarch64-static");
    tests.arg("-L").arg(&root);
    tests.arg(root.join(format!("usr/bin/python{version}")));
    tests.args("-m pytest --quiet -p no:cacheprovider".split_whitespace());
    tests.args(TESTS.map(|test| sources().join(test)));
    tests.env("PYTHONPATH", &site).env_remove("LD_LIBRARY_PATH");
    steps.step("its tests in qemu", tests.current_dir(folder))
}

/// The version of Debian's Python.
fn version() -> Option<String> {
    let mut command = Command::new(PYTHON);
    command.args(["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
    let output = command.output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned())
}

/// Unpacks Debian's packages of a Python into a folder.
fn unpack(version: &str, folder: &Path, root: &Path) -> Result<(), String> {
    let own = ["python", "libpython", "libpython"].into_iter();
    let own = own.zip(["minimal", "minimal", "stdlib"]);
    let own = own.map(|(name, part)| format!("{name}{version}-{part}"));
    let names = own.chain(LIBRARIES.map(str::to_owned));
    let names: Vec<String> = names.map(|name| format!("{name}:arm64")).collect();
    let packages = folder.join("packages");
    fs::create_dir_all(&packages).map_err(|error| error.to_string())?;
    aarch64::download(&names.join(" "), &packages)?;
    let files = listed(&packages).map_err(|_: Stop| "the packages are not there".to_owned())?;
    let is_package = |file: &&PathBuf| file.extension().is_some_and(|end| end == "deb");
    for file in files.iter().filter(is_package) {
        let status = Command::new("dpkg-deb")
            .arg("-x")
            .arg(file)
            .arg(root)
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("dpkg-deb did not unpack {}", file.display()));
        }
    }
    Ok(())
}
