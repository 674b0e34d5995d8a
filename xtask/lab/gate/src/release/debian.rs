//! Builds packages for this machine's Debian with debhelper, from an installation and PostgreSQL's extension, and tests them in a temporary
//! root. Also builds R's source package for the same library.

use std::fs;
use std::path::{Path, PathBuf};

use checkout::files::{self, copy, empty, listed, read, with_extension, write};
use checkout::licences::{Licence, joined};
use checkout::workspace::{target, workspace};

use super::sources::tracked;
use super::{VERSION, third_parties};
use crate::engines::{POSTGRESQL, R, with_library};
use crate::{Result, Steps, command, install_for, output, prefix, words, xtask};

/// The tools that build and check packages; their Debian packages have the same names, except for `dh`.
const PROGRAMS: [&str; 3] = ["dh", "lintian", "mmdebstrap"];
const PACKAGES: &str = "debhelper lintian mmdebstrap";

/// The Debian packages that build programs in the root.
const COMPILERS: &str = "gcc,libc6-dev,pkg-config,cmake,make";

/// The packages whose dependencies are linked into the libraries.
const LIBRARIES: [&str; 2] = ["treefold-c-library", "treefold-pmpi"];

/// The commands that run in the root. They install, use and remove the packages as a user would.
const TRIAL: &str = r#"set -eux
cd /treefold
mkdir -p /etc/postgresql-common
echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf
apt-get install --yes --quiet --no-install-recommends ./*.deb
cc first_sum.c $(pkg-config --cflags --libs treefold) -o by-pkg-config
./by-pkg-config
cmake -S consumer -B by-cmake
cmake --build by-cmake
by-cmake/first_sum
treefold-run --help
treefold-run --which true
pg_createcluster 15 trial
pg_ctlcluster 15 trial start
su postgres -c "psql --command 'CREATE EXTENSION treefold'"
test "$(su postgres -c "psql -tAc 'SELECT exact_sum(x) FROM (VALUES (1e300::float8), (0.1), (-1e300)) t(x)'")" = 0.1
pg_dropcluster --stop 15 trial
apt-get purge --yes --quiet 'libtreefold*' treefold-run 'postgresql-15-treefold'
test -z "$(find / -xdev -path /treefold -prune -o -path /proc -prune -o -name '*treefold*' -print)"
"#;

/// A CMake project that is built in the root.
const CONSUMER: &str = "cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES C)
find_package(treefold 0.1 REQUIRED COMPONENTS mpi)
add_executable(first_sum ../first_sum.c)
target_link_libraries(first_sum PRIVATE treefold::treefold)
";

/// Builds, checks and installs the packages.
pub(super) fn make(steps: &mut Steps, dist: &Path) -> Result {
    install_for("packages for Debian", &PROGRAMS, PACKAGES)?;
    let folder = target()?.join("dist/debian");
    empty(&folder)?;
    let tree = folder.join("treefold");
    describe(&tree.join("debian"))?;
    let architecture = output(command!("dpkg-architecture -qDEB_HOST_MULTIARCH"))?;
    let libdir = format!("lib/{}", architecture.trim());
    let root = tree.join("debian/tmp");
    let prefix = root.join("usr");
    let words = words!["install --libdir", libdir, "--prefix", prefix];
    let install = xtask(steps, words)?;
    steps.step("what is packed", install)?;
    install_extension(steps, &prefix.join(libdir), &root)?;
    let mut pack = command!("debian/rules binary");
    steps.step("packages for Debian", pack.current_dir(&tree))?;
    let packages = with_extension(&folder, "deb")?;
    for package in &packages {
        copy(package, dist)?;
    }
    let words = "lintian --allow-root --tag-display-limit 0 --fail-on error";
    steps.step("lintian", command!(words, packages))?;
    install_in_root(steps, &folder, &packages)
}

/// Writes debhelper's files.
fn describe(folder: &Path) -> Result {
    files::make(folder)?;
    for file in listed(&workspace().join("bindings/c/packaging/debian"))? {
        copy(&file, folder)?;
    }
    let copyright = folder.join("copyright");
    let licences = third_parties(&LIBRARIES)?.into_iter();
    let licences: Vec<Licence> = licences.map(by_reference).collect();
    let own = read(&copyright)? + &read(&workspace().join("LICENSE-MIT"))?;
    write(&copyright, format!("{own}\n{}", joined(&licences)))?;
    let control = read(&folder.join("control"))?;
    let mut lines = control.lines();
    let maintainer = lines.find_map(|line| line.strip_prefix("Maintainer: "));
    let maintainer = maintainer.unwrap_or_default();
    let date = output(command!("git log -1 --format=%aD"))?;
    let changes = format!(
        "treefold ({VERSION}-1) unstable; urgency=medium\n\n  * Version {VERSION}.\n\n -- {maintainer}  {date}"
    );
    Ok(write(&folder.join("changelog"), changes)?)
}

/// Replaces the text of the Apache License by the path of Debian's common copy.
fn by_reference(mut licence: Licence) -> Licence {
    let begins = "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION";
    if licence.text.contains(begins) {
        licence.text = "/usr/share/common-licenses/Apache-2.0".to_owned();
    }
    licence
}

/// Installs the packages in a clean root, builds programs with them, and removes them again.
fn install_in_root(steps: &mut Steps, folder: &Path, packages: &[PathBuf]) -> Result {
    let parts = folder.join("trial/treefold");
    write(&parts.join("consumer/CMakeLists.txt"), CONSUMER)?;
    write(&parts.join("try.sh"), TRIAL)?;
    let example = workspace().join("bindings/c/examples/first_sum.c");
    for file in packages.iter().chain([&example]) {
        copy(file, &parts)?;
    }
    let system = ". /etc/os-release; echo $VERSION_CODENAME".to_owned();
    let suite = output(command!("sh -c", system))?.trim().to_owned();
    let copy_in = format!("--customize-hook=copy-in '{}' /", parts.display());
    let try_it = "--customize-hook=chroot \"$1\" sh /treefold/try.sh".to_owned();
    let words = "mmdebstrap --quiet --variant=apt --include";
    let root = command!(words, COMPILERS, copy_in, try_it, suite, "/dev/null");
    steps.step(format!("apt installs them on {suite}"), root)
}

/// Builds R's source package.
pub(super) fn make_r(steps: &mut Steps, dist: &Path) -> Result {
    R.install()?;
    let library = prefix(steps)?.join("lib");
    let folder = target()?.join("dist/r");
    empty(&folder)?;
    copy_sources(&R.folder(), &folder.join("treefold"))?;
    let mut build = command!("R CMD build treefold");
    build.current_dir(&folder);
    steps.step("R's source package", with_library(&mut build, &library))?;
    let packages = with_extension(&folder, "gz")?;
    let mut packages = packages.iter();
    Ok(packages.try_for_each(|package| copy(package, dist))?)
}

/// Builds PostgreSQL's extension against an installation and copies it to a package's tree.
fn install_extension(steps: &mut Steps, library: &Path, tree: &Path) -> Result {
    POSTGRESQL.install()?;
    let folder = target()?.join("dist/postgresql");
    empty(&folder)?;
    copy_sources(&POSTGRESQL.folder(), &folder)?;
    let destination = format!("DESTDIR={}", tree.display());
    let mut install = command!("make with_llvm=no install", destination);
    install.current_dir(&folder);
    let install = with_library(&mut install, library);
    steps.step("PostgreSQL's extension", install)
}

/// Copies the tracked files of a folder.
fn copy_sources(from: &Path, to: &Path) -> Result {
    for name in tracked(from)? {
        let file = workspace().join(name);
        write(&to.join(file.strip_prefix(from)?), fs::read(&file)?)?;
    }
    Ok(())
}
