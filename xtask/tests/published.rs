//! Compares sums with those that the author of the thesis published with his data.
//!
//! The data is not part of the project. The test looks for it in `TREEFOLD_DATA` and in `../shared/data` next to the checkout.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::io::{self, Write};
use std::process::Command;

use harness::data::published_folder;
use serde_json::Value;

/// File, number of items, sum in tree order, sum from left to right.
const PUBLISHED: [(&str, u64, &str, &str); 4] = [
    ("354", 460, "C0B99E673E7E9052", "C0B99E673E7E9059"),
    ("prim", 898, "C0B64D0131608EB4", "C0B64D0131608EAC"),
    ("fusob", 1602, "C0C37B57721E5D72", "C0C37B57721E5D8D"),
    (
        "dna_rokasD4",
        239_763,
        "C150F1FDA4A3D14D",
        "C150F1FDA4A3D07B",
    ),
];

/// Prints a line without `println!`, whose output the test harness hides if a test passes.
fn tell(line: &str) {
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "published.rs: {line}").unwrap();
}

/// Runs `repro-check` with these words and compares its sums with the published ones. Each data set must have `rows_count` rows.
fn check(words: &[&str], rows_count: usize) {
    let Some(folder) = published_folder() else {
        tell("SKIPPED: no ../shared/data beside the checkout, and TREEFOLD_DATA names no folder");
        return;
    };
    let files = PUBLISHED.map(|(name, ..)| folder.join(name).with_extension("binpsllh"));
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("repro-check")
        .args(words)
        .args(["--json", "-", "--input"])
        .args(files)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let rows = String::from_utf8(output.stdout).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str(line).unwrap());
    let rows: Vec<Value> = rows.collect();
    for (name, items, tree, left_to_right) in PUBLISHED {
        let rows: Vec<&Value> = rows.iter().filter(|row| row["dataset"] == name).collect();
        assert_eq!(rows.len(), rows_count);
        for row in rows {
            assert_eq!(row["n"], items);
            match row["order"].as_str().unwrap() {
                "tree" => assert_eq!(row["bits"], tree, "{row}"),
                "left-to-right" => assert_eq!(row["bits"], left_to_right, "{row}"),
                _ => {}
            }
        }
    }
    let (count, words) = (PUBLISHED.len(), words.join(" "));
    tell(&format!(
        "published sums: {count} data sets, threads, {words}"
    ));
}

/// How many rows a data set has for one number of ranks. Each of the eleven distributions has twenty schedules with allreduce, eight with
/// reduce, and exact sums with both. The nine contiguous distributions also have the four other algorithms.
const ALL: usize = 11 * (28 + 2) + 9 * 4;

#[test]
fn published_sums_by_all_algorithms_on_few_ranks() {
    let words = ["--distribution", "all", "--algorithm", "all"];
    check(&[&words[..], &["--ranks", "1,17"]].concat(), 2 * ALL);
}

/// p = 1, 17, …, 241.
#[test]
fn published_sums_by_few_algorithms_on_all_ranks() {
    let algorithms = "algorithm1,binomial,recursive-doubling,exact-sum,left-to-right";
    let words = ["--distribution", "lower,random", "--algorithm", algorithms];
    // Two schedules and the thesis' algorithm with allreduce, one schedule with reduce, the exact sum with both, and two baselines.
    check(&words, 16 * 2 * (3 + 1 + 2 + 2));
}

#[test]
#[ignore = "takes minutes: `cargo xtask test --stage product` runs it"]
fn published_sums_by_all_algorithms_on_all_ranks() {
    let words = ["--distribution", "all", "--algorithm", "all"];
    check(&words, 16 * ALL);
}
