//! Checks that pages agree with the source tree.
//!
//! No test here builds the book; stage `book` of `cargo xtask test` does.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::print_stdout, reason = "tests print how much they have seen")]

mod book;
mod programs;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A file of the checkout.
fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The output of a git command in the checkout.
fn git(words: &[&str]) -> String {
    let mut git = Command::new("git");
    let output = git.current_dir(root()).args(words).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Files that git tracks or does not ignore, by their paths from the root.
fn files(patterns: &[&str]) -> Vec<PathBuf> {
    let list = [
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "--",
    ];
    let listed = git(&[&list, patterns].concat());
    let files = listed.lines().map(PathBuf::from);
    files.filter(|file| root().join(file).exists()).collect()
}
