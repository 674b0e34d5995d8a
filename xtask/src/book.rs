//! `cargo xtask book`: builds the pages of `docs/` as HTML, and rustdoc's pages for the crates.
//!
//! mdBook is linked into a separate program, `book`, which only this command builds.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Output, Stdio};

use checkout::workspace::{cargo, target};
use clap::Args;
use harness::Error;

/// The beginning of the line in which the program `book` reports an error.
pub const LAST_WORD: &str = "book: ";

/// The documentation of the crates, below the book.
pub const CRATES: &str = "api";

/// The arguments of `cargo doc`: the crates that programs depend on, and the features to document.
const DOCUMENTED: &str = "doc --no-deps --package treefold --package treefold-tree-index \
    --package treefold-simd-kernels --package treefold-exact-sum --package treefold-distribution \
    --package treefold-schedule --package treefold-mpi-library --package treefold-comm --package treefold-reduce \
    --package treefold-cuda --features treefold/cuda,treefold/mpi,treefold/num-complex,treefold/par,treefold/tracing";

/// Options of `book`.
#[derive(Args, Clone, Debug)]
pub struct BookOptions {}

/// Runs the command.
pub fn run(_options: &BookOptions) -> Result<(), Error> {
    let pages = successful(
        "run --release --package xtask --features book --bin book",
        None,
    )?;
    // In a separate folder, so that rustdoc's search finds only these crates.
    let folder = target()?.join(CRATES);
    successful(DOCUMENTED, Some(&folder))?;
    let copy = target()?.join("book").join(CRATES);
    copy_folder(&folder.join("doc"), &copy).map_err(|error| Error::file(&copy, error))?;
    print!("{}", String::from_utf8_lossy(&pages.stdout));
    Ok(())
}

/// Runs `cargo` with these words. On a terminal, `cargo` shows its progress, since the first run also builds mdBook, which takes a minute.
fn successful(words: &str, target: Option<&Path>) -> Result<Output, Error> {
    let mut command = cargo();
    command.args(words.split_whitespace()).stdin(Stdio::null());
    if let Some(target) = target {
        command.arg("--target-dir").arg(target);
    }
    if io::stderr().is_terminal() {
        command.stderr(Stdio::inherit());
    }
    let output = command.output();
    let output = output.map_err(|error| Error::Run(format!("cargo: {error}")))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(Error::Run(cause(&output)))
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// The line of a failed run that names the cause: the program's own error, or else cargo's first error.
fn cause(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    let own = errors.lines().find_map(|line| line.strip_prefix(LAST_WORD));
    let of_cargo = || errors.lines().find(|line| line.starts_with("error"));
    match own.or_else(of_cargo) {
        Some(line) => format!("the book: {line}"),
        None => format!("the book: {}", output.status),
    }
}
