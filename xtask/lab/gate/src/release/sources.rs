//! A source tree with all dependencies, which cargo builds without a network.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use checkout::licences::is_licence;
use launch::installed::is_root;
use serde_json::{Value, json};

use crate::commands::{Result, Words, cargo, command, output};
use crate::files::{edit, listed, name, remove, write};
use crate::steps::Steps;

/// The folder in the tree.
const FOLDER: &str = "vendor";

/// The name prefixes of Windows-only crates, which are two thirds of all bytes and not used elsewhere.
const OF_WINDOWS: &str = "windows";

/// The cargo configuration that uses this folder instead of a registry.
const SOURCES: &str = "[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";

/// Folders of members that are left out, since their dependencies are not included.
const LEFT_OUT: [&str; 3] = ["tests", "examples", "benches"];

/// Manifest tables that refer to omitted files or test tools.
const TABLES_LEFT_OUT: [&str; 6] = [
    "[dev-dependencies",
    "[[test",
    "[[example",
    "[[bench",
    "[target.\"cfg(shuttle)\"",
    "[target.\"cfg(loom)\"",
];

/// Adds the dependencies of its members to a tree, and packs it; `parts` contains only the tree.
pub(super) fn pack(steps: &mut Steps, parts: &Path, tree: &str, file: &Path) -> Result {
    let root = parts.join(tree);
    // The lock file has only the members' dependencies.
    let mut lock = cargo("metadata --quiet --format-version 1 --offline");
    lock.current_dir(&root).stdout(Stdio::null());
    steps.step("the lock file of the sources", &mut lock)?;
    let mut vendor = cargo("vendor --quiet --locked");
    vendor.arg(FOLDER).current_dir(&root);
    steps.step("what they are built of", vendor)?;
    for folder in listed(&root.join(FOLDER))? {
        if name(&folder).starts_with(OF_WINDOWS) {
            hollow_out(&folder)?;
        }
    }
    let config = root.join(".cargo/config.toml");
    if config.exists() {
        edit(&config, |text| format!("{text}\n{SOURCES}"))?;
    } else {
        write(&config, SOURCES)?;
    }
    let pack = command!(
        "tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --auto-compress -cf",
        file,
        "-C",
        parts,
        tree
    );
    steps.step("with what they are built of, in a file", pack)
}

/// Empties a crate that is resolved but never compiled; keeps its manifest and licences.
fn hollow_out(folder: &Path) -> Result {
    const CHECKSUMS: &str = ".cargo-checksum.json";
    for path in listed(folder)? {
        let is_kept = path.ends_with("Cargo.toml") || path.ends_with(CHECKSUMS);
        if path.is_dir() {
            remove(&path)?;
        } else if !is_kept && !is_licence(&path) {
            fs::remove_file(&path)?;
        }
    }
    write(&folder.join("src/lib.rs"), "")?;
    // Cargo verifies checksums before it compiles files.
    let path = folder.join(CHECKSUMS);
    let mut checksums: Value = serde_json::from_slice(&fs::read(&path)?)?;
    checksums["files"] = json!({});
    Ok(write(&path, checksums.to_string())?)
}

/// The tracked files in some places, by path in the checkout.
pub(super) fn tracked(places: impl Words) -> Result<Vec<String>> {
    let names = output(command!("git ls-files -z --", places))?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

/// Whether a member's file is included.
pub(super) fn is_in(name: &str) -> bool {
    !name.split('/').any(|part| LEFT_OUT.contains(&part))
}

/// A member's manifest without the omitted tables.
pub(super) fn member_manifest(text: &str) -> String {
    let mut is_kept = true;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            let of_target = line.starts_with("[target.") && line.contains("dev-dependencies");
            let is_left_out = TABLES_LEFT_OUT.iter().any(|table| line.starts_with(table));
            is_kept = !of_target && !is_left_out;
        }
        if is_kept {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// The workspace's manifest with only these members.
pub(super) fn root_manifest(text: &str, members: &[&str]) -> String {
    let quoted: Vec<String> = members
        .iter()
        .map(|member| format!("\"{member}\""))
        .collect();
    let list = quoted.join(", ");
    let head = format!("[workspace]\nresolver = \"3\"\nmembers = [{list}]\n\n");
    let begin = text.find("[workspace.package]").unwrap_or_default();
    head + &text[begin..]
}

/// The words that run a command without a network and without downloaded registries.
pub(super) fn without_network(cargo_home: &Path) -> Command {
    let mut command = Command::new("unshare");
    // A new network namespace has no routes.
    command.arg(if is_root() { "-n" } else { "-rn" });
    command.env("CARGO_HOME", cargo_home);
    for variable in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_TARGET_DIR"] {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use checkout::workspace::target;

    use super::{hollow_out, is_in, member_manifest, root_manifest};
    use crate::files::{read, remove, write};

    #[test]
    fn a_hollow_crate_keeps_its_name_and_its_licence() {
        let folder = target().unwrap().join("tmp/hollow");
        remove(&folder).unwrap();
        let files = ["Cargo.toml", "license-mit", "readme.md", "lib/big.a"];
        for file in files {
            write(&folder.join(file), b"text").unwrap();
        }
        let checksums = folder.join(".cargo-checksum.json");
        write(&checksums, br#"{"files":{"lib/big.a":"1"},"package":"2"}"#).unwrap();
        hollow_out(&folder).unwrap();
        let there = files.map(|file| folder.join(file).exists());
        assert_eq!(there, [true, true, false, false]);
        assert_eq!(read(&folder.join("src/lib.rs")).unwrap(), "");
        let left = r#"{"files":{},"package":"2"}"#;
        assert_eq!(read(&checksums).unwrap(), left);
    }

    #[test]
    fn what_is_left_out_is_named_nowhere() {
        let text = "[package]\nname = \"a\"\n\n[dev-dependencies]\nb = \"1\"\n\n[lints]\nworkspace = true\n\n[[test]]\nname = \"c\"\n";
        let expected = "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n\n";
        assert_eq!(member_manifest(text), expected);
        for target in ["'cfg(unix)'.dev-dependencies", "\"cfg(loom)\".dependencies"] {
            let of_target = format!("[target.{target}]\nb = \"1\"\n");
            assert_eq!(member_manifest(&of_target), "");
        }
        let text = "[workspace]\nmembers = [\"x\"]\n\n[workspace.package]\nversion = \"1.0.0\"\n";
        let expected = text.replace("[\"x\"]", "[\"crates/a\", \"crates/b\"]");
        let found = root_manifest(text, &["crates/a", "crates/b"]);
        assert_eq!(found.replace("resolver = \"3\"\n", ""), expected);
        assert!(is_in("crates/reduce/src/plan/mod.rs"));
        assert!(!is_in("crates/reduce/tests/plans.rs"));
    }
}
