//! The sources of the libraries for C, C++ and Fortran and of all that they are built of, in a file that is built without a network.

use std::fs;
use std::path::Path;
use std::process::Command;

use checkout::workspace::{target, workspace};
use launch::Error;
use launch::installed::{is_root, runs};

use super::{VERSION, empty, listed, read, vendored, write};
use crate::c::pkg_config;
use crate::steps::{Steps, Stop};

/// The members that are in it: what is installed, what that is built of, and what installs it.
const MEMBERS: [&str; 16] = [
    "crates/comm",
    "crates/cuda",
    "crates/distribution",
    "crates/exact-sum",
    "crates/mpi-library",
    "crates/reduce",
    "crates/schedule",
    "crates/simd-kernels",
    "crates/tree-index",
    "crates/treefold",
    "bindings/c",
    "bindings/c-mpi",
    "bindings/interposer",
    "xtask/front",
    "xtask/lab/checkout",
    "xtask/lab/install",
];

/// A package within a member's folder.
const LIBRARY: &str = "bindings/c-mpi/library";

/// What else is in it.
const FILES: [&str; 7] = [
    ".cargo/config.toml",
    "CHANGELOG.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/installing.md",
    "rust-toolchain.toml",
];

/// Folders of members that are left out: what they hold needs what is not in it.
const LEFT_OUT: [&str; 3] = ["tests", "examples", "benches"];

/// Tables of a manifest that name what is left out, or what checks a library's threads.
const TABLES_LEFT_OUT: [&str; 6] = [
    "[dev-dependencies",
    "[[test",
    "[[example",
    "[[bench",
    "[target.\"cfg(shuttle)\"",
    "[target.\"cfg(loom)\"",
];

/// Makes it, and builds from it alone.
pub(super) fn make(steps: &mut Steps, dist: &Path) -> Result<(), Stop> {
    let name = format!("treefold-{VERSION}");
    let folder = target()?.join("dist");
    let (parts, tried) = (folder.join("tarball"), folder.join("from-tarball"));
    empty(&parts)?;
    empty(&tried)?;
    let tree = parts.join(&name);
    copy_sources(&tree)?;
    vendored::complete(steps, &tree)?;

    let file = dist.join(format!("{name}.tar.xz"));
    let mut pack = Command::new("tar");
    pack.args("--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cJf".split(' '));
    pack.arg(&file).arg("-C").arg(&parts).arg(&name);
    steps.step("the tarball", &mut pack)?;
    build_from(steps, &file, &tried, &name)
}

/// Copies the sources of the members, without what is left out.
fn copy_sources(tree: &Path) -> Result<(), Stop> {
    let mut list = Command::new("git");
    list.args(["ls-files", "-z", "--"])
        .args(MEMBERS)
        .args(FILES);
    let output = list.current_dir(workspace()).output();
    let output = output.map_err(|error| Error::Run(format!("git: {error}")))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Stop::Error(Error::Run(format!("git: {errors}"))));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    for name in names.split_terminator('\0').filter(|name| is_in(name)) {
        let (from, to) = (workspace().join(name), tree.join(name));
        // Tests find golden vectors by a link to a folder.
        if from.is_dir() {
            continue;
        }
        let content = if name.ends_with("Cargo.toml") {
            member_manifest(&read(&from)?).into_bytes()
        } else {
            fs::read(&from).map_err(|error| Error::file(&from, error))?
        };
        write(&to, &content)?;
    }
    let manifest = read(&workspace().join("Cargo.toml"))?;
    write(
        &tree.join("Cargo.toml"),
        root_manifest(&manifest, &[&MEMBERS[..], &[LIBRARY]].concat()).as_bytes(),
    )?;
    Ok(())
}

/// Whether a file of a member is in the tarball.
pub(super) fn is_in(name: &str) -> bool {
    !name.split('/').any(|part| LEFT_OUT.contains(&part))
}

/// A member's manifest without the tables of what is left out.
pub(super) fn member_manifest(text: &str) -> String {
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

/// The workspace's manifest with these members alone.
pub(super) fn root_manifest(text: &str, members: &[&str]) -> String {
    let quoted: Vec<String> = members
        .iter()
        .map(|member| format!("\"{member}\""))
        .collect();
    let list = quoted.join(", ");
    let head = format!("[workspace]\nresolver = \"3\"\nmembers = [{list}]\n\n");
    let begin = text.find("[workspace.package]").unwrap_or_default();
    head + &text[begin..]
}

/// Builds and installs from the file alone, without a network, and runs a program with what is installed.
fn build_from(steps: &mut Steps, file: &Path, tried: &Path, name: &str) -> Result<(), Stop> {
    let mut unpack = Command::new("tar");
    unpack.arg("-xJf").arg(file).arg("-C").arg(tried);
    steps.step("unpacked", &mut unpack)?;
    if !runs("unshare") {
        println!("skipped: building from the tarball, for want of unshare");
        return Ok(());
    }
    let (tree, prefix) = (tried.join(name), tried.join("prefix"));
    let install = |option: &str| {
        let mut install = without_network(&tried.join("cargo-home"));
        install.args(["cargo", "xtask", "install", option, "--prefix"]);
        install.arg(&prefix).current_dir(&tree);
        install
    };
    steps.step("installed without a network", &mut install("--offline"))?;

    let program = tried.join("first-sum");
    let mut compile = Command::new("cc");
    compile.arg(workspace().join("bindings/c/examples/first_sum.c"));
    compile.args(pkg_config::flags(&prefix, "treefold", &[])?);
    compile.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    compile.arg("-o").arg(&program);
    steps.step("a program in C is built with it", &mut compile)?;
    steps.step("and runs", &mut Command::new(&program))?;

    steps.step("removed", &mut install("--uninstall"))?;
    let left = listed(&prefix)?;
    steps.check("nothing is left", || match &left[..] {
        [] => Ok("an empty folder".to_owned()),
        [first, ..] => Err(format!("{} is", first.display())),
    })
}

/// What runs a command where there is no network, and no registry that has been fetched before.
pub(super) fn without_network(cargo_home: &Path) -> Command {
    let mut command = Command::new("unshare");
    // A network namespace of its own has no route to anywhere.
    command.arg(if is_root() { "-n" } else { "-rn" });
    command.env("CARGO_HOME", cargo_home);
    for variable in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_TARGET_DIR"] {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::{is_in, member_manifest, root_manifest};

    #[test]
    fn a_manifest_names_nothing_that_is_left_out() {
        let text = "[package]\nname = \"a\"\n\n[dev-dependencies]\nb = \"1\"\n\n[lints]\nworkspace = true\n\n[[test]]\nname = \"c\"\n";
        let expected = "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n\n";
        assert_eq!(member_manifest(text), expected);
        for target in ["'cfg(unix)'.dev-dependencies", "\"cfg(loom)\".dependencies"] {
            let of_target = format!("[target.{target}]\nb = \"1\"\n");
            assert_eq!(member_manifest(&of_target), "");
        }
    }

    #[test]
    fn the_workspace_has_other_members() {
        let text = "[workspace]\nmembers = [\"x\"]\n\n[workspace.package]\nversion = \"1.0.0\"\n";
        let found = root_manifest(text, &["crates/reduce", "crates/comm"]);
        assert!(found.contains("[\"crates/reduce\", \"crates/comm\"]") && !found.contains("\"x\""));
        assert!(found.ends_with("[workspace.package]\nversion = \"1.0.0\"\n"));
    }

    #[test]
    fn tests_are_left_out() {
        assert!(is_in("crates/reduce/src/plan/mod.rs"));
        assert!(!is_in("crates/reduce/tests/plans.rs"));
        assert!(!is_in("bindings/c/examples/first_sum.c"));
    }
}
