//! Tests of `cargo xtask install`: wrong arguments end it with status 2 and a one-line error before it builds, and a long build prints its
//! progress. Stage `c` of `cargo xtask test` makes a real installation.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use checkout::workspace::workspace;
use common::{fresh_folder, said, xtask};

/// Checks that the command ended with status 2 and printed nothing but one line of error, which contains these words.
#[track_caller]
fn refused(words: &[&str], expected: &[&str]) {
    let output = xtask("install", words);
    assert!(output.stdout.is_empty(), "{words:?}");
    let errors = said(output, 2);
    assert_eq!(errors.lines().count(), 1, "{words:?}: {errors}");
    for word in expected {
        let is_there = errors.contains(word);
        assert!(is_there, "{words:?}: `{errors}` lacks `{word}`");
    }
}

#[test]
fn a_prefix_is_a_folder_that_can_be_written_to() {
    refused(&[], &["--prefix", "missing"]);
    refused(&["--prefix"], &["--prefix"]);
    let folder = fresh_folder("install file");
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    // Not even root can create a folder there.
    let nowhere = "/proc/treefold";
    for prefix in [file, &format!("{file}/below"), nowhere] {
        refused(&["--prefix", prefix], &["--prefix", prefix]);
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn wrong_options_change_nothing() {
    let folder = fresh_folder("install-wrong");
    let prefix = folder.to_str().unwrap();
    for (words, expected) in [
        (&["--libdir", "/usr/lib"][..], ["--libdir", "lib64"]),
        (&["--libdir", "../lib"], ["--libdir", "lib64"]),
        (&["--libdir", ""], ["--libdir", "lib64"]),
        (&["--libdir", "a b"], ["--libdir", "lib64"]),
        (&["--uninstall"], ["--uninstall", "manifest.txt"]),
        (&["--uninstall", "--offline"], ["--uninstall", "--offline"]),
        (&["--uninstall", "--no-mpi"], ["--uninstall", "--no-mpi"]),
        (&["--launcher", "srun -n {ranks}"], ["--launcher"; 2]),
        (&["mpich"], ["mpich"; 2]),
    ] {
        refused(&[&["--prefix", prefix], words].concat(), &expected);
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

/// The help of the script `treefold-run` fits any terminal.
#[test]
fn treefold_run_explains_itself_in_any_width() {
    let script = workspace().join("bindings/interposer/packaging/treefold-run");
    for columns in [40, 80] {
        let mut help = Command::new("sh");
        let help = help.arg(&script).arg("--help");
        let output = help.env("COLUMNS", columns.to_string()).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.starts_with("Usage: treefold-run "), "{told}");
        let longest = told.lines().map(|line| line.chars().count()).max();
        assert!(longest.unwrap() <= columns, "{told}");
    }
}

/// A build that takes minutes prints its progress. Here, `cargo` is a script that sleeps for 12 s and then fails.
#[test]
fn a_build_is_not_silent() {
    let folder = fresh_folder("install-slowly");
    let cargo = folder.join("cargo");
    let script = "#!/bin/sh\nsleep 12\necho 'error: no more' >&2\nexit 1\n";
    fs::write(&cargo, script).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["install", "--prefix"])
        .arg(folder.join("prefix"))
        .env("CARGO", &cargo)
        .output()
        .unwrap();
    let told = said(output, 2);
    let first = told.lines().next().unwrap();
    let built = "cargo build --release --lib --package treefold-c-library";
    assert!(first.starts_with(built), "{told}");
    let last = told.lines().last().unwrap();
    let is_whole = last.starts_with("error: ") && last.contains("error: no more");
    assert!(is_whole, "{told}");
}
