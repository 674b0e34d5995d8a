//! Packages for the Debian that makes them, by debhelper from an installation, and tried in a root that is thrown away.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::licences::{Licence, joined};
use checkout::workspace::{target, workspace};
use launch::Error;

use super::{VERSION, empty, licences, listed, read, write};
use crate::setup;
use crate::steps::{Steps, Stop};
use crate::tests;

/// What makes and checks them, and Debian's packages of the same names, but for `dh`.
const PROGRAMS: [&str; 3] = ["dh", "lintian", "mmdebstrap"];
const PACKAGES: [&str; 3] = ["debhelper", "lintian", "mmdebstrap"];

/// What programs in the root are compiled with.
const COMPILERS: &str = "gcc,libc6-dev,pkg-config,cmake,make";

/// What is linked into the libraries is linked into one of these.
const LIBRARIES: [&str; 2] = ["treefold-c-library", "treefold-pmpi"];

/// What is done in the root: as a user would, and all is removed again.
const TRIAL: &str = r#"set -eux
cd /treefold
apt-get install --yes --quiet --no-install-recommends ./*.deb
cc first_sum.c $(pkg-config --cflags --libs treefold) -o by-pkg-config
./by-pkg-config
cmake -S consumer -B by-cmake
cmake --build by-cmake
by-cmake/first_sum
treefold-run --help
treefold-run --which true
apt-get purge --yes --quiet 'libtreefold*' treefold-run
test -z "$(find / -xdev -path /treefold -prune -o -path /proc -prune -o -name '*treefold*' -print)"
"#;

/// A program by CMake, in the root.
const CONSUMER: &str = "cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES C)
find_package(treefold 0.1 REQUIRED COMPONENTS mpi)
add_executable(first_sum ../first_sum.c)
target_link_libraries(first_sum PRIVATE treefold::treefold)
";

/// Makes them, looks at them, and installs them.
pub(super) fn make(steps: &mut Steps, dist: &Path) -> Result<(), Stop> {
    if let Err(error) = setup::install_for(&PROGRAMS, &PACKAGES) {
        println!("skipped: packages for Debian: {error}");
        return Ok(());
    }
    let folder = target()?.join("dist/debian");
    empty(&folder)?;
    let tree = folder.join("treefold");
    describe(&tree.join("debian"))?;
    let libdir = format!(
        "lib/{}",
        told("dpkg-architecture", &["-qDEB_HOST_MULTIARCH"])?
    );
    let mut install = tests::xtask(steps)?;
    install.args(["install", "--libdir", &libdir, "--prefix"]);
    install.arg(tree.join("debian/tmp/usr"));
    steps.step("what is packed", install.current_dir(workspace()))?;
    let mut pack = Command::new("debian/rules");
    pack.arg("binary").current_dir(&tree);
    steps.step("packages for Debian", &mut pack)?;
    let is_package = |path: &PathBuf| path.extension().is_some_and(|end| end == "deb");
    let packages: Vec<PathBuf> = listed(&folder)?.into_iter().filter(is_package).collect();
    for package in &packages {
        let copied = fs::copy(package, dist.join(package.file_name().unwrap_or_default()));
        copied.map_err(|error| Stop::Error(Error::file(package, error)))?;
    }
    let mut look = Command::new("lintian");
    look.args("--allow-root --tag-display-limit 0 --fail-on error".split(' '));
    steps.step("lintian", look.args(&packages))?;
    install_in_root(steps, &folder, &packages)
}

/// Writes what debhelper reads.
fn describe(folder: &Path) -> Result<(), Stop> {
    let sources = workspace().join("bindings/c/packaging/debian");
    fs::create_dir_all(folder).map_err(|error| Error::file(folder, error))?;
    for file in listed(&sources)? {
        let copied = fs::copy(&file, folder.join(file.file_name().unwrap_or_default()));
        copied.map_err(|error| Error::file(&file, error))?;
    }
    let copyright = folder.join("copyright");
    let licences = licences::third_parties(&LIBRARIES)?.into_iter();
    let licences: Vec<Licence> = licences.map(by_reference).collect();
    let own = read(&copyright)? + &read(&workspace().join("LICENSE-MIT"))?;
    write(&copyright, format!("{own}\n{}", joined(&licences)))?;
    let control = read(&folder.join("control"))?;
    let mut lines = control.lines();
    let maintainer = lines.find_map(|line| line.strip_prefix("Maintainer: "));
    let date = told("git", &["log", "-1", "--format=%aD"])?;
    let changes = format!(
        "treefold ({VERSION}-1) unstable; urgency=medium\n\n  * Version {VERSION}.\n\n -- {}  {date}\n",
        maintainer.unwrap_or_default()
    );
    write(&folder.join("changelog"), changes)?;
    Ok(())
}

/// Debian has the text of the Apache License once, for all packages.
fn by_reference(licence: Licence) -> Licence {
    let begins = "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION";
    let is_apache = licence.text.contains(begins);
    let text = if is_apache {
        "/usr/share/common-licenses/Apache-2.0".to_owned()
    } else {
        licence.text
    };
    Licence { text, ..licence }
}

/// Installs them in a root that has nothing of this machine, builds programs with them, and removes them again.
fn install_in_root(steps: &mut Steps, folder: &Path, packages: &[PathBuf]) -> Result<(), Stop> {
    let parts = folder.join("trial/treefold");
    fs::create_dir_all(parts.join("consumer")).map_err(|error| Error::file(&parts, error))?;
    let example = workspace().join("bindings/c/examples/first_sum.c");
    for file in packages.iter().chain([&example]) {
        let copied = fs::copy(file, parts.join(file.file_name().unwrap_or_default()));
        copied.map_err(|error| Error::file(file, error))?;
    }
    write(&parts.join("consumer/CMakeLists.txt"), CONSUMER)?;
    write(&parts.join("try.sh"), TRIAL)?;
    let suite = told("sh", &["-c", ". /etc/os-release; echo $VERSION_CODENAME"])?;
    let mut root = Command::new("mmdebstrap");
    root.args(["--quiet", "--variant=apt", "--include", COMPILERS]);
    root.arg(format!("--customize-hook=copy-in '{}' /", parts.display()));
    root.arg("--customize-hook=chroot \"$1\" sh /treefold/try.sh");
    root.args([&suite, "/dev/null"]);
    steps.step(&format!("apt installs them on {suite}"), &mut root)
}

/// What a program says in a line.
fn told(program: &str, words: &[&str]) -> Result<String, Stop> {
    let mut command = Command::new(program);
    let output = command.args(words).current_dir(workspace()).output();
    let output = output.map_err(|error| Error::Run(format!("{program}: {error}")))?;
    let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if line.is_empty() {
        return Err(Stop::Error(Error::Run(format!("{program} says nothing"))));
    }
    Ok(line)
}
