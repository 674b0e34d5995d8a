//! Running a job on the ranks of a place: threads of this process, or processes of this program, which get it as a file.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use reduce::{World, threads};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Backend, Error};
use checkout::workspace::target;
use launch::{Installation, Launcher, MpiOptions};

/// The word by which a program of the lab is a rank, as [`launcher`] starts it; its job follows.
pub const RANK_WORD: &str = "mpi-runner";

/// What starts ranks of this program.
///
/// # Errors
/// MPI is missing.
pub fn launcher(installation: Installation) -> Result<Launcher, Error> {
    Ok(Launcher::of_this_program(installation, RANK_WORD)?)
}

/// Where ranks live, ready to run them.
#[derive(Clone, Debug)]
pub enum Place {
    /// Threads of this process.
    Threads,
    /// Processes that an MPI library's launcher starts.
    Processes(Launcher),
}

impl Place {
    /// Of a backend; under MPI, ranks are processes of this program.
    ///
    /// # Errors
    /// MPI is missing.
    pub fn ready(backend: Backend, installation: &Installation) -> Result<Self, Error> {
        Ok(match backend {
            Backend::Threads => Place::Threads,
            Backend::Mpi => Place::Processes(launcher(installation.clone())?),
        })
    }

    /// Of a backend, by these options.
    ///
    /// # Errors
    /// They are of no use, or MPI is missing.
    pub fn chosen(backend: Backend, options: &MpiOptions) -> Result<Self, Error> {
        options.check_use(backend == Backend::Mpi)?;
        Self::ready(backend, &options.installation()?)
    }

    /// Its backend.
    pub fn backend(&self) -> Backend {
        match self {
            Place::Threads => Backend::Threads,
            Place::Processes(_) => Backend::Mpi,
        }
    }
}

/// Measures a job on a place's ranks, by the rank's `command` under MPI; whatever ranks report goes to `sort`.
pub fn on_ranks<J, R>(
    place: &Place,
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
    match place {
        Place::Processes(launcher) => on_processes(launcher, ranks, command, job, sort),
        Place::Threads => {
            let run = |world: &World, report: &dyn Fn(R)| run(world, Backend::Threads, job, report);
            on_threads(ranks, run)?.into_iter().for_each(sort);
            Ok(())
        }
    }
}

/// Runs `run` on threads, and returns whatever ranks report.
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

/// Runs a job by the rank's `command` on processes; whatever rank 0 reports goes to `sort` as it arrives.
pub fn on_processes<R: DeserializeOwned>(
    launcher: &Launcher,
    ranks: usize,
    command: &str,
    job: &impl Serialize,
    mut sort: impl FnMut(R),
) -> Result<(), Error> {
    let file = JobFile::write(job)?;
    launcher.launch(ranks, &[command, &file.path.to_string_lossy()], |line| {
        let report = serde_json::from_str(line);
        sort(report.map_err(|error| Error::Mpi(format!("`{line}`: {error}")))?);
        Ok(())
    })
}

/// A job on disk, for ranks to read; removed when it is done.
#[derive(Debug)]
struct JobFile {
    /// Where it is.
    path: PathBuf,
}

impl JobFile {
    /// Writes a job below `target/`. The time is in its name, as processes of two containers may have the same number.
    fn write(job: &impl Serialize) -> Result<Self, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ns = now.map_or(0, |since| since.as_nanos());
        let name = format!("mpi-job-{}-{now_ns}.json", process::id());
        let path = target()?.join(name);
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
