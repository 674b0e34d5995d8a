//! Measurements that pages quote. A record has a command's measurements with the machine, date and commit. The parts of pages
//! between [marks] are written from records.

pub mod marks;
pub mod query;

use std::mem;
use std::path::{Path, PathBuf};

use checkout::files;
use checkout::machine::{Machine, about_processor, load};
use checkout::workspace::workspace;
use launch::Installation;
use serde::{Deserialize, Serialize};
use simd_kernels::Level;

use crate::Error;
use crate::plot::with_rows;

/// The time of one call: one row of a record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// The name of what was measured.
    pub variant: String,
    /// The number of items, or of whatever the bench counts.
    pub n: u64,
    /// The number of ranks, if the bench measures several numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<usize>,
    /// The distribution of items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// `cold`, `cold-after-barrier` or `warm-items`; none if calls follow each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The median, in nanoseconds.
    pub ns: f64,
    /// The reference, measured alternately.
    pub reference: String,
    /// The reference's median, in nanoseconds.
    pub reference_ns: f64,
}

/// The measurements of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    /// The command, as it is typed.
    pub command: String,
    /// The processor, the cores, and relevant libraries.
    pub machine: String,
    /// The system's load average over a minute at the start of the command.
    pub load: f64,
    /// The day, UTC.
    pub date: String,
    /// The commit that was checked out.
    pub commit: String,
    /// The times.
    pub rows: Vec<Time>,
}

impl Measurements {
    /// A new record of this machine and day, without rows. `mpi` is the MPI library, if ranks are measured with one.
    pub fn begin(command: String, mpi: Option<&Installation>) -> Self {
        let here = Machine::here();
        let processor = here.processor + &generation().unwrap_or_default();
        let mut machine = format!("{processor}, {} cores, {}", here.cores, Level::best());
        if let Some(mpi) = mpi {
            let title = mpi.library().map_or("MPI", |library| library.title);
            let version = mpi.version().unwrap_or_default();
            machine += &format!(", {title} ({version})");
        }
        Self {
            command,
            machine,
            load: load().unwrap_or(f64::NAN),
            date: here.date,
            commit: here.commit,
            rows: Vec::new(),
        }
    }

    /// Reads a record.
    pub fn read(path: &Path) -> Result<Self, Error> {
        serde_json::from_str(&files::read(path)?).map_err(|error| Error::file(path, error))
    }

    /// Writes the record, with a line of text for each row, and each time with four digits.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        Ok(files::write(path, self.text()?)?)
    }

    fn text(&self) -> Result<String, serde_json::Error> {
        let mut head = self.clone();
        let mut rows = mem::take(&mut head.rows);
        let times = rows.iter_mut();
        for ns in times.flat_map(|row| [&mut row.ns, &mut row.reference_ns]) {
            *ns = format!("{ns:.3e}").parse().unwrap_or(*ns);
        }
        with_rows(&head, "rows", &rows)
    }
}

/// The processor's family and model, since processors of one name may differ; `None` if the system does not report them.
fn generation() -> Option<String> {
    let (family, model) = (about_processor("cpu family")?, about_processor("model")?);
    Some(format!(" (family {family}, model {model})"))
}

/// A record that is being written.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    record: Measurements,
}

impl Recording {
    /// Starts a record of a bench with these arguments, for a file. `mpi` is the MPI library, if ranks are measured with one.
    pub fn begin(file: &str, words: &str, mpi: Option<&Installation>) -> Self {
        Self {
            path: workspace().join(format!("docs/measured/{file}.json")),
            record: Measurements::begin(format!("cargo xtask bench {words}"), mpi),
        }
    }

    /// Adds names of relevant packages.
    pub fn mention(&mut self, packages: &str) {
        self.record.machine += ", ";
        self.record.machine += packages;
    }

    /// Adds a time. If the variant is one that programs run by default, also adds the time of its reference.
    pub fn push(&mut self, time: Time) {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::{Measurements, Time};

    #[test]
    fn records_come_back() {
        let mut record = Measurements::begin("cargo xtask bench none".to_owned(), None);
        record.load = 0.5;
        record.rows.push(Time {
            variant: "tree".to_owned(),
            n: 1024,
            ns: 123_456.0,
            reference: "unordered".to_owned(),
            reference_ns: 0.5,
            ..Time::default()
        });
        let text = record.text().unwrap();
        let expected = r#"{"variant":"tree","n":1024,"ns":123500.0,"reference":"unordered","reference_ns":0.5}"#;
        assert!(text.contains(&format!("\n{expected}\n")), "{text}");
        let read: Measurements = serde_json::from_str(&text).unwrap();
        record.rows[0].ns = 123_500.0;
        assert_eq!(read, record);
        assert_eq!(read.date.len(), 10);
    }
}
