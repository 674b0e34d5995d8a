//! `cargo xtask install` before it builds anything: what it refuses, in one line and with status 2. Stage `c` of `cargo xtask test` installs.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{fresh_folder, xtask};

/// The command ends with status 2 and one line with these words; nothing is on standard output, so that nothing was built.
#[track_caller]
fn refused(words: &[&str], expected: &[&str]) {
    let output = xtask("install", words);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{words:?}: {errors}");
    assert!(output.stdout.is_empty(), "{words:?}");
    for word in expected {
        assert!(
            errors.contains(word),
            "{words:?}: `{errors}` lacks `{word}`"
        );
    }
}

/// A prefix whose MPI part is for this library, as far as the command looks.
fn prefix_with(name: &str, mpi: &str, version: &str) -> String {
    let folder = fresh_folder(name);
    let packages = folder.join("lib/pkgconfig");
    fs::create_dir_all(&packages).unwrap();
    let text = format!("mpi={mpi}\n\nName: treefold-mpi\nVersion: {version}\n");
    fs::write(packages.join("treefold-mpi.pc"), text).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_prefix_is_needed() {
    refused(&[], &["--prefix", "missing"]);
    refused(&["--prefix"], &["--prefix"]);
    refused(&["--mpi", "--prefix"], &["--prefix"]);
}

#[test]
fn a_prefix_is_a_folder_that_can_be_written_to() {
    let folder = fresh_folder("install file");
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    refused(&["--prefix", file], &["--prefix", file]);
    let below = format!("{file}/below");
    refused(&["--prefix", &below], &["--prefix", &below]);
    // Nobody makes a folder there, not even root.
    refused(&["--prefix", "/proc/treefold"], &["/proc/treefold"]);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn unknown_libraries_and_options() {
    let prefix = fresh_folder("install-unknown");
    let prefix = prefix.to_str().unwrap();
    let known = "openmpi, mpich, openmpi5, mpich4, mpich5, impi";
    refused(
        &["--prefix", prefix, "--mpi", "lam"],
        &["--mpi", "`lam`", known],
    );
    refused(
        &["--prefix", prefix, "--launcher", "srun -n {ranks}"],
        &["--launcher"],
    );
    refused(&["--prefix", prefix, "mpich"], &["mpich"]);
    assert_eq!(fs::read_dir(prefix).unwrap().count(), 0);
}

#[test]
fn an_mpi_library_that_is_not_there() {
    // Without `PATH`, no compiler wrapper is found.
    let prefix = fresh_folder("install-no-mpi");
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["install", "--mpi", "mpich", "--prefix"])
        .arg(&prefix)
        .env("PATH", "")
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("mpicc.mpich"), "{errors}");
    assert_eq!(fs::read_dir(prefix).unwrap().count(), 0);
}

#[test]
fn a_prefix_holds_one_mpi_library() {
    let prefix = prefix_with("install two families", "openmpi", env!("CARGO_PKG_VERSION"));
    let mpich = harness::Installation::find(Some("mpich"), None).unwrap();
    let missing = mpich.missing();
    if !missing.is_empty() {
        println!("skipped: mpich, for want of {}", missing.join(", "));
        return;
    }
    refused(
        &["--prefix", &prefix, "--mpi", "mpich"],
        &[&prefix, "openmpi", "`--mpi mpich`"],
    );
    let files = fs::read_dir(Path::new(&prefix).join("lib")).unwrap();
    assert_eq!(files.count(), 1, "nothing is installed");
}

#[test]
fn an_old_mpi_part_is_not_left_alone() {
    let prefix = prefix_with("install-old-part", "openmpi", "0.0.9");
    refused(
        &["--prefix", &prefix],
        &[&prefix, "0.0.9", "`--mpi openmpi`"],
    );
    let unknown = prefix_with("install-unknown-part", "openmpi", "0.0.9");
    let path = Path::new(&unknown).join("lib/pkgconfig/treefold-mpi.pc");
    fs::write(&path, "Name: treefold-mpi\n").unwrap();
    refused(&["--prefix", &unknown], &[path.to_str().unwrap()]);
}
