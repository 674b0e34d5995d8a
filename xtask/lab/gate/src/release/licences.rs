//! The licences of what is linked into a binary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use checkout::workspace::cargo;
use harness::Error;
use serde_json::Value;

use super::listed;
use crate::steps::Stop;

/// How files begin that hold a licence, in any spelling.
const NAMES: [&str; 4] = ["licen", "copying", "notice", "unlicense"];

/// The texts of the licences of all that a package is built of, but for what belongs to the workspace.
pub(super) fn third_parties(package: &str) -> Result<String, Stop> {
    let mut text = String::from(
        "What is linked into this package, besides treefold and Rust's standard library, and under which licences.\n",
    );
    for (name, folder) in linked(package)? {
        let files = listed(&folder)?;
        let licences: Vec<_> = files.iter().filter(|file| is_licence(file)).collect();
        if licences.is_empty() {
            let reason = format!("{name} has no file with its licence");
            return Err(Stop::Error(Error::file(&folder, reason)));
        }
        for file in licences {
            let licence = fs::read_to_string(file);
            let licence = licence.map_err(|error| Stop::Error(Error::file(file, error)))?;
            let title = file.file_name().unwrap_or_default().to_string_lossy();
            text += &format!(
                "\n{}\n{name}: {title}\n\n{}\n",
                "=".repeat(80),
                licence.trim()
            );
        }
    }
    Ok(text)
}

/// What a package is linked with: names with versions, and the folders of the sources.
fn linked(package: &str) -> Result<BTreeMap<String, PathBuf>, Stop> {
    let run = |words: &str| {
        let mut command = cargo();
        let output = command.args(words.split_whitespace()).output();
        let output = output.map_err(|error| Error::Run(format!("cargo: {error}")))?;
        let errors = || String::from_utf8_lossy(&output.stderr).into_owned();
        let told = output.status.success().then_some(&output.stdout);
        let told = told.ok_or_else(|| Error::Run(errors()))?;
        Ok::<String, Stop>(String::from_utf8_lossy(told).into_owned())
    };
    let tree = run(&format!(
        "tree --package {package} --edges normal,no-proc-macro --prefix none --format {{p}}"
    ))?;
    let metadata = run("metadata --format-version 1")?;
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| Error::Run(error.to_string()))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let foreign = packages.filter(|package| !package["source"].is_null());
    let of_package = |package: &Value| {
        let name = format!(
            "{} v{}",
            package["name"].as_str()?,
            package["version"].as_str()?
        );
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
        Some((name, folder.to_owned()))
    };
    let folders: BTreeMap<String, PathBuf> = foreign.filter_map(of_package).collect();
    let names = tree.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        words.join(" ")
    });
    Ok(names
        .filter_map(|name| {
            folders
                .get(&name)
                .map(|folder| (name.clone(), folder.clone()))
        })
        .collect())
}

pub(super) fn is_licence(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    file.is_file() && NAMES.iter().any(|start| name.starts_with(start))
}
