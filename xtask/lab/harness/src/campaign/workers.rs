//! Runs cases on threads, on all cores; or one at a time, to find memory leaks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use comm::text::counted;

use super::judge::shrink;
use super::{Campaign, Case, FailedCase, Findings, check_on_threads};

/// The time limit of a case: far longer than any case takes, even on a busy machine.
const CASE_LIMIT: Duration = Duration::from_secs(600);

/// The state that workers share.
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
            // One case at a time: otherwise memory of other cases would count as well.
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
                eprintln!("FAILED: --seed {seed} --cases 1: it does not end\n  {case}");
                std::process::exit(1);
            }
        }
    }
}

/// The number of repetitions: a leak occurs each time, unlike growing caches or memory that ending threads free late.
const RUNS: usize = 4;

/// How often to wait for an ended thread to free its memory.
const LOOKS: usize = 20;

/// The failure of a case, if any, or a leak. `live_bytes` returns the number of bytes that this process holds; nothing else may
/// run meanwhile.
pub(super) fn check_with_leaks(case: &Case, live_bytes: fn() -> usize) -> Option<String> {
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
        "each run leaks: the last one {}",
        counted(kept_bytes, "byte")
    ))
}

/// The number of bytes that the process keeps in addition to before; `None` if there are none.
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
