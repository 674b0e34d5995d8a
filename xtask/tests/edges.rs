//! Words and files at the edge of what `repro-check` takes: each once led to a crash or to a wrong verdict.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn repro_check(words: &[&str], files: &[PathBuf]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("repro-check")
        .args(words)
        .arg("--input")
        .args(files)
        .output()
        .unwrap()
}

/// Writes doubles to a file below this test's own folder.
fn file(name: &str, items: &[f64]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("edges")
        .join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    fs::write(&path, bytes).unwrap();
    path
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

#[track_caller]
fn refused(output: &Output, expected: &str) {
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.len() < 400, "{errors}");
    assert!(errors.contains(expected), "{errors}");
}

/// A canary whose sums lie close together has the same one on some pairs: then a sound library fails.
#[test]
fn any_pair_of_rank_counts_gives_the_canary_a_spread() {
    let one = [file("one.f64", &[1.5])];
    for ranks in ["1,4", "2,30", "3,16", "5,19", "240,241", "7"] {
        let output = repro_check(&["--ranks", ranks], &one);
        let told = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "--ranks {ranks}: {told}");
    }
}

/// The canary's extra rank counts are not passed off as those of the data.
#[test]
fn the_summary_tells_what_the_canary_alone_ran_on() {
    let output = repro_check(&["--ranks", "7"], &[file("seven.f64", &[1.5])]);
    let told = text(&output.stdout);
    assert!(
        told.contains("threads: p = 7; the canary also on 1, 2, 3\n"),
        "{told}"
    );
}

#[test]
fn files_that_share_a_name_are_told_apart() {
    let files = [
        file("here/same.f64", &[1.0]),
        file("there/same.f64", &[2.0]),
        file("there/same#2.f64", &[3.0]),
        file("there/canary.f64", &[4.0]),
    ];
    let output = repro_check(&["--ranks", "1,2", "--json", "-"], &files);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut sums: Vec<(String, f64)> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| row["order"] == "tree")
        .map(|row| {
            let name = row["dataset"].as_str().unwrap().to_owned();
            (name, row["sum"].as_f64().unwrap())
        })
        .collect();
    sums.sort_by(|a, b| a.partial_cmp(b).unwrap());
    sums.dedup();
    let expected = [
        ("canary#2", 4.0),
        ("same", 2.0),
        ("same#2", 3.0),
        ("same#3", 1.0),
    ];
    let expected = expected.map(|(name, sum)| (name.to_owned(), sum));
    assert_eq!(sums, expected);
}

#[test]
fn more_ranks_than_a_process_can_hold() {
    let one = [file("few.f64", &[1.5])];
    for ranks in [
        "40000",
        "1..=99999999999",
        "1..=18446744073709551615",
        "1..=20:18446744073709551615",
    ] {
        refused(&repro_check(&["--ranks", ranks], &one), "--ranks: ");
    }
    let huge = "99999999999999999999999";
    refused(&repro_check(&["--ranks", huge], &one), huge);
}

/// What a file says is shown, but it cannot break the line, nor fill the screen.
#[test]
fn an_error_is_one_line_whatever_the_file_says() {
    let folder = file("any.f64", &[1.0]).parent().unwrap().to_owned();
    let header = "{'descr': 'x\ny', 'fortran_order': False, 'shape': (2,), }\n";
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let npy = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat();
    let long_word = vec![b'z'; 1 << 20];
    let shortened = format!("`{}…`", "z".repeat(40));
    let files = [
        (
            "lines.npy",
            npy,
            "lines.npy: its numbers are `'x\u{FFFD}y'`",
        ),
        ("word.psllh", [b"1 ", &long_word[..]].concat(), &shortened),
        ("count.psllh", long_word, &shortened),
        (
            "two\nlines.csv",
            Vec::new(),
            "two lines.csv: unknown format",
        ),
    ];
    for (name, content, expected) in files {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        refused(&repro_check(&[], &[path]), expected);
    }
}

#[test]
fn no_command_is_told_the_commands() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).output().unwrap();
    refused(
        &output,
        "repro-check, bench, simulate, schedules, papers, draw, book, test",
    );
}
