//! Runs many cases, and summarises the results.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use comm::text::counted;
use serde::{Deserialize, Serialize};

use super::judge::shrink;
use super::{Case, Generator, NO_PANIC, check_on_threads};
use crate::output::Output;
use crate::{Error, Place};

/// Cases from consecutive seeds.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// One case for each seed.
    pub seeds: Range<u64>,
    /// Where the ranks run.
    pub place: Place,
    /// The interposer that MPI ranks load; built from the checkout if none is given.
    pub interposer: Option<PathBuf>,
    /// The generator of cases.
    pub generator: Generator,
    /// A function that returns how many bytes this process holds. If given, cases on threads run one at a time, and fail if they leak memory.
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
    /// The numbers of cases.
    pub(super) summary: Summary,
    /// The cases that failed, by seed.
    pub failures: Vec<FailedCase>,
}

impl Campaign {
    /// Runs the cases and calls `done` after each.
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
        let Findings { summary, failures } = &mut findings;
        failures.sort_by_key(|failure| failure.seed);
        summary.backend = self.place.backend().name().to_owned();
        summary.seed = self.seeds.start;
        summary.seconds = begin.elapsed().as_secs_f64();
        summary.failures = failures.len() as u64;
        Ok(findings)
    }

    /// Writes the results as JSON, with an object for every failure and one for all cases, and as text.
    ///
    /// # Errors
    /// The results cannot be written.
    pub fn write(&self, findings: &Findings, output: &mut Output) -> Result<(), Error> {
        let Summary { backend, .. } = &findings.summary;
        for failure in &findings.failures {
            output.json(failure)?;
            let FailedCase { seed, reason, case } = failure;
            output.say(format!(
                "FAILED: --backend {backend} --seed {seed} --cases 1: {reason}"
            ));
            output.say(format!("  {}", serde_json::to_string(case)?));
        }
        findings.summary.write(output)
    }
}

impl Findings {
    /// Counts a case.
    pub(super) fn count(&mut self, case: &Case) {
        let fault = case.fault.map_or("none", |fault| fault.kind.name());
        self.summary.cases += 1;
        *self.summary.faults.entry(fault.to_owned()).or_default() += 1;
    }
}

/// The summary of a campaign, which is one line of `--json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    backend: String,
    seed: u64,
    cases: u64,
    /// The number of MPI jobs; 0 on threads.
    pub(super) jobs: u64,
    /// The duration of the campaign.
    pub seconds: f64,
    /// The number of cases with each fault. Cases without a fault are under `none`.
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

    /// Writes the summary as JSON and as text.
    ///
    /// # Errors
    /// The summary cannot be written.
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
            0 => "every result equals the definition's".to_owned(),
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

/// The time limit of a case, far longer than any case takes even on a busy machine.
const CASE_LIMIT: Duration = Duration::from_secs(600);

/// The state that workers share.
struct Shared<'c> {
    campaign: &'c Campaign,
    next: AtomicU64,
    findings: Mutex<Findings>,
    /// The case that each worker runs, and since when; `None` after the worker's last case.
    running: Vec<Mutex<Option<(u64, Instant)>>>,
}

impl Campaign {
    /// Runs the cases on all cores, or one at a time to find memory leaks. If a case does not end, this ends the process.
    fn run_on_threads(&self, done: &(dyn Fn() + Sync)) -> Findings {
        let workers = match self.live_bytes {
            // Cases run one at a time, because the memory of others would count as well.
            Some(_) => 1,
            None => thread::available_parallelism().map_or(1, usize::from),
        };
        let begin = Some((self.seeds.start, Instant::now()));
        let shared = Shared {
            campaign: self,
            next: AtomicU64::new(self.seeds.start),
            findings: Mutex::default(),
            running: (0..workers).map(|_| Mutex::new(begin)).collect(),
        };
        thread::scope(|scope| {
            for running in &shared.running {
                let shared = &shared;
                scope.spawn(move || shared.work(running, done));
            }
            shared.watch();
        });
        shared.findings.into_inner().expect(NO_PANIC)
    }
}

impl Shared<'_> {
    /// The next case's seed, if there is one.
    fn next(&self) -> Option<u64> {
        let seed = self.next.fetch_add(1, Ordering::Relaxed);
        self.campaign.seeds.contains(&seed).then_some(seed)
    }

    fn work(&self, running: &Mutex<Option<(u64, Instant)>>, done: &(dyn Fn() + Sync)) {
        while let Some(seed) = self.next() {
            let check = |case: &Case| {
                *running.lock().expect(NO_PANIC) = Some((seed, Instant::now()));
                match self.campaign.live_bytes {
                    Some(live_bytes) => check_with_leaks(case, live_bytes),
                    None => check_on_threads(case),
                }
            };
            let case = self.campaign.generator.case(seed);
            let failure = check(&case).map(|reason| {
                let (case, reason) = shrink(case.clone(), reason, check);
                FailedCase { seed, reason, case }
            });
            let mut findings = self.findings.lock().expect(NO_PANIC);
            findings.count(&case);
            findings.failures.extend(failure);
            done();
        }
        *running.lock().expect(NO_PANIC) = None;
    }

    /// Returns when all workers have ended.
    fn watch(&self) {
        let running = || {
            let cases = self.running.iter();
            cases.filter_map(|case| *case.lock().expect(NO_PANIC))
        };
        while running().next().is_some() {
            thread::sleep(Duration::from_millis(20));
            let endless = running().find(|(_, since)| since.elapsed() > CASE_LIMIT);
            if let Some((seed, _)) = endless {
                let case = self.campaign.generator.case(seed);
                let case = serde_json::to_string(&case).unwrap_or_default();
                eprintln!("FAILED: --seed {seed} --cases 1: the case hangs\n  {case}");
                std::process::exit(1);
            }
        }
    }
}

/// How often a case runs to find a leak. A leak occurs in every run; a growing cache, or memory that an ending thread frees late, does not.
const RUNS: usize = 4;

/// How often to check again, a millisecond later, whether ended threads have freed their memory.
const LOOKS: usize = 20;

/// The failure of a case, if any, or a leak. `live_bytes` returns the number of bytes that this process holds; nothing else may
/// run meanwhile.
fn check_with_leaks(case: &Case, live_bytes: fn() -> usize) -> Option<String> {
    let mut kept_bytes = 0;
    for _ in 0..RUNS {
        let before = live_bytes();
        let wrong = check_on_threads(case);
        if wrong.is_some() {
            return wrong;
        }
        kept_bytes = kept_after(before, live_bytes)?;
    }
    Some(format!(
        "each run leaks; the last one leaked {}",
        counted(kept_bytes, "byte")
    ))
}

/// How many more bytes the process holds than before; `None` if it holds no more.
fn kept_after(before: usize, live_bytes: fn() -> usize) -> Option<usize> {
    let more = || live_bytes().checked_sub(before).filter(|&kept| kept > 0);
    for _ in 0..LOOKS {
        more()?;
        thread::sleep(Duration::from_millis(1));
    }
    more()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::check_with_leaks;
    use crate::Backend;
    use crate::campaign::{FaultKind, Generator};

    /// A fake process that leaks a byte at each query.
    fn growing() -> usize {
        static LIVE: AtomicUsize = AtomicUsize::new(0);
        LIVE.fetch_add(1, Ordering::Relaxed)
    }

    #[test]
    fn what_grows_with_each_run_is_a_leak() {
        let case = Generator::new(Backend::Threads, Some(3), &[FaultKind::Sleep]).case(1);
        assert!(check_with_leaks(&case, growing).is_some());
        assert_eq!(check_with_leaks(&case, || 7), None);
    }
}
