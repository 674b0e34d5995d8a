//! Compares the tutorials in docs/ with the output of their programs, and writes the results of runs to docs/: the table of MPI libraries
//! and the data of pictures.

use std::path::PathBuf;
use std::process::Command;

use checkout::files::{read, write};
use checkout::machine::Machine;
use checkout::workspace::workspace;
use launch::{Error, Installation, LIBRARIES};
use serde_json::{Value, json};

use crate::{Result, run};

/// A file below docs/.
fn page(name: &str) -> PathBuf {
    workspace().join("docs").join(name)
}

/// A page below `docs/`, and a command whose output it shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown(pub(crate) &'static str, pub(crate) &'static str);

impl Shown {
    /// Runs a command and checks that its output equals the output on the page. `keep` normalises both before they are compared.
    pub(crate) fn check(
        self,
        command: &mut Command,
        keep: impl Fn(&str) -> String,
    ) -> Result<String> {
        let Self(name, typed) = self;
        let shown = below(&read(&page(name))?, typed);
        let shown = shown.ok_or(format!("docs/{name} shows no `{typed}`"))?;
        let captured = run(command)?;
        captured.expect(true, &[])?;
        // The page may show standard error, where reports are printed.
        let printed = [&captured.output, &captured.errors];
        if printed.iter().any(|all| keep(all) == keep(&shown)) {
            return Ok(format!("as on docs/{name}"));
        }
        let all = captured.all();
        Err(format!("docs/{name} shows\n{shown}but the output is\n{all}").into())
    }
}

/// The lines of a page below `$ COMMAND`, up to the next command or the end of the block.
fn below(page: &str, command: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("\n$ {command}\n"))?;
    let is_printed = |line: &&str| !line.starts_with("$ ") && !line.starts_with("```");
    let lines = rest.lines().take_while(is_printed);
    Some(lines.map(|line| format!("{line}\n")).collect())
}

/// The page with the table of tested MPI libraries, the beginning of the table, and the number of lines before its first row.
const TABLE_PAGE: &str = "mpi.md";
const TABLE: &str = "| name | library |";
const TABLE_HEAD_LINES: usize = 2;

/// The results of the tests with an MPI library.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// The library's name in `--mpi`.
    library: &'static str,
    /// The library's row in the table.
    row: String,
}

impl Ran {
    /// The results with an installation's library; `None` if that library is not in `LIBRARIES`.
    pub(crate) fn new(installation: &Installation, passed: &[&str], ranks: &str) -> Option<Self> {
        let library = installation.library()?;
        let version = installation.version().unwrap_or_default();
        let (passed, date) = (passed.join(", "), Machine::here().date);
        let (name, title) = (library.name, library.title);
        Some(Self {
            library: name,
            row: format!("| `{name}` | {title} | {version} | {passed} | {ranks} | {date} |"),
        })
    }
}

/// Writes the results to the table on `docs/mpi.md`.
pub(crate) fn write_table(ran: &[Ran]) -> Result<(), Error> {
    let path = page(TABLE_PAGE);
    let text = with_rows(&read(&path)?, ran);
    let text = text.ok_or_else(|| Error::file(&path, format!("no table begins `{TABLE}`")))?;
    write(&path, text)
}

/// The page with these results in its table, whose rows are in the order of `LIBRARIES`. `None` if the page has no table.
fn with_rows(page: &str, ran: &[Ran]) -> Option<String> {
    let lines: Vec<&str> = page.lines().collect();
    let begin = lines.iter().position(|line| line.starts_with(TABLE))? + TABLE_HEAD_LINES;
    let rows = lines[begin..].iter();
    let end = begin + rows.take_while(|line| line.starts_with('|')).count();
    let is_of = |row: &str, name: &str| row.starts_with(&format!("| `{name}` |"));
    let mut rows = lines[begin..end].to_vec();
    rows.retain(|row| !ran.iter().any(|one| is_of(row, one.library)));
    rows.extend(ran.iter().map(|one| one.row.as_str()));
    rows.sort_by_key(|row| {
        let mut libraries = LIBRARIES.iter();
        libraries.position(|library| is_of(row, library.name))
    });
    Some([&lines[..begin], &rows, &lines[end..]].concat().join("\n") + "\n")
}

/// A named line of points, from left to right.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A picture's record, as `harness::plot::Record` reads it. `cargo xtask draw` draws the picture.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// The record's name in docs/, without its extension.
    pub(crate) name: &'static str,
    pub(crate) record: Value,
}

impl Picture {
    /// The picture of a record that another program has written.
    pub(crate) fn read(name: &'static str, path: &std::path::Path) -> Result<Self> {
        let record = serde_json::from_str(&read(path)?);
        let record = record.map_err(|error| Error::file(path, error))?;
        Ok(Self { name, record })
    }

    /// Writes the record to docs/. Returns its path.
    pub(crate) fn write(&self) -> Result<PathBuf, Error> {
        let path = page(self.name).with_extension("json");
        write(&path, self.record.to_string())?;
        Ok(path)
    }
}

/// The lines as a record has them. `cargo xtask draw` rounds their points.
pub(crate) fn drawn(lines: &[Line]) -> Vec<Value> {
    let line = |line: &Line| json!({ "name": line.name, "points": line.points });
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::{Ran, with_rows};

    #[test]
    fn rows_are_replaced_and_stay_in_order() {
        let ran = |library, row| {
            let row = format!("| `{library}` | {row} |");
            Ran { library, row }
        };
        let empty = "| `other` |\n\n| name | library |\n|---|---|\n\nEnd.\n";
        let first = with_rows(empty, &[ran("mpich5", 1), ran("openmpi", 2)]).unwrap();
        let rows = "| `openmpi` | 2 |\n| `mpich5` | 1 |";
        let expected = empty.replace("|---|---|", &format!("|---|---|\n{rows}"));
        assert_eq!(first, expected);
        let again = [ran("impi", 3), ran("mpich", 4), ran("openmpi", 5)];
        let rows = "| `openmpi` | 5 |\n| `mpich` | 4 |\n| `mpich5` | 1 |\n| `impi` | 3 |";
        let expected = empty.replace("|---|---|", &format!("|---|---|\n{rows}"));
        assert_eq!(with_rows(&first, &again), Some(expected));
        assert_eq!(with_rows("no table\n", &[]), None);
    }
}
