//! Running a job on the ranks of a backend: threads of this process, or `mpi-runner` under `mpirun`, which gets it as a file.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::Mutex;

use reduce::{World, threads};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::launcher::Launcher;
use crate::workspace::target;
use crate::{Backend, Error};

/// Measures a job on a backend's ranks, by the runner's `command` under MPI; whatever rank 0 reports goes to `sort`.
pub fn on_ranks<J, R>(
    backend: Backend,
    ranks: usize,
    command: &str,
    job: &J,
    run: impl Fn(&World, Backend, &J, &dyn Fn(R)) -> Result<(), Error> + Sync,
    sort: impl FnMut(R),
) -> Result<(), Error>
where
    J: Serialize + Sync,
    R: DeserializeOwned + Send,
{
    if backend == Backend::Mpi {
        return on_processes(&Launcher::build()?, ranks, command, job, sort);
    }
    let reports = on_threads(ranks, |world, report| run(world, backend, job, report))?;
    reports.into_iter().for_each(sort);
    Ok(())
}

/// Runs `run` on threads, and returns whatever rank 0 reports.
pub fn on_threads<R: Send>(
    ranks: usize,
    run: impl Fn(&World, &dyn Fn(R)) -> Result<(), Error> + Sync,
) -> Result<Vec<R>, Error> {
    let reports = Mutex::new(Vec::new());
    let report = |report| reports.lock().expect("no report panics").push(report);
    let done = threads::run(ranks, |world| {
        run(world, &report).map_err(|error| (world.rank(), error))
    });
    let done = done.map_err(|error| Error::Run(format!("p = {ranks}: {error}")))?;
    for rank in done {
        rank.map_err(|(rank, error)| Error::Run(format!("p = {ranks}, rank {rank}: {error}")))?;
    }
    Ok(reports.into_inner().expect("no report panics"))
}

/// Runs a job by the runner's `command` under `mpirun`; whatever rank 0 reports goes to `sort` as it arrives.
pub fn on_processes<R: DeserializeOwned>(
    launcher: &Launcher,
    ranks: usize,
    command: &str,
    job: &impl Serialize,
    mut sort: impl FnMut(R),
) -> Result<(), Error> {
    let file = JobFile::write(job)?;
    launcher.run(ranks, &[command, &file.path.to_string_lossy()], |line| {
        let report = serde_json::from_str(line);
        sort(report.map_err(|error| Error::Mpi(format!("`{line}`: {error}")))?);
        Ok(())
    })
}

/// A job on disk, for `mpi-runner` to read; removed when it is done.
#[derive(Debug)]
struct JobFile {
    /// Where it is.
    path: PathBuf,
}

impl JobFile {
    /// Writes a job below `target/`.
    fn write(job: &impl Serialize) -> Result<Self, Error> {
        let path = target()?.join(format!("mpi-job-{}.json", process::id()));
        let text = serde_json::to_string(job)?;
        fs::write(&path, text).map_err(|error| Error::file(&path, error))?;
        Ok(Self { path })
    }
}

impl Drop for JobFile {
    fn drop(&mut self) {
        // One that stays is no more than a stray file.
        let _ = fs::remove_file(&self.path);
    }
}
