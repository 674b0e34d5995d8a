//! The measured loops: everything that is compared is measured in one run, turn by turn.

pub mod kernels;
pub mod lookup;
pub mod parallel;
pub mod plot;
pub mod reduce;
pub mod schedules;
pub mod timing;

use std::sync::Mutex;

use comm::{Communicator, threads};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::choices::Backend;
use crate::job::JobFile;
use crate::launcher::Launcher;

/// One variant against one reference: one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `kernels`, `parallel`, `lookup` or `reduce`.
    pub bench: String,
    /// What was measured.
    pub variant: String,
    /// The number of items, N; for `lookup` the number of ranks that are looked up.
    pub n: u64,
    /// The number of ranks, p.
    pub ranks: usize,
    /// `threads` or `mpi`.
    pub backend: String,
    /// How the items are spread, where there are ranks.
    pub distribution: Option<String>,
    /// The median time of one call, in nanoseconds.
    pub median_ns: f64,
    /// The rate at which items are read, in 10^9 bytes a second; null where none are.
    pub gbps: Option<f64>,
    /// For `kernels`, `parallel` and `lookup` a speed (the reference's time over this one's); for `reduce` a time (this one's over the
    /// reference's).
    pub ratio: f64,
    /// What it is compared with.
    pub reference: String,
}

/// Measures a job on a backend's ranks, by the runner's `command` under MPI; whatever rank 0 tells goes to `sort`.
pub fn on_ranks<J, R>(
    backend: Backend,
    ranks: usize,
    command: &str,
    job: &J,
    run: impl Fn(&dyn Communicator, Backend, &J, &dyn Fn(R)) -> Result<(), Error> + Sync,
    mut sort: impl FnMut(R),
) -> Result<(), Error>
where
    J: Serialize + Sync,
    R: DeserializeOwned + Send,
{
    if backend == Backend::Mpi {
        let launcher = Launcher::build()?;
        let file = JobFile::write(job)?;
        return launcher.run(ranks, &[command, &file.path.to_string_lossy()], |line| {
            let report = serde_json::from_str(line);
            sort(report.map_err(|error| Error::Mpi(format!("`{line}`: {error}")))?);
            Ok(())
        });
    }
    let reports = Mutex::new(Vec::new());
    let report = |report| reports.lock().expect("no report panics").push(report);
    let done = threads::run(ranks, |comm| run(comm, backend, job, &report));
    for rank in done.map_err(|error| Error::Run(error.to_string()))? {
        rank?;
    }
    let reports = reports.into_inner().expect("no report panics");
    reports.into_iter().for_each(sort);
    Ok(())
}
