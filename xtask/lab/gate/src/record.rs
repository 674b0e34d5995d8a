//! The table of what was run with which MPI library, on the page about them: a row for each, replaced when it runs again.

use std::fs;
use std::process::Command;

use checkout::workspace::workspace;
use launch::{Error, Installation, LIBRARIES};

/// The page, below the checkout.
const PAGE: &str = "docs/mpi.md";

/// How the table begins, and the lines before its first row.
const TABLE: &str = "| name | library |";
const TABLE_HEAD_LINES: usize = 2;

/// What passed with a library.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    /// What `--mpi` calls it.
    library: &'static str,
    /// The row of the table.
    row: String,
}

impl Ran {
    /// Of a library that was named; `None` for that of the machine, of which others know nothing.
    pub(super) fn new(installation: &Installation, passed: &[&str], ranks: &str) -> Option<Self> {
        let library = installation.library()?;
        let version = installation.version().unwrap_or_default();
        let date = Command::new("date").args(["-u", "+%F"]).output();
        let date = date.map_or(String::new(), |date| {
            String::from_utf8_lossy(&date.stdout).trim().to_owned()
        });
        let row = format!(
            "| `{}` | {} | {version} | {} | {ranks} | {date} |",
            library.name,
            library.title,
            passed.join(", ")
        );
        Some(Self {
            library: library.name,
            row,
        })
    }
}

/// Writes the rows into the page.
pub(super) fn write(ran: &[Ran]) -> Result<(), Error> {
    let path = workspace().join(PAGE);
    let page = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
    let page = with_rows(&page, ran);
    let page = page.ok_or_else(|| Error::file(&path, format!("no table begins `{TABLE}`")))?;
    fs::write(&path, page).map_err(|error| Error::file(&path, error))
}

/// The page with these rows in place of what its table had for their libraries, in the order of the libraries. `None` without a table.
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
        LIBRARIES
            .iter()
            .position(|library| is_of(row, library.name))
    });
    Some([&lines[..begin], &rows, &lines[end..]].concat().join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::{Ran, with_rows};

    fn ran(library: &'static str, row: &str) -> Ran {
        let row = format!("| `{library}` | {row} |");
        Ran { library, row }
    }

    #[test]
    fn rows_are_replaced_and_stay_in_order() {
        let empty = "| `other` |\n\n| name | library |\n|---|---|\n\nEnd.\n";
        let first = with_rows(empty, &[ran("mpich5", "1"), ran("openmpi", "2")]).unwrap();
        let rows = "| `openmpi` | 2 |\n| `mpich5` | 1 |";
        let expected = empty.replace("|---|---|", &format!("|---|---|\n{rows}"));
        assert_eq!(first, expected);
        let again = with_rows(
            &first,
            &[ran("impi", "3"), ran("mpich", "4"), ran("openmpi", "5")],
        )
        .unwrap();
        let rows: Vec<&str> = again
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        let expected = [
            "| `other` |",
            "| `openmpi` | 5 |",
            "| `mpich` | 4 |",
            "| `mpich5` | 1 |",
            "| `impi` | 3 |",
        ];
        assert_eq!(rows, expected);
        assert!(again.ends_with("\n\nEnd.\n"));
        assert_eq!(with_rows("no table\n", &[]), None);
    }
}
