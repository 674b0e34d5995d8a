//! Many cases, on all cores.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{Case, FaultKind, check_on_threads, generate, shrink};
use crate::Backend;

/// A case that takes longer than this does not end.
const CASE_LIMIT: Duration = Duration::from_secs(20);

/// Cases on threads, from consecutive seeds.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// A case for each; fewer, if the deadline comes first.
    pub seeds: Range<u64>,
    /// No case begins after it.
    pub deadline: Option<Instant>,
    /// The most ranks of a case.
    pub ranks_max: usize,
    /// The faults that may be put in.
    pub faults: Vec<FaultKind>,
}

/// A case that failed, as small as it could be made.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// It makes the case, before steps were left out.
    pub seed: u64,
    /// What is wrong.
    pub reason: String,
    /// What is left of the case.
    pub case: Case,
}

/// What came of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The number of cases by fault; those without one are `none`.
    pub cases: BTreeMap<&'static str, u64>,
    /// The cases that failed, by seed.
    pub failures: Vec<Failure>,
}

/// What the workers share.
struct Shared<'c> {
    campaign: &'c Campaign,
    next: AtomicU64,
    findings: Mutex<Findings>,
    /// The case that each worker runs, and since when; `None` after its last.
    running: Vec<Mutex<Option<(u64, Instant)>>>,
}

const NO_PANIC: &str = "no worker panics";

impl Campaign {
    /// Runs the cases, and calls `done` after each.
    ///
    /// If a case does not end, this prints it to standard error and ends the process with status 1: its threads cannot be stopped.
    pub fn run(&self, done: &(dyn Fn() + Sync)) -> Findings {
        let workers = thread::available_parallelism().map_or(1, usize::from);
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
        let mut findings = shared.findings.into_inner().expect(NO_PANIC);
        findings.failures.sort_by_key(|failure| failure.seed);
        findings
    }

    fn case(&self, seed: u64) -> Case {
        generate(seed, Backend::Threads, self.ranks_max, &self.faults)
    }
}

impl Shared<'_> {
    /// The next case's seed, if there is one.
    fn next(&self) -> Option<u64> {
        let Campaign {
            seeds, deadline, ..
        } = self.campaign;
        let is_over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let seed = self.next.fetch_add(1, Ordering::Relaxed);
        (!is_over && seeds.contains(&seed)).then_some(seed)
    }

    fn work(&self, running: &Mutex<Option<(u64, Instant)>>, done: &(dyn Fn() + Sync)) {
        while let Some(seed) = self.next() {
            *running.lock().expect(NO_PANIC) = Some((seed, Instant::now()));
            let case = self.campaign.case(seed);
            let fault = case.fault.map_or("none", |fault| fault.kind.name());
            let failure = check_on_threads(&case).map(|_| {
                let case = shrink(&case, |case| check_on_threads(case).is_some());
                let reason = check_on_threads(&case).expect("the smallest case fails");
                Failure { seed, reason, case }
            });
            let mut findings = self.findings.lock().expect(NO_PANIC);
            *findings.cases.entry(fault).or_default() += 1;
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
                let case = serde_json::to_string(&self.campaign.case(seed)).unwrap_or_default();
                eprintln!("FAILED: --seed {seed} --cases 1: it does not end\n  {case}");
                std::process::exit(1);
            }
        }
    }
}
