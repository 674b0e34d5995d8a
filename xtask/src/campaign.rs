//! `cargo xtask campaign`: random programs with faults, judged by the definition, until one fails or all are done.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use harness::campaign::{Case, FaultKind, check_on_threads, generate, shrink, silence_panics};
use harness::choices::names;
use harness::output::Output;
use harness::{Backend, Error};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// A case that takes longer than this does not end.
const CASE_LIMIT: Duration = Duration::from_secs(20);

/// Options of `campaign`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The seed of the first case; each later case has the next number
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// The number of cases
    #[arg(
        long,
        default_value_t = 1000,
        value_name = "N",
        conflicts_with = "minutes"
    )]
    cases: u64,
    /// Run for this many minutes instead of a number of cases
    #[arg(long, value_name = "M")]
    minutes: Option<u64>,
    /// The most ranks of a case
    #[arg(long, default_value_t = 9, value_name = "P")]
    ranks: usize,
    /// The faults that are put in: leave, panic, caught-panic, wrong-length, give-up, skip, all or none [default: all but skip]
    #[arg(long, value_name = "NAME,…")]
    faults: Option<String>,
    /// Write a JSON object for every failing case, and one for the whole campaign, to a file or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
}

/// A case that failed, as small as it could be made.
#[derive(Serialize)]
struct Failure {
    seed: u64,
    reason: String,
    case: Case,
}

/// The whole campaign.
#[derive(Serialize)]
struct Summary {
    seed: u64,
    cases: u64,
    seconds: f64,
    /// The number of cases by fault; the cases without one are `none`.
    faults: BTreeMap<String, u64>,
    failures: usize,
}

/// Runs the command; true if no case failed.
pub fn run(options: &Options) -> Result<bool, Error> {
    if options.ranks == 0 {
        return Err(Error::option("--ranks", "0 is too few"));
    }
    let mut output = Output::open(options.json.as_deref())?;
    let begin = Instant::now();
    let faults = match options.faults.as_deref() {
        None => FaultKind::DETECTED.to_vec(),
        Some("none") => Vec::new(),
        Some(typed) => names("--faults", typed, FaultKind::ALL, str::parse)?,
    };
    let campaign = Campaign::of(options, faults, begin);
    silence_panics();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for worker in 0..workers {
            let campaign = &campaign;
            scope.spawn(move || campaign.work(worker));
        }
        campaign.watch(begin);
    });
    let Campaign {
        tally, failures, ..
    } = campaign;
    let mut failures = failures.into_inner().expect("no worker panics");
    failures.sort_by_key(|failure| failure.seed);
    let faults = tally.into_inner().expect("no worker panics");
    let summary = Summary {
        seed: options.seed,
        cases: faults.values().fold(0, |total, count| total + count),
        seconds: begin.elapsed().as_secs_f64(),
        faults,
        failures: failures.len(),
    };
    for failure in &failures {
        output.json(failure)?;
        let Failure { seed, reason, case } = failure;
        output.say(format!("FAILED: --seed {seed} --cases 1: {reason}"));
        output.say(format!("  {}", serde_json::to_string(case)?));
    }
    output.json(&summary)?;
    let Summary { cases, seconds, .. } = summary;
    for (fault, count) in &summary.faults {
        output.say(format!("{count:>10} {fault}"));
    }
    output.say(format!(
        "{cases} cases from seed {} in {seconds:.1} s: {}",
        options.seed,
        match failures.len() {
            0 => "every result is the definition's".to_owned(),
            count => format!("{count} failed"),
        }
    ));
    output.finish()?;
    Ok(failures.is_empty())
}

/// What the workers share.
struct Campaign {
    ranks: usize,
    faults: Vec<FaultKind>,
    next: AtomicU64,
    end: u64,
    deadline: Option<Instant>,
    bar: ProgressBar,
    /// The case that each worker runs, and since when.
    running: Vec<Mutex<Option<(u64, Instant)>>>,
    tally: Mutex<BTreeMap<String, u64>>,
    failures: Mutex<Vec<Failure>>,
}

impl Campaign {
    fn of(options: &Options, faults: Vec<FaultKind>, begin: Instant) -> Self {
        let deadline = options
            .minutes
            .map(|minutes| begin + Duration::from_secs(60 * minutes));
        let end = match deadline {
            Some(_) => u64::MAX,
            None => options.seed.saturating_add(options.cases),
        };
        let bar = match deadline {
            Some(_) => ProgressBar::new_spinner(),
            None => ProgressBar::new(options.cases),
        };
        let style = ProgressStyle::with_template("{wide_bar} {pos} cases, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let workers = thread::available_parallelism().map_or(1, usize::from);
        Self {
            ranks: options.ranks,
            faults,
            next: AtomicU64::new(options.seed),
            end,
            deadline,
            bar,
            running: (0..workers).map(|_| Mutex::new(None)).collect(),
            tally: Mutex::default(),
            failures: Mutex::default(),
        }
    }

    /// The next case's seed, if there is one.
    fn next(&self) -> Option<u64> {
        let is_over = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        let seed = self.next.fetch_add(1, Ordering::Relaxed);
        (!is_over && seed < self.end).then_some(seed)
    }

    fn work(&self, worker: usize) {
        let running = |case| *self.running[worker].lock().expect("no worker panics") = case;
        while let Some(seed) = self.next() {
            running(Some((seed, Instant::now())));
            let case = generate(seed, Backend::Threads, self.ranks, &self.faults);
            let fault = case.fault.map_or("none", |fault| fault.kind.name());
            *self
                .tally
                .lock()
                .expect("no worker panics")
                .entry(fault.to_owned())
                .or_default() += 1;
            if check_on_threads(&case).is_some() {
                let case = shrink(&case, |case| check_on_threads(case).is_some());
                let reason = check_on_threads(&case).expect("it fails");
                let mut failures = self.failures.lock().expect("no worker panics");
                failures.push(Failure { seed, reason, case });
            }
            self.bar.inc(1);
        }
        running(None);
    }

    /// Returns when the workers have ended, and ends the process if a case does not.
    fn watch(&self, begin: Instant) {
        let running = || {
            self.running
                .iter()
                .map(|case| *case.lock().expect("no worker panics"))
        };
        loop {
            thread::sleep(Duration::from_millis(20));
            let has_begun = begin.elapsed() > Duration::from_secs(1);
            if has_begun && running().all(|case| case.is_none()) {
                return self.bar.finish_and_clear();
            }
            let endless = running()
                .flatten()
                .find(|(_, since)| since.elapsed() > CASE_LIMIT);
            if let Some((seed, _)) = endless {
                let case = generate(seed, Backend::Threads, self.ranks, &self.faults);
                let case = serde_json::to_string(&case).unwrap_or_default();
                eprintln!("FAILED: --seed {seed} --cases 1: it does not end\n  {case}");
                std::process::exit(1);
            }
        }
    }
}
