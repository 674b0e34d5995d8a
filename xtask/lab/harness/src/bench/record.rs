//! What `bench --record` keeps in `docs/measured`: the rows that pages are about.

use std::path::PathBuf;

use checkout::workspace::workspace;
use launch::Installation;

use super::Measured;
use crate::Error;
use crate::measured::{Record, Time};

/// A record that is being made.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    record: Record,
}

impl Recording {
    /// In a file, of a bench with these words; `mpi` is the library under which ranks are processes.
    pub fn begin(file: &str, words: &str, mpi: Option<&Installation>) -> Self {
        Self {
            path: workspace().join(format!("docs/measured/{file}.json")),
            record: Record::begin(format!("cargo xtask bench {words}"), mpi),
        }
    }

    /// Names packages that count.
    pub fn mention(&mut self, packages: &str) {
        self.record.machine += ", ";
        self.record.machine += packages;
    }

    /// Keeps the rows that pages are about.
    pub fn keep<R: Measured>(&mut self, rows: &[R]) {
        rows.iter()
            .filter_map(Measured::time)
            .for_each(|time| self.push(time));
    }

    /// Adds a time; beside the variants that programs run, also their reference's.
    fn push(&mut self, time: Time) {
        if ["streaming", "tree-dot", "plan", "tuned"].contains(&time.variant.as_str()) {
            self.record.rows.push(Time {
                variant: time.reference.clone(),
                ns: time.reference_ns,
                ..time.clone()
            });
        }
        self.record.rows.push(time);
    }

    /// Writes the record.
    pub fn write(self) -> Result<PathBuf, Error> {
        self.record.write(&self.path)?;
        Ok(self.path)
    }
}
