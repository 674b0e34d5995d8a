//! What one launch of ranks runs, and what comes back: both travel to and from `mpi-runner` as JSON.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use serde::{Deserialize, Serialize};

use crate::choices::Sharing;
use crate::data::Source;
use crate::error::Error;
use crate::mpi::workspace;

/// The rows that every rank of a communicator runs together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What to reduce, and how.
    pub cases: Vec<Cases>,
    /// The seed of random distributions.
    pub seed: u64,
}

/// One data set by every distribution and algorithm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cases {
    /// The data set.
    pub source: Source,
    /// The distributions.
    pub distributions: Vec<Sharing>,
    /// The algorithms, by name.
    pub algorithms: Vec<String>,
}

impl Job {
    /// The number of rows it gives.
    pub fn rows_count(&self) -> usize {
        let rows = |cases: &Cases| cases.distributions.len() * cases.algorithms.len();
        self.cases
            .iter()
            .map(rows)
            .fold(0, |total, rows| total + rows)
    }
}

/// The result of one reduction: one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The data set's name.
    pub dataset: String,
    /// The number of items, N.
    pub n: u64,
    /// The algorithm's name.
    pub algorithm: String,
    /// The distribution's name.
    pub distribution: String,
    /// `threads` or `mpi`.
    pub backend: String,
    /// The number of ranks, p.
    pub ranks: usize,
    /// The sum's bits on rank 0, in hexadecimal.
    pub bits: String,
    /// The sum; null if it is infinite or not a number.
    pub sum: Option<f64>,
    /// `tree`, `left-to-right` or `none`.
    pub order: String,
    /// All messages that the backend sent; null where the MPI library does not tell.
    pub messages: Option<u64>,
    /// The most communicating steps of any rank; null for algorithms that have no rounds.
    pub rounds: Option<u64>,
    /// The collective operation.
    pub collective: String,
    /// Whether every rank got the bits of rank 0.
    pub ranks_agree: bool,
}

impl Row {
    /// The sum, exactly.
    pub fn total(&self) -> f64 {
        f64::from_bits(u64::from_str_radix(&self.bits, 16).unwrap_or(0))
    }
}

/// A job on disk, for `mpi-runner` to read; removed when it is done.
#[derive(Debug)]
pub struct JobFile {
    /// Where it is.
    pub path: PathBuf,
}

impl JobFile {
    /// Writes a job below `target/`.
    pub fn write(job: &impl Serialize) -> Result<Self, Error> {
        let folder = workspace().join("target");
        let failed = |path: &Path, error: io::Error| Error::file(path, error);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        let path = folder.join(format!("mpi-job-{}.json", process::id()));
        let text = serde_json::to_string(job).map_err(|error| Error::Run(error.to_string()))?;
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
        Ok(Self { path })
    }
}

impl Drop for JobFile {
    fn drop(&mut self) {
        // One that stays is no more than a stray file.
        let _ = fs::remove_file(&self.path);
    }
}
