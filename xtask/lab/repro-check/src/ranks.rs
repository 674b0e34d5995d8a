//! Runs a job on ranks. These are threads of this process, or other processes of this program, which read the job from a file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, fs, process};

use checkout::files;
use checkout::workspace::target;
use comm::text::tell;
use launch::{Installation, Launcher, MpiOptions};
use reduce::{World, mpi, threads};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::matrix::{self, Items};
use crate::{Backend, Error};

/// The first argument of a program that [`launcher`] starts as a rank. The words of the rank's job follow.
pub const RANK_WORD: &str = "mpi-runner";

/// A launcher that starts this program as ranks.
///
/// # Errors
/// MPI is missing.
pub fn launcher(installation: Installation) -> Result<Launcher, Error> {
    Ok(Launcher::of_this_program(installation, RANK_WORD)?)
}

/// Where ranks run.
#[derive(Clone, Debug)]
pub enum Place {
    /// Threads of this process.
    Threads,
    /// Processes that an MPI library's launcher starts.
    Processes(Launcher),
}

impl Place {
    /// The place of a backend; under MPI, ranks are processes of this program.
    ///
    /// # Errors
    /// MPI is missing.
    pub fn ready(backend: Backend, installation: &Installation) -> Result<Self, Error> {
        Ok(match backend {
            Backend::Threads => Place::Threads,
            Backend::Mpi => Place::Processes(launcher(installation.clone())?),
        })
    }

    /// The place of a backend, with MPI options.
    ///
    /// # Errors
    /// The options do not apply, or MPI is missing.
    pub fn chosen(backend: Backend, options: &MpiOptions) -> Result<Self, Error> {
        options.check_use(backend == Backend::Mpi)?;
        Self::ready(backend, &options.installation()?)
    }

    /// The backend of the ranks.
    pub fn backend(&self) -> Backend {
        match self {
            Place::Threads => Backend::Threads,
            Place::Processes(_) => Backend::Mpi,
        }
    }
}

/// Runs a job on a place's ranks: calls `run` on threads, or, under MPI, starts ranks with `command`. Reports of ranks go to `sort`.
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

/// Calls `run` on threads and returns the ranks' reports.
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

/// Runs a job on processes, which get `command` and the job's file as arguments. Reports of rank 0 go to `sort` as they arrive.
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

/// A file with a job for ranks to read; removed on drop.
#[derive(Debug)]
struct JobFile {
    /// The file's path.
    path: PathBuf,
}

impl JobFile {
    /// Writes a job to a file below `target/`. The file's name contains the time, since processes of two containers may have the same id.
    fn write(job: &impl Serialize) -> Result<Self, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ns = now.map_or(0, |since| since.as_nanos());
        let name = format!("mpi-job-{}-{now_ns}.json", process::id());
        let path = target()?.join(name);
        files::write(&path, serde_json::to_string(job)?)?;
        Ok(Self { path })
    }
}

impl Drop for JobFile {
    fn drop(&mut self) {
        // A file that cannot be removed does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

/// The silence limit of ranks. It is longer than any rank computes in these jobs, even if many ranks share a core.
const SILENCE_LIMIT: Duration = Duration::from_secs(300);

/// If this program was started as a rank, runs the rank: `run` gets the words of the job.
pub fn take_part(run: impl FnOnce(&World, &[&str]) -> Result<(), Error>) -> Option<ExitCode> {
    if env::args_os().nth(1).is_none_or(|word| word != RANK_WORD) {
        return None;
    }
    let run = |world: &World| {
        world.set_silence_limit(SILENCE_LIMIT);
        let words: Vec<String> = env::args().skip(2).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match run(world, &words) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Ends the other ranks, too, because they may wait for this rank in a call.
                mpi::abort(2, &format!("{RANK_WORD}: rank {}: {error}", world.rank()));
                ExitCode::from(2)
            }
        }
    };
    Some(match mpi::run(run) {
        Ok(code) => code,
        Err(error) => {
            tell(&format!("{RANK_WORD}: {error}"));
            ExitCode::from(2)
        }
    })
}

/// Reads a rank's job.
pub fn read_job<J: DeserializeOwned>(path: &str) -> Result<J, Error> {
    let path = Path::new(path);
    serde_json::from_str(&files::read(path)?).map_err(|error| Error::file(path, error))
}

/// Prints a row as JSON. A row has only numbers and names, which JSON can always represent.
pub fn print_row(row: &impl Serialize) {
    let line = serde_json::to_string(row).expect("a row is plain data");
    println!("{line}");
}

/// Runs rows of the reproducibility matrix on a rank under MPI.
pub fn check(world: &World, job: &str) -> Result<(), Error> {
    let job = read_job(job)?;
    matrix::check_all(world, Backend::Mpi, &job, Items::OnRankZero, &|row| {
        print_row(&row)
    })
}
