//! What pictures of docs/ show: the numbers are written here, and `cargo xtask draw` makes pictures of them.

use std::fs;
use std::path::PathBuf;

use checkout::workspace::workspace;
use launch::Error;
use serde_json::{Value, json};

/// A named row of points, left to right.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// A picture's record, as `harness::plot::Record` reads it.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// The record's name in docs/, without its extension.
    pub(super) name: &'static str,
    pub(super) record: Value,
}

impl Picture {
    /// Of a record that another program has written.
    pub(super) fn read(name: &'static str, path: PathBuf) -> Result<Self, Error> {
        let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
        let record = serde_json::from_str(&text).map_err(|error| Error::file(&path, error))?;
        Ok(Self { name, record })
    }

    /// Writes the record into docs/; where it is.
    pub(super) fn write(&self) -> Result<PathBuf, Error> {
        let path = workspace()
            .join("docs")
            .join(self.name)
            .with_extension("json");
        fs::write(&path, self.record.to_string()).map_err(|error| Error::file(&path, error))?;
        Ok(path)
    }
}

/// Lines of a record, whose points `draw` rounds.
pub(super) fn lines(lines: &[Line]) -> Vec<Value> {
    let line = |line: &Line| json!({ "name": line.name, "points": line.points });
    lines.iter().map(line).collect()
}
