//! Cases on threads, on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::leak::check_with_leaks;
use super::shrink::shrink;
use super::{Campaign, Case, Failure, Findings, check_on_threads};

/// A case that takes longer than this does not end: far more than any takes, also where other processes leave it little time.
const CASE_LIMIT: Duration = Duration::from_secs(600);

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
    /// Runs the cases, and calls `done` after each. If a case does not end, this ends the process.
    pub(super) fn run_on_threads(&self, done: &(dyn Fn() + Sync)) -> Findings {
        let workers = match self.live_bytes {
            // Those of another case would count as well.
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
        let is_one = !self.campaign.is_over() && self.campaign.seeds.contains(&seed);
        is_one.then_some(seed)
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
                Failure { seed, reason, case }
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
                eprintln!("FAILED: --seed {seed} --cases 1: it does not end\n  {case}");
                std::process::exit(1);
            }
        }
    }
}
