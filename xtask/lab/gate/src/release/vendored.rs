//! A tree of sources, with all that they are built of, that cargo builds without a network.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use checkout::licences::is_licence;
use checkout::workspace::cargo;
use launch::Error;
use serde_json::{Value, json};

use super::{listed, read, write};
use crate::steps::{Steps, Stop};

/// The folder in the tree.
const FOLDER: &str = "vendor";

/// How crates are named that are for Windows alone. They are two thirds of all bytes, and no part of what is built elsewhere.
const OF_WINDOWS: &str = "windows";

/// What tells cargo to look there instead of in a registry.
const SOURCES: &str = "[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";

/// Adds to a tree what its members are built of.
pub(super) fn complete(steps: &mut Steps, tree: &Path) -> Result<(), Stop> {
    // It names what the members need, and no more.
    let mut lock = cargo();
    lock.args(["metadata", "--quiet", "--format-version", "1", "--offline"]);
    lock.current_dir(tree).stdout(Stdio::null());
    steps.step("the lock file of the sources", &mut lock)?;
    let mut vendor = cargo();
    vendor.args(["vendor", "--quiet", "--locked", FOLDER]);
    steps.step("what they are built of", vendor.current_dir(tree))?;
    for folder in listed(&tree.join(FOLDER))? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(OF_WINDOWS) {
            hollow_out(&folder)?;
        }
    }
    let config = tree.join(".cargo/config.toml");
    let mut text = String::new();
    if config.exists() {
        text = read(&config)? + "\n";
    }
    write(&config, text + SOURCES)?;
    Ok(())
}

/// Empties a crate that is resolved and never compiled: its manifest and its licences stay.
fn hollow_out(folder: &Path) -> Result<(), Stop> {
    const CHECKSUMS: &str = ".cargo-checksum.json";
    let failed = |error| Stop::Error(Error::file(folder, error));
    for path in listed(folder)? {
        let is_kept = path.ends_with("Cargo.toml") || path.ends_with(CHECKSUMS);
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(failed)?;
        } else if !is_kept && !is_licence(&path) {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    write(&folder.join("src/lib.rs"), b"")?;
    // Cargo compares files with their checksums before it compiles them.
    let path = folder.join(CHECKSUMS);
    let mut checksums: Value =
        serde_json::from_str(&read(&path)?).map_err(|error| Error::file(&path, error))?;
    checksums["files"] = json!({});
    write(&path, checksums.to_string())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use checkout::workspace::target;

    use super::{hollow_out, read, write};
    use crate::steps::Stop;

    #[test]
    fn a_hollow_crate_keeps_its_name_and_its_licence() {
        let folder = target().unwrap().join("tmp/hollow");
        let _ = fs::remove_dir_all(&folder);
        let files = ["Cargo.toml", "license-mit", "readme.md", "lib/big.a"];
        for file in files {
            write(&folder.join(file), b"text").unwrap();
        }
        let checksums = folder.join(".cargo-checksum.json");
        write(&checksums, br#"{"files":{"lib/big.a":"1"},"package":"2"}"#).unwrap();
        assert!(hollow_out(&folder).map_err(|_: Stop| ()).is_ok());
        let there = files.map(|file| folder.join(file).exists());
        assert_eq!(there, [true, true, false, false]);
        assert_eq!(read(&folder.join("src/lib.rs")).unwrap(), "");
        let left = r#"{"files":{},"package":"2"}"#;
        assert_eq!(read(&checksums).unwrap(), left);
    }
}
