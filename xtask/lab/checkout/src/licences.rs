//! The licences of the crates that are linked into a library.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::workspace::{Sources, cargo};

/// The beginnings of licence files' names, in any case.
const NAMES: [&str; 4] = ["licen", "copying", "notice", "unlicense"];

/// A file with a licence.
#[derive(Debug)]
pub struct Licence {
    /// The package, by name and version.
    pub package: String,
    /// The file's name.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// The licences of all dependencies of workspace packages, found by cargo without a network.
///
/// # Errors
/// Cargo does not know the packages, or one has no licence file.
pub fn linked(packages: &[&str], sources: &Sources) -> Result<Vec<Licence>, Error> {
    let mut licences = Vec::new();
    for name in names(packages)? {
        let Some(folder) = sources.get(&name) else {
            continue;
        };
        let before_count = licences.len();
        for file in files(folder)? {
            let text = fs::read_to_string(&file).map_err(|error| Error::file(&file, error))?;
            let title = file.file_name().unwrap_or_default().to_string_lossy();
            licences.push(Licence {
                package: name.clone(),
                title: title.into_owned(),
                text,
            });
        }
        if licences.len() == before_count {
            let reason = format!("{name} has no file with its licence");
            return Err(Error::file(folder, reason));
        }
    }
    Ok(licences)
}

/// Joins all licences into one text.
#[must_use]
pub fn joined(licences: &[Licence]) -> String {
    let mut joined = String::from(
        "What is linked in, besides treefold and Rust's standard library, and under which licences.\n",
    );
    for Licence {
        package,
        title,
        text,
    } in licences
    {
        let (line, text) = ("=".repeat(80), text.trim());
        let _ = write!(joined, "\n{line}\n{package}: {title}\n\n{text}\n");
    }
    joined
}

/// The dependencies of packages, by name and version.
fn names(packages: &[&str]) -> Result<Vec<String>, Error> {
    let mut tree = cargo();
    tree.args("tree --offline --edges normal,no-proc-macro --prefix none".split(' '));
    tree.args(["--format", "{p}"]);
    for package in packages {
        tree.args(["--package", package]);
    }
    let output = tree.output();
    let output = output.map_err(|error| Error::Cargo(error.to_string()))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::Cargo(errors));
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let name = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        words.join(" ")
    };
    let mut names: Vec<String> = lines.lines().map(name).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// The licence files in a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::file(folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut files = paths.map_err(failed)?;
    files.retain(|file| is_licence(file));
    files.sort();
    Ok(files)
}

/// Whether a file is a licence, judging by its name.
pub fn is_licence(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    file.is_file() && NAMES.iter().any(|start| name.starts_with(start))
}
