//! Helpers for the tests of commands that write pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs a command of `cargo xtask` with these arguments.
pub(crate) fn xtask(command: &str, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg(command)
        .args(words)
        .output()
        .unwrap()
}

/// The standard error of a command that must end with this status.
#[track_caller]
pub(crate) fn said(output: Output, status: i32) -> String {
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{errors}");
    errors
}

/// An empty folder for a command's output.
pub(crate) fn fresh_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
