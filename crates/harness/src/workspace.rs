//! The checkout that commands run in, and what they build there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Error;
use crate::installed::INSTALL;

/// The root of this workspace.
pub fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap_or(package)
}

/// The folder for what commands leave behind, made where it is not there.
pub fn target() -> Result<PathBuf, Error> {
    let folder = workspace().join("target");
    fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    Ok(folder)
}

/// A `cargo` that runs in this workspace.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace());
    cargo
}

/// Runs a `cargo` command and returns the executables that it built.
pub fn executables(cargo: &mut Command) -> Result<Vec<PathBuf>, Error> {
    let failed = |reason: String| Error::Mpi(format!("cargo: {reason}"));
    let output = cargo
        .args(["--quiet", "--message-format", "json"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().find(|line| line.starts_with("error"));
        return Err(failed(format!(
            "{}; is MPI whole? {INSTALL}",
            first.unwrap_or("it failed")
        )));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = |message: Value| message["executable"].as_str().map(PathBuf::from);
    Ok(messages.filter_map(executable).collect())
}
