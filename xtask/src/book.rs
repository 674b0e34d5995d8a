//! `cargo xtask book`: the pages of `docs/` as HTML.
//!
//! mdBook is a program of its own, `book`, that is built when it is asked for: the other commands need none of it.

use std::io::{self, IsTerminal};
use std::process::{Output, Stdio};

use checkout::workspace::cargo;
use clap::Args;
use harness::Error;

/// What the program `book` says first in a line about what is wrong.
pub const LAST_WORD: &str = "book: ";

/// Options of `book`.
#[derive(Args, Clone, Debug)]
pub struct Options {}

/// Runs the command.
pub fn run(_options: &Options) -> Result<(), Error> {
    if io::stderr().is_terminal() {
        eprintln!("building the book; the first time mdBook is built, too, which takes a minute");
    }
    let words = "run --quiet --release --package xtask --features book --bin book";
    let output = cargo()
        .args(words.split_whitespace())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Error::Run(format!("cargo: {error}")))?;
    if !output.status.success() {
        return Err(Error::Run(cause(&output)));
    }
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// The one line of a failed run that says most: the program's own, or else cargo's first error.
fn cause(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    let own = errors.lines().find_map(|line| line.strip_prefix(LAST_WORD));
    let of_cargo = || errors.lines().find(|line| line.starts_with("error"));
    match own.or_else(of_cargo) {
        Some(line) => format!("the book: {line}"),
        None => format!("the book: {}", output.status),
    }
}
