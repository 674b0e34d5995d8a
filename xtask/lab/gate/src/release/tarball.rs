//! The tarball of the libraries for C, C++ and Fortran with all dependencies, which builds without a network.

use std::fs;
use std::path::Path;

use checkout::workspace::{target, workspace};

use super::VERSION;
use super::sources::{is_in, member_manifest, pack, root_manifest, tracked, without_network};
use crate::c::programs::flags;
use crate::commands::{Result, command, words};
use crate::files::{empty, listed, read, write};
use crate::setup::needs;
use crate::steps::Steps;

/// Its members: the installed packages, their dependencies, and the installer.
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

/// Its other files: the engines over the library, and the installed pages.
const FILES: &str = "bindings/engines/postgresql bindings/engines/r bindings/engines/sqlite .cargo/config.toml CHANGELOG.md Cargo.lock \
    LICENSE-APACHE LICENSE-MIT rust-toolchain.toml docs/installing.md docs/items-and-ranks.md docs/lanes.md docs/order.md \
    docs/tree-or-exact.md docs/tutorial-fortran.md";

/// Creates it, and builds only from it.
pub(super) fn make(steps: &mut Steps, dist: &Path) -> Result {
    let name = format!("treefold-{VERSION}");
    let folder = target()?.join("dist");
    let (parts, tried) = (folder.join("tarball"), folder.join("from-tarball"));
    empty(&parts)?;
    empty(&tried)?;
    copy_sources(&parts.join(&name))?;
    let file = dist.join(format!("{name}.tar.xz"));
    pack(steps, &parts, &name, &file)?;
    steps.step("unpacked", command!("tar -xJf", file, "-C", tried))?;
    steps.part(|steps| build_from(steps, &tried, &tried.join(&name)))
}

/// Copies the sources of the members, without omitted files.
fn copy_sources(tree: &Path) -> Result {
    for name in tracked(words![MEMBERS, FILES])?
        .iter()
        .filter(|name| is_in(name))
    {
        let (from, to) = (workspace().join(name), tree.join(name));
        if name.ends_with("Cargo.toml") {
            write(&to, member_manifest(&read(&from)?))?;
        } else if from.is_file() {
            // Tests find golden vectors through a link to a folder, which is not a file.
            write(&to, fs::read(&from)?)?;
        }
    }
    let manifest = read(&workspace().join("Cargo.toml"))?;
    let members = [&MEMBERS[..], &[LIBRARY]].concat();
    let manifest = root_manifest(&manifest, &members);
    Ok(write(&tree.join("Cargo.toml"), manifest)?)
}

/// Builds and installs only from the unpacked file, without a network, and runs a program with the installation.
fn build_from(steps: &mut Steps, tried: &Path, tree: &Path) -> Result {
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
        [first, ..] => Err(format!("{} is", first.display()).into()),
    })
}
