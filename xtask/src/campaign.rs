//! `cargo xtask campaign`: runs random programs with injected faults and compares every result with the definition.

mod cluster;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use checkout::names;
use checkout::progress::Progress;
use clap::{Args, value_parser};
use harness::campaign::{Campaign, FaultKind, Generator, silence_panics};
use harness::output::Output;
use harness::{Backend, Error, Place};
use launch::MpiOptions;

/// Options of `campaign`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The seed of the first case; each further case adds 1
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// The number of cases
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    cases: u64,
    /// Run for this many minutes instead of a number of cases
    #[arg(long, value_name = "M", value_parser = value_parser!(u64).range(1..))]
    minutes: Option<u64>,
    /// How ranks run: threads, mpi, all (both), or cluster (MPI on virtual clusters whose networks also have faults)
    #[arg(long, default_value = "threads", value_name = "NAME")]
    backend: String,
    #[command(flatten)]
    mpi: MpiOptions,
    /// The most ranks of a case [default: 9 on threads, 5 under MPI]
    #[arg(long, value_name = "P")]
    ranks: Option<NonZeroUsize>,
    /// Which faults to inject: names from docs/testing.md, all or none [default: all]
    #[arg(long, value_name = "NAME,…")]
    faults: Option<String>,
    /// Fail cases on threads that leak memory; cases then run one at a time
    #[arg(long)]
    leaks: bool,
    /// The libtreefold_pmpi.so that MPI ranks load [default: built here]
    #[arg(long, value_name = "FILE")]
    interposer: Option<PathBuf>,
    /// Write a JSON object for each failing case and each backend to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
}

/// Runs the command; true if no case failed.
///
/// `live_bytes` returns how many bytes this process has allocated and not freed.
pub fn run(options: &Options, live_bytes: fn() -> usize) -> Result<bool, Error> {
    let faults = match options.faults.as_deref() {
        None => FaultKind::ALL.to_vec(),
        Some("none") => Vec::new(),
        Some(typed) => names("--faults", typed, FaultKind::ALL, str::parse)?,
    };
    let backends = match Backend::parse(&options.backend) {
        _ if options.backend == cluster::NAME => Vec::new(),
        Err(Error::Checkout(checkout::Error::Option { option, reason })) => {
            let reason = format!("{reason}, {}", cluster::NAME);
            return Err(Error::option(option, reason));
        }
        backends => backends?,
    };
    if options.leaks && backends != [Backend::Threads] {
        let reason = "it looks at this process only: --backend threads";
        return Err(Error::option("--leaks", reason));
    }
    let mut output = Output::open(options.json.as_deref())?;
    let mut is_sound = true;
    silence_panics();
    if backends.is_empty() {
        let progress = options.progress(cluster::NAME);
        let (seeds, deadline) = (options.seeds(), options.deadline());
        let done = |cases| progress.advance(cases);
        is_sound = cluster::run(options, seeds, deadline, &mut output, &done)?;
    } else {
        options.mpi.check_use(backends.contains(&Backend::Mpi))?;
    }
    for backend in backends {
        let campaign = Campaign {
            seeds: options.seeds(),
            deadline: options.deadline(),
            place: Place::ready(backend, &options.mpi.installation()?)?,
            interposer: options.interposer.clone(),
            generator: Generator::new(backend, options.ranks.map(usize::from), &faults),
            live_bytes: options.leaks.then_some(live_bytes),
        };
        let progress = options.progress(backend.name());
        let findings = campaign.run(&|| progress.advance(1))?;
        drop(progress);
        campaign.write(&findings, &mut output)?;
        is_sound &= findings.failures.is_empty();
    }
    output.finish()?;
    Ok(is_sound)
}

impl Options {
    /// The seeds of all cases.
    fn seeds(&self) -> Range<u64> {
        match self.minutes {
            Some(_) => self.seed..u64::MAX,
            None => self.seed..self.seed.saturating_add(self.cases),
        }
    }

    /// The time after which no case starts.
    fn deadline(&self) -> Option<Instant> {
        let minutes = self.minutes?;
        Some(Instant::now() + Duration::from_secs(60 * minutes))
    }

    fn progress(&self, backend: &str) -> Progress {
        match self.minutes {
            Some(_) => Progress::counting(backend, "cases"),
            None => Progress::to(backend, self.cases, "cases"),
        }
    }
}
