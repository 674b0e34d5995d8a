//! Makes the source archives of a release: the tarball of the libraries for C, C++ and Fortran, and the sdist of the Python package. They
//! contain all dependencies and build without a network. `pip` builds the sdist if maturin and numpy are installed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use checkout::files::{edit, empty, listed, name, read, remove, write};
use checkout::licences::is_licence;
use checkout::workspace::{REPOSITORY, target, workspace};
use launch::installed::is_root;
use serde_json::{Value, json};

use super::pythons::{self, run_tests};
use super::{VERSION, without_empty_address};
use crate::c::programs::flags;
use crate::python::sources;
use crate::{Environment, Result, Steps, Words, cargo, command, first_of, needs, output, words};

/// The folder of dependencies in a source tree.
const FOLDER: &str = "vendor";

/// The name prefix of Windows-only crates, which are two thirds of all bytes and are not used on Linux.
const OF_WINDOWS: &str = "windows";

/// The cargo configuration that uses folder `vendor` instead of a registry.
const SOURCES: &str = "[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";

/// Folders of members that are left out, because their dependencies are not included.
const LEFT_OUT: [&str; 3] = ["tests", "examples", "benches"];

/// Manifest tables that refer to omitted files or test tools.
const TABLES_LEFT_OUT: [&str; 6] = [
    "[dev-dependencies",
    "[[test",
    "[[example",
    "[[bench",
    "[target.\"cfg(shuttle)\"",
    "[target.\"cfg(loom)\"",
];

/// Adds the members' dependencies to a source tree and packs the tree, which must be the only entry of `parts`.
fn pack(steps: &mut Steps, parts: &Path, tree: &str, file: &Path) -> Result {
    let root = parts.join(tree);
    // This removes all packages but the members and their dependencies from the lock file.
    let mut lock = cargo("metadata --quiet --format-version 1 --offline");
    lock.current_dir(&root).stdout(Stdio::null());
    steps.step("the lock file of the sources", &mut lock)?;
    let mut vendor = cargo("vendor --quiet --locked");
    vendor.arg(FOLDER).current_dir(&root);
    steps.step("the dependencies of the sources", vendor)?;
    for folder in listed(&root.join(FOLDER))? {
        if name(&folder).starts_with(OF_WINDOWS) {
            hollow_out(&folder)?;
        }
    }
    let config = root.join(".cargo/config.toml");
    if config.exists() {
        edit(&config, |text| format!("{text}\n{SOURCES}"))?;
    } else {
        write(&config, SOURCES)?;
    }
    let tar = "tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --auto-compress -cf";
    let pack = command!(tar, file, "-C", parts, tree);
    steps.step("sources and dependencies in a file", pack)
}

/// Removes the code of a crate that cargo resolves but never compiles; keeps the crate's manifest and licences.
fn hollow_out(folder: &Path) -> Result {
    const CHECKSUMS: &str = ".cargo-checksum.json";
    for path in listed(folder)? {
        let is_kept = path.ends_with("Cargo.toml") || path.ends_with(CHECKSUMS);
        if path.is_dir() {
            remove(&path)?;
        } else if !is_kept && !is_licence(&path) {
            fs::remove_file(&path)?;
        }
    }
    write(&folder.join("src/lib.rs"), "")?;
    // Cargo verifies checksums before it compiles files.
    let path = folder.join(CHECKSUMS);
    let mut checksums: Value = serde_json::from_slice(&fs::read(&path)?)?;
    checksums["files"] = json!({});
    Ok(write(&path, checksums.to_string())?)
}

/// The tracked files in some places, by path in the checkout.
pub(super) fn tracked(places: impl Words) -> Result<Vec<String>> {
    let names = output(command!("git ls-files -z --", places))?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

/// Whether a member's file is included.
fn is_in(name: &str) -> bool {
    !name.split('/').any(|part| LEFT_OUT.contains(&part))
}

/// A member's manifest without the omitted tables.
fn member_manifest(text: &str) -> String {
    let mut is_kept = true;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            let of_target = line.starts_with("[target.") && line.contains("dev-dependencies");
            let is_left_out = TABLES_LEFT_OUT.iter().any(|table| line.starts_with(table));
            is_kept = !of_target && !is_left_out;
        }
        if is_kept {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// The workspace's manifest with only these members.
fn root_manifest(text: &str, members: &str) -> String {
    let quoted = members.split(' ').map(|member| format!("\"{member}\""));
    let quoted: Vec<String> = quoted.collect();
    let list = quoted.join(", ");
    let head = format!("[workspace]\nresolver = \"3\"\nmembers = [{list}]\n\n");
    let begin = text.find("[workspace.package]").unwrap_or_default();
    head + &text[begin..]
}

/// The beginning of a command. It runs the added words as a command without a network and without downloaded registries.
pub(super) fn without_network(cargo_home: &Path) -> Command {
    let mut command = Command::new("unshare");
    // A new network namespace has no routes.
    command.arg(if is_root() { "-n" } else { "-rn" });
    command.env("CARGO_HOME", cargo_home);
    for variable in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_TARGET_DIR"] {
        command.env_remove(variable);
    }
    command
}

/// The members of the sdist's workspace, as its manifest lists them.
const SDIST_MEMBERS: &str = "crates/* bindings/c bindings/c-mpi bindings/polars bindings/python";

/// The folders of these members.
const MEMBERS_FOLDERS: [&str; 2] = ["bindings", "crates"];

/// Files that maturin adds for members' tests.
const OF_TESTS: &str = "xtask";

/// The packages needed for the build and for the tests.
const NEEDED: &str = "cffi maturin numpy pytest";

/// Creates the sdist and builds from it alone.
pub(super) fn make_sdist(steps: &mut Steps, environment: &Environment, dist: &Path) -> Result {
    let name = format!("treefold-{VERSION}");
    let folder = target()?.join("dist/sdist");
    let (made, parts) = (folder.join("made"), folder.join("parts"));
    empty(&made)?;
    empty(&parts)?;
    let mut make = environment.program("maturin", words!["sdist --out", made]);
    make.env("CARGO_TERM_QUIET", "true").current_dir(sources());
    steps.step("the sdist", make)?;
    let file = format!("{name}.tar.gz");
    let unpack = command!("tar -xzf", made.join(&file), "-C", parts);
    steps.step("its parts", unpack)?;

    let tree = parts.join(&name);
    remove(&tree.join(OF_TESTS))?;
    for members in MEMBERS_FOLDERS {
        prune(&tree.join(members))?;
    }
    edit(&tree.join("Cargo.toml"), |text| {
        root_manifest(text, SDIST_MEMBERS)
    })?;
    // The repository's address is omitted while there is none.
    if REPOSITORY.is_empty() {
        edit(&tree.join("PKG-INFO"), without_empty_address)?;
        edit(&tree.join("pyproject.toml"), |text| {
            text.replace("dynamic = [\"urls\", ", "dynamic = [")
        })?;
    }
    let file = dist.join(file);
    pack(steps, &parts, &name, &file)?;
    steps.part(|steps| build_from_sdist(steps, &file, &folder.join("tried")))
}

/// Removes tests and their files from the members in a folder.
fn prune(folder: &Path) -> Result {
    for path in listed(folder)? {
        let name = name(&path);
        if path.is_dir() && is_in(&name) {
            prune(&path)?;
        } else if path.is_dir() {
            remove(&path)?;
        } else if name == "Cargo.toml" {
            edit(&path, member_manifest)?;
        }
    }
    Ok(())
}

/// Installs the sdist without a network in a minimal environment and runs the tests.
fn build_from_sdist(steps: &mut Steps, file: &Path, fresh: &Path) -> Result {
    needs("building from the sdist", &["unshare"])?;
    let python = Path::new("python3");
    pythons::environment(steps, "what the sdist needs", python, fresh, NEEDED)?;
    let programs = fresh.join("bin");
    let mut install = without_network(&fresh.join("cargo-home"));
    let words = "install --quiet --no-build-isolation --no-index";
    install.args(words![programs.join("pip"), words, file]);
    install.env("PATH", first_of("PATH", &programs));
    steps.step("the sdist without a network", install.current_dir(fresh))?;
    run_tests(steps, "tests of the installed package", fresh)
}

/// The tarball's members: the installed packages, their dependencies, and the installer.
const TARBALL_MEMBERS: &str = "crates/comm crates/cuda crates/distribution crates/exact-sum \
    crates/mpi-library crates/reduce crates/schedule crates/simd-kernels crates/tree-index \
    crates/treefold bindings/c bindings/c-mpi bindings/interposer \
    xtask/front xtask/lab/checkout xtask/lab/install";

/// A package within a member's folder.
const TARBALL_PACKAGE: &str = "bindings/c-mpi/library";

/// The tarball's other files: bindings of engines to the library, and the installed pages.
const TARBALL_FILES: &str = "bindings/engines/postgresql bindings/engines/r bindings/engines/sqlite .cargo/config.toml CHANGELOG.md Cargo.lock \
    LICENSE-APACHE LICENSE-MIT rust-toolchain.toml docs/installing.md docs/items-and-ranks.md docs/lanes.md docs/order.md \
    docs/tree-or-exact.md docs/tutorial-fortran.md";

/// Creates the tarball and builds from it alone.
pub(super) fn make_tarball(steps: &mut Steps, dist: &Path) -> Result {
    let name = format!("treefold-{VERSION}");
    let folder = target()?.join("dist");
    let (parts, tried) = (folder.join("tarball"), folder.join("from-tarball"));
    empty(&parts)?;
    empty(&tried)?;
    copy_members(&parts.join(&name))?;
    let file = dist.join(format!("{name}.tar.xz"));
    pack(steps, &parts, &name, &file)?;
    steps.step("unpacked", command!("tar -xJf", file, "-C", tried))?;
    steps.part(|steps| build_from_tarball(steps, &tried, &tried.join(&name)))
}

/// Copies the sources of the members, without omitted files.
fn copy_members(tree: &Path) -> Result {
    let names = tracked(words![TARBALL_MEMBERS, TARBALL_FILES])?;
    for name in names.iter().filter(|name| is_in(name)) {
        let (from, to) = (workspace().join(name), tree.join(name));
        if name.ends_with("Cargo.toml") {
            write(&to, member_manifest(&read(&from)?))?;
        } else if from.is_file() {
            // This skips links to folders, by which tests find golden vectors.
            write(&to, fs::read(&from)?)?;
        }
    }
    let manifest = read(&workspace().join("Cargo.toml"))?;
    let manifest = root_manifest(&manifest, &format!("{TARBALL_MEMBERS} {TARBALL_PACKAGE}"));
    Ok(write(&tree.join("Cargo.toml"), manifest)?)
}

/// Builds and installs only from the unpacked file, without a network, and runs a program with the installation.
fn build_from_tarball(steps: &mut Steps, tried: &Path, tree: &Path) -> Result {
    needs("building from the tarball", &["unshare"])?;
    let prefix = tried.join("prefix");
    let install = |option: &str| {
        let mut install = without_network(&tried.join("cargo-home"));
        install.args(words!["cargo xtask install", option, "--prefix", prefix]);
        install.current_dir(tree);
        install
    };
    steps.step("installed without a network", install("--offline"))?;

    let program = tried.join("first-sum");
    let found = format!("-Wl,-rpath,{}", prefix.join("lib").display());
    let flags = flags(&prefix, "treefold", "")?;
    let source = "bindings/c/examples/first_sum.c";
    let compile = command!("cc", source, flags, found, "-o", program);
    steps.step("a program in C is built with it", compile)?;
    steps.step("and runs", command!(program))?;

    steps.step("removed", install("--uninstall"))?;
    let left = listed(&prefix)?;
    steps.check("nothing is left", || match &left[..] {
        [] => Ok("an empty folder".to_owned()),
        [first, ..] => Err(format!("{} is left", first.display()).into()),
    })
}

#[cfg(test)]
mod tests {
    use checkout::files::{read, remove, write};
    use checkout::workspace::target;

    use super::{hollow_out, is_in, member_manifest, root_manifest};

    #[test]
    fn a_hollow_crate_keeps_its_name_and_its_licence() {
        let folder = target().unwrap().join("tmp/hollow");
        remove(&folder).unwrap();
        let files = ["Cargo.toml", "license-mit", "readme.md", "lib/big.a"];
        for file in files {
            write(&folder.join(file), b"text").unwrap();
        }
        let checksums = folder.join(".cargo-checksum.json");
        write(&checksums, br#"{"files":{"lib/big.a":"1"},"package":"2"}"#).unwrap();
        hollow_out(&folder).unwrap();
        let there = files.map(|file| folder.join(file).exists());
        assert_eq!(there, [true, true, false, false]);
        assert_eq!(read(&folder.join("src/lib.rs")).unwrap(), "");
        let left = r#"{"files":{},"package":"2"}"#;
        assert_eq!(read(&checksums).unwrap(), left);
    }

    #[test]
    fn what_is_left_out_is_named_nowhere() {
        let text = "[package]\nname = \"a\"\n\n[dev-dependencies]\nb = \"1\"\n\n[lints]\nworkspace = true\n\n[[test]]\nname = \"c\"\n";
        let expected = "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n\n";
        assert_eq!(member_manifest(text), expected);
        for target in ["'cfg(unix)'.dev-dependencies", "\"cfg(loom)\".dependencies"] {
            let of_target = format!("[target.{target}]\nb = \"1\"\n");
            assert_eq!(member_manifest(&of_target), "");
        }
        let text = "[workspace]\nmembers = [\"x\"]\n\n[workspace.package]\nversion = \"1.0.0\"\n";
        let expected = text.replace("[\"x\"]", "[\"crates/a\", \"crates/b\"]");
        let found = root_manifest(text, "crates/a crates/b");
        assert_eq!(found.replace("resolver = \"3\"\n", ""), expected);
        assert!(is_in("crates/reduce/src/plan/mod.rs"));
        assert!(!is_in("crates/reduce/tests/plans.rs"));
    }
}
