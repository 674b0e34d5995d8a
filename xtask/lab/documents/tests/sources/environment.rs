//! docs/environment.md names every environment variable that the sources read by a constant, and no other of treefold's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{page, rust_files};

/// Read by rayon, and not by the sources here.
const OF_LIBRARIES: [&str; 1] = ["RAYON_NUM_THREADS"];

/// The files whose constants name variables without saying so.
const LAUNCHERS: &str = "mpi-library/src/launcher.rs";

#[test]
fn every_variable_is_on_the_page() {
    let files = rust_files(&["crates", "bindings", "xtask"]);
    let is_program = |file: &&PathBuf| !file.components().any(|part| part.as_os_str() == "tests");
    let programs = files.iter().filter(is_program);
    let read: BTreeSet<String> = programs.flat_map(|file| constants(file)).collect();
    assert!(read.len() > 15, "the sources were not found");

    let listed: BTreeSet<String> = page("environment.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .flat_map(|row| names(row.split(" |").next().unwrap_or_default()))
        .filter(|name| !OF_LIBRARIES.contains(&name.as_str()))
        .collect();
    assert_eq!(listed, read, "left: the page; right: the sources");
}

/// The variables that a file names by constants: `const …VARIABLE: &str = "NAME";`, or a list of them.
fn constants(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("a source");
    let is_of_launchers = file.ends_with(LAUNCHERS);
    let statements = text.split(";\n");
    let constants = statements.filter_map(|statement| {
        let (head, value) = statement.rsplit_once("= ")?;
        let is_named = head.contains("VARIABLE: ") || head.contains("VARIABLES: ");
        let is_constant = head.contains("const ") && (is_named || is_of_launchers);
        is_constant.then_some(value)
    });
    constants.flat_map(names).collect()
}

/// The names in a text: words of capitals with an underscore.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_uppercase() || letter == '_'));
    let is_name = |word: &&str| word.len() > 3 && word.contains('_');
    words.filter(is_name).map(str::to_owned).collect()
}
