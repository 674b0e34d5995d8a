//! Tests the program that `cargo xtask repro-check` builds.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn program(words: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_repro-check"));
    program.args(words);
    program
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

#[test]
fn the_verdict_is_its_last_line_and_its_status() {
    let output = program(&["--ranks", "1,2,5"]).output().unwrap();
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let verdict =
        "PASS: one sum per data set on 1 to 5 ranks (1,569 runs); plain sums gave up to 3";
    assert_eq!(told.lines().last(), Some(verdict));
    let mut widths = told.lines().map(|line| line.chars().count());
    assert!(widths.all(|width| width <= 80), "{told}");
}

#[test]
fn what_it_cannot_do_is_told_in_a_line() {
    for (words, expected) in [
        (["--plot", "x.svg"], "--plot: this program cannot draw"),
        (["--ranks", "0"], "--ranks: a communicator needs"),
        (["--no-such", "x"], "--no-such"),
    ] {
        let output = program(&words).output().unwrap();
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.contains(expected), "{told}");
    }
}

/// A reader that closes the pipe early, as `head` does, ends the program silently.
#[test]
fn a_reader_may_leave() {
    let words = ["--ranks", "1,2", "--json", "-"];
    let mut running = program(&words);
    running.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = running.spawn().unwrap();
    let mut rows = BufReader::with_capacity(64, running.stdout.take().unwrap());
    let mut row = String::new();
    rows.read_line(&mut row).unwrap();
    assert!(row.starts_with('{'), "{row}");
    drop(rows);
    let output = running.wait_with_output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(!told.contains("error"), "{told}");
}
