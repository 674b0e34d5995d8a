//! Runs many cases and summarises the results.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use comm::text::counted;
use serde::{Deserialize, Serialize};

use super::{Case, Generator};
use crate::output::Output;
use crate::{Error, Place};

/// Cases from consecutive seeds.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// One case for each seed; fewer if the deadline comes first.
    pub seeds: Range<u64>,
    /// No case starts after this time.
    pub deadline: Option<Instant>,
    /// Where the ranks run.
    pub place: Place,
    /// The interposer that MPI ranks load; built from the checkout if none is given.
    pub interposer: Option<PathBuf>,
    /// The generator of cases.
    pub generator: Generator,
    /// Returns the number of bytes that this process has allocated and not freed. If given, cases on threads run one at a time, and fail if they leak.
    pub live_bytes: Option<fn() -> usize>,
}

/// A failed case after shrinking.
#[derive(Clone, Debug, Serialize)]
pub struct FailedCase {
    /// The seed of the original case.
    pub seed: u64,
    /// The failure.
    pub reason: String,
    /// The shrunken case.
    pub case: Case,
}

/// The results of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The number of cases by fault; those without one are `none`.
    pub cases: BTreeMap<String, u64>,
    /// The number of MPI jobs.
    pub jobs: u64,
    /// The cases that failed, by seed.
    pub failures: Vec<FailedCase>,
    /// How long the campaign took.
    pub seconds: f64,
}

impl Campaign {
    /// Runs the cases, and calls `done` after each.
    ///
    /// If a case on threads hangs, this prints it to standard error and ends the process with status 1, since threads cannot be
    /// stopped.
    ///
    /// # Errors
    /// MPI is missing, or does not work.
    pub fn run(&self, done: &(dyn Fn() + Sync)) -> Result<Findings, Error> {
        let begin = Instant::now();
        let mut findings = match &self.place {
            Place::Threads => self.run_on_threads(done),
            Place::Processes(launcher) => self.run_on_processes(launcher, done)?,
        };
        findings.failures.sort_by_key(|failure| failure.seed);
        findings.seconds = begin.elapsed().as_secs_f64();
        Ok(findings)
    }

    /// Whether the deadline has passed.
    pub(super) fn is_over(&self) -> bool {
        let mut deadline = self.deadline.iter();
        deadline.any(|&deadline| Instant::now() >= deadline)
    }

    /// Writes the results: a JSON object for every failure and one for all cases, and the same as text.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write(&self, findings: &Findings, output: &mut Output) -> Result<(), Error> {
        let backend = self.place.backend().name();
        for failure in &findings.failures {
            output.json(failure)?;
            let FailedCase { seed, reason, case } = failure;
            output.say(format!(
                "FAILED: --backend {backend} --seed {seed} --cases 1: {reason}"
            ));
            output.say(format!("  {}", serde_json::to_string(case)?));
        }
        let summary = Summary {
            cases: findings.cases.values().fold(0, |all, count| all + count),
            jobs: findings.jobs,
            seconds: findings.seconds,
            faults: findings.cases.clone(),
            failures: findings.failures.len() as u64,
            ..Summary::of(backend, self.seeds.start)
        };
        summary.write(output)
    }
}

impl Findings {
    /// Counts a case.
    pub(super) fn count(&mut self, case: &Case) {
        let fault = case.fault.map_or("none", |fault| fault.kind.name());
        *self.cases.entry(fault.to_owned()).or_default() += 1;
    }
}

/// The whole campaign: one line of `--json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    backend: String,
    seed: u64,
    cases: u64,
    /// The number of MPI jobs; 0 on threads.
    jobs: u64,
    /// How long it took.
    pub seconds: f64,
    /// The number of cases by fault; the cases without one are `none`.
    faults: BTreeMap<String, u64>,
    /// The number of clusters by trouble, if the cases ran on clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<BTreeMap<String, u64>>,
    /// How many cases have failed.
    pub failures: u64,
}

impl Summary {
    /// An empty summary.
    pub fn of(backend: &str, seed: u64) -> Self {
        Self {
            backend: backend.to_owned(),
            seed,
            ..Self::default()
        }
    }

    /// Adds the cases of another campaign.
    pub fn add(&mut self, part: &Self) {
        self.cases += part.cases;
        self.jobs += part.jobs;
        self.failures += part.failures;
        for (fault, count) in &part.faults {
            *self.faults.entry(fault.clone()).or_default() += count;
        }
    }

    /// Writes it as JSON and as text.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, output: &mut Output) -> Result<(), Error> {
        output.json(self)?;
        for (fault, count) in &self.faults {
            output.say(format!("{count:>10} {fault}"));
        }
        for (trouble, count) in self.clusters.iter().flatten() {
            output.say(format!("{count:>10} clusters: {trouble}"));
        }
        let in_jobs = match self.jobs {
            0 => String::new(),
            jobs => format!(" in {}", counted(jobs, "job")),
        };
        let result = match self.failures {
            0 => "every result is the definition's".to_owned(),
            count => format!("{count} failed"),
        };
        let (backend, cases) = (&self.backend, counted(self.cases, "case"));
        let (seed, seconds) = (self.seed, self.seconds);
        output.say(format!(
            "{backend}: {cases}{in_jobs} from seed {seed} in {seconds:.1} s: {result}"
        ));
        Ok(())
    }
}
