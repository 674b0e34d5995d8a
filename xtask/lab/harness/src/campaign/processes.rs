//! Runs cases on processes: jobs of `mpirun` with many cases each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, process};

use checkout::files;
use checkout::workspace::{cargo, libraries, target};
use launch::Launcher;
use serde::{Deserialize, Serialize};

use super::execute::execute;
use super::judge::{Judge, shrink};
use super::{Campaign, Case, FailedCase, Findings, started};
use crate::Error;
use crate::ranks::on_processes;

/// How many seeds are turned into jobs at a time.
const CHUNK: u64 = 200;

/// The time limit of a case. Each wait for a missing rank takes a second.
const CASE_LIMIT: Duration = Duration::from_secs(90);

/// How long a job may take to end when a rank panics or is killed.
const ENDING_LIMIT: Duration = Duration::from_secs(10);

/// The time limit for shrinking a failing case.
const SHRINKING_LIMIT: Duration = Duration::from_secs(60);

/// A job for the ranks.
#[derive(Debug, Serialize, Deserialize)]
pub struct Cases {
    /// The cases with their seeds, all on the same number of ranks. Only the last one may end the job.
    pub(super) cases: Vec<(u64, Case)>,
    /// A file that rank 0 creates before a case that ends the job. A launcher need not deliver the output of such a job:
    /// MPICH's discards it.
    pub(super) last_begins: PathBuf,
    /// The interposer, whose functions a rank calls.
    pub(super) interposer: PathBuf,
}

/// A rank's report about the cases of a job.
#[derive(Debug, Serialize, Deserialize)]
pub enum CaseReport {
    /// All ranks are about to run the case with this number. Only rank 0 reports this.
    Begins(usize),
    /// The failure of the case with this number.
    Wrong(usize, String),
}

impl Campaign {
    /// Runs the cases in jobs and calls `done` after each.
    pub(super) fn run_on_processes(
        &self,
        launcher: &Launcher,
        done: &dyn Fn(),
    ) -> Result<Findings, Error> {
        let jobs = Jobs {
            launcher: launcher.clone().with_limit(CASE_LIMIT),
            interposer: match &self.interposer {
                Some(file) => file.clone(),
                None => interposer()?,
            },
            done,
        };
        let mut findings = Findings::default();
        let mut seeds = self.seeds.clone();
        while !seeds.is_empty() {
            let chunk = seeds.start..seeds.end.min(seeds.start.saturating_add(CHUNK));
            seeds.start = chunk.end;
            let mut by_ranks: BTreeMap<usize, Vec<(u64, Case)>> = BTreeMap::new();
            for seed in chunk {
                let case = self.generator.case(seed);
                by_ranks.entry(case.ranks).or_default().push((seed, case));
            }
            for cases in by_ranks.values() {
                // A case in which a rank panics or is killed ends the job, so it is the last of its job.
                for cases in cases.split_inclusive(|(_, case)| case.ends_job()) {
                    jobs.judge(cases, &mut findings)?;
                }
            }
        }
        Ok(findings)
    }
}

struct Jobs<'d> {
    launcher: Launcher,
    interposer: PathBuf,
    done: &'d dyn Fn(),
}

impl Jobs<'_> {
    /// Runs all cases, in as many jobs as necessary.
    fn judge(&self, mut cases: &[(u64, Case)], findings: &mut Findings) -> Result<(), Error> {
        while !cases.is_empty() {
            let (count, wrong) = self.run_once(cases)?;
            findings.summary.jobs += 1;
            for (index, (seed, case)) in cases[..count].iter().enumerate() {
                findings.count(case);
                (self.done)();
                if let Some(reason) = wrong.get(&index) {
                    let (case, reason) = self.shrink(case, reason);
                    let seed = *seed;
                    findings.failures.push(FailedCase { seed, reason, case });
                }
            }
            cases = &cases[count..];
        }
        Ok(())
    }

    fn shrink(&self, case: &Case, reason: &str) -> (Case, String) {
        let begin = Instant::now();
        shrink(case.clone(), reason.to_owned(), |case| {
            let case = [(0, case.clone())];
            let ended = (begin.elapsed() < SHRINKING_LIMIT).then(|| self.run_once(&case));
            ended?.ok()?.1.remove(&0)
        })
    }

    /// Runs one job. Returns the number of cases that ran, and the failures.
    fn run_once(&self, cases: &[(u64, Case)]) -> Result<(usize, BTreeMap<usize, String>), Error> {
        let ranks = cases[0].1.ranks;
        let last_begins = target()?.join(format!("campaign-{}", process::id()));
        let job = Cases {
            cases: cases.to_vec(),
            last_begins: last_begins.clone(),
            interposer: self.interposer.clone(),
        };
        let mut wrong = BTreeMap::new();
        let mut running: Option<usize> = None;
        let mut since = Instant::now();
        let sort = |report| match report {
            CaseReport::Begins(index) => (running, since) = (Some(index), Instant::now()),
            CaseReport::Wrong(index, reason) => drop(wrong.entry(index).or_insert(reason)),
        };
        let ended = on_processes(&self.launcher, ranks, "campaign", &job, sort);
        let mut lasted = since.elapsed();
        if let Some(since_mark) = take_mark(&last_begins)? {
            running = Some(cases.len() - 1);
            lasted = since_mark;
        }
        let Some(running) = running else {
            ended?;
            return Err(Error::Mpi("a job ended before its first case".to_owned()));
        };
        let is_last_word = cases[running].1.ends_job();
        let unexpected = match ended {
            Ok(()) if is_last_word => Some("no rank has ended the job".to_owned()),
            Err(_) if is_last_word && lasted > ENDING_LIMIT => {
                Some(format!("the job ended only after {lasted:?}"))
            }
            Err(error) if !is_last_word => Some(error.to_string()),
            _ => None,
        };
        if let Some(reason) = unexpected {
            wrong.entry(running).or_insert(reason);
        }
        Ok((running + 1, wrong))
    }
}

/// Builds the interposer. Returns its path.
fn interposer() -> Result<PathBuf, Error> {
    let words = "build --release --package treefold-pmpi";
    let advice = "does `cargo build -p treefold-pmpi` work?";
    let (built, _) = libraries(cargo().args(words.split_whitespace()), advice)?;
    let file = built.iter().find_map(|library| library.file("so"));
    let file = file.ok_or_else(|| Error::Mpi("cargo built no interposer".to_owned()))?;
    Ok(file.to_owned())
}

/// Removes the file at `path`, if there is one. Returns its age.
fn take_mark(path: &Path) -> Result<Option<Duration>, Error> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(None);
    };
    let fault = |error| Error::file(path, error);
    let made = metadata.modified().map_err(fault)?;
    fs::remove_file(path).map_err(fault)?;
    // If the clock was set back, the age is 0.
    Ok(Some(made.elapsed().unwrap_or_default()))
}

/// Runs the cases of a job on this rank and reports. Collective.
///
/// # Errors
/// MPI fails, or the file of the last case cannot be created.
pub fn run_cases(job: &Cases, report: &dyn Fn(CaseReport)) -> Result<(), Error> {
    started::load(&job.interposer)?;
    for (index, (_, case)) in job.cases.iter().enumerate() {
        // The ranks synchronise here, whatever the outcome of the previous case. The new world has none of that case's messages.
        let world = reduce::mpi::world()?;
        if world.rank() == 0 {
            report(CaseReport::Begins(index));
        }
        if case.ends_job() {
            if world.rank() == 0 {
                files::write(&job.last_begins, [])?;
            }
            reduce::mpi::world()?;
        }
        let mut judge = Judge::new(case, world.rank());
        execute(case, &world, &mut |outcome| {
            if let Some(reason) = judge.next(&outcome) {
                report(CaseReport::Wrong(index, reason));
            }
        });
        if let Some(reason) = judge.end() {
            report(CaseReport::Wrong(index, reason));
        }
    }
    // No rank may leave while another one is in its last case.
    reduce::mpi::world()?;
    Ok(())
}
