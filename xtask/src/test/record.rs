//! The table of what was run with which MPI library, on the page about them: a row for each, replaced when it runs again.

use std::fs;
use std::process::Command;

use harness::workspace::workspace;
use harness::{Error, Installation, LIBRARIES};

/// The page, below the checkout.
const PAGE: &str = "docs/mpi.md";

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
    fs::write(&path, with_rows(&page, ran)).map_err(|error| Error::file(&path, error))
}

/// The page with these rows in place of what it had for their libraries, in the order of the libraries.
fn with_rows(page: &str, ran: &[Ran]) -> String {
    let mut lines: Vec<&str> = page.lines().collect();
    for one in ran {
        let begins = |line: &&str, name: &str| line.starts_with(&format!("| `{name}` |"));
        lines.retain(|line| !begins(line, one.library));
        let later = LIBRARIES
            .iter()
            .skip_while(|library| library.name != one.library)
            .skip(1);
        let mut later = later.filter_map(|library| {
            let place = lines.iter().position(|line| begins(line, library.name));
            place.map(|place| place - 1)
        });
        let last = || {
            let rows = lines.iter().rposition(|line| line.starts_with("| `"));
            rows.or_else(|| lines.iter().rposition(|line| line.starts_with("|---")))
        };
        let before = later.next().or_else(last);
        let place = before.map_or(lines.len(), |before| before + 1);
        lines.insert(place, &one.row);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{Ran, with_rows};

    fn ran(library: &'static str, row: &str) -> Ran {
        let row = format!("| `{library}` | {row} |");
        Ran { library, row }
    }

    #[test]
    fn rows_are_replaced_and_stay_in_order() {
        let empty = "# Page\n\n| library | ran |\n|---|---|\n\nEnd.\n";
        let first = with_rows(empty, &[ran("mpich5", "1"), ran("openmpi", "2")]);
        let expected =
            "# Page\n\n| library | ran |\n|---|---|\n| `openmpi` | 2 |\n| `mpich5` | 1 |\n\nEnd.\n";
        assert_eq!(first, expected);
        let again = with_rows(
            &first,
            &[ran("impi", "3"), ran("mpich", "4"), ran("openmpi", "5")],
        );
        let rows: Vec<&str> = again
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        let expected = [
            "| `openmpi` | 5 |",
            "| `mpich` | 4 |",
            "| `mpich5` | 1 |",
            "| `impi` | 3 |",
        ];
        assert_eq!(rows, expected);
        assert!(again.ends_with("\n\nEnd.\n"));
    }
}
