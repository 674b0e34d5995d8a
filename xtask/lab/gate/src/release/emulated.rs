//! Tests the wheel for 64-bit ARM in an emulator with Debian's Python for it, without foreign packages or binfmt.

use std::path::Path;

use launch::installed::is_root;

use super::PYTEST;
use super::pythons::NEEDED;
use crate::aarch64;
use crate::commands::{Result, Stop, command, output, words};
use crate::files::{empty, make, with_extension};
use crate::python::environment::Environment;
use crate::python::sources;
use crate::steps::Steps;

/// Debian's Python, whose version has two numbers.
const PYTHON: &str = "/usr/bin/python3";

/// The packages that it needs besides its own.
const LIBRARIES: &str = "libc6 libexpat1 libffi8 libgcc-s1 libstdc++6 zlib1g";

/// The platform tags of wheels that the tests may use.
const PLATFORMS: [&str; 3] = [
    "manylinux_2_28_aarch64",
    "manylinux_2_27_aarch64",
    "manylinux2014_aarch64",
];

/// The tests to run: golden vectors, and everything that depends on the wheel's linking. All tests would take an hour.
const TESTS: [&str; 2] = ["tests/test_golden.py", "tests/test_panic.py"];

/// Tests the wheel, or prints in one line why it cannot.
pub(super) fn try_in(
    steps: &mut Steps,
    environment: &Environment,
    wheel: &Path,
    folder: &Path,
) -> Result {
    let program = "import sys; print('%d.%d' % sys.version_info[:2])".to_owned();
    let Some(version) = output(command!(PYTHON, "-c", program))
        .ok()
        .filter(|_| is_root())
    else {
        let what = "the wheel for aarch64 in an emulator, which needs root on Debian and";
        return Err(Stop::Skipped(format!("{what} {PYTHON}")));
    };
    let version = version.trim().to_owned();
    let (root, site) = (folder.join("root"), folder.join("site"));
    empty(&root)?;
    empty(&site)?;
    steps.check("a Python for aarch64", || {
        unpack(&version, folder, &root)?;
        Ok(format!("Debian's Python {version}"))
    })?;
    let install = words![
        "install --quiet --only-binary :all: --python-version",
        version,
        "--target",
        site,
        PLATFORMS.map(|platform| words!["--platform", platform]),
        NEEDED,
        wheel,
    ];
    steps.step("the wheel for aarch64", environment.program("pip", install))?;
    let python = root.join(format!("usr/bin/python{version}"));
    let tests = TESTS.map(|test| sources().join(test));
    let mut tests = command!("qemu-aarch64-static -L", root, python, PYTEST, tests);
    tests.env("PYTHONPATH", &site).env_remove("LD_LIBRARY_PATH");
    steps.step("its tests in qemu", tests.current_dir(folder))
}

/// Unpacks Debian's packages of a Python into a folder.
fn unpack(version: &str, folder: &Path, root: &Path) -> Result {
    let own = [("", "minimal"), ("lib", "minimal"), ("lib", "stdlib")];
    let own = own.map(|(begin, part)| format!("{begin}python{version}-{part}"));
    let names = own
        .into_iter()
        .chain(LIBRARIES.split(' ').map(str::to_owned));
    let names: Vec<String> = names.map(|name| format!("{name}:arm64")).collect();
    let packages = folder.join("packages");
    make(&packages)?;
    aarch64::download(&names.join(" "), &packages)?;
    for file in with_extension(&packages, "deb")? {
        output(command!("dpkg-deb -x", file, root))?;
    }
    Ok(())
}
