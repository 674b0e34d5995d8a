//! Checks the golden vectors of `golden/`, by folds and exact sums in one process, and by plans on ranks. This crate's folder `golden` is a link
//! to the project's folder; packages of the crate contain copies of the files.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where it unwraps, and says what it skips"
)]

mod bytes;
mod element;
mod exact;
mod keyed;
mod masked;
mod order;
mod powers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use element::Element;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

fn words(case: &Value, key: &str) -> Vec<String> {
    let words = case[key].as_array().into_iter().flatten();
    words
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

fn values<T: Element>(case: &Value, key: &str) -> Vec<T> {
    words(case, key)
        .iter()
        .map(|word| T::from_word(word))
        .collect()
}

fn text<'c>(case: &'c Value, key: &str) -> &'c str {
    case[key].as_str().unwrap_or_default()
}

/// The cases of a file. Checks that there are `count` cases.
fn cases(file: &str, count: usize) -> Vec<Value> {
    let lines = fs::read_to_string(folder().join(file)).unwrap();
    let lines = lines.lines();
    let cases: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(cases.len(), count, "the pages state the number of cases");
    cases
}

/// Checks the vectors by Python programs that share no code with this project.
#[test]
fn the_readers_in_python_agree() {
    for reader in ["check.py", "check_exact.py"] {
        let Ok(output) = Command::new("python3").arg(folder().join(reader)).output() else {
            println!("skipped: no python3");
            return;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }
}
