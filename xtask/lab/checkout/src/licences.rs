//! The licences of the crates that are linked into a library.

use std::fmt::Write as _;
use std::path::Path;

use crate::Error;
use crate::files;
use crate::workspace::{Sources, cargo, output};

/// The beginnings of licence files' names, in upper or lower case.
const NAMES: [&str; 4] = ["licen", "copying", "notice", "unlicense"];

/// A file with a licence.
#[derive(Debug)]
pub struct Licence {
    /// The package, by name and version.
    pub package: String,
    /// The file's name.
    pub title: String,
    /// The file's text.
    pub text: String,
}

/// The licences of all dependencies of workspace packages, found by cargo without a network.
///
/// # Errors
/// Cargo does not know a package, or a dependency has no licence file.
pub fn linked(packages: &[&str], sources: &Sources) -> Result<Vec<Licence>, Error> {
    let mut licences = Vec::new();
    for name in names(packages)? {
        let Some(folder) = sources.get(&name) else {
            continue;
        };
        let mut files = files::listed(folder)?;
        files.retain(|file| is_licence(file));
        if files.is_empty() {
            let reason = format!("{name} has no licence file");
            return Err(Error::file(folder, reason));
        }
        for file in files {
            licences.push(Licence {
                package: name.clone(),
                title: files::name(&file),
                text: files::read(&file)?,
            });
        }
    }
    Ok(licences)
}

/// Joins all licences into one text.
#[must_use]
pub fn joined(licences: &[Licence]) -> String {
    let mut joined = String::from(
        "The licences of crates that are linked in, besides treefold and Rust's standard library.\n",
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
    let lines = output(&mut tree)?;
    let name = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        words.join(" ")
    };
    let mut names: Vec<String> = lines.lines().map(name).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Whether a file is a licence, judging by its name.
pub fn is_licence(file: &Path) -> bool {
    let name = files::name(file).to_ascii_lowercase();
    file.is_file() && NAMES.iter().any(|start| name.starts_with(start))
}
