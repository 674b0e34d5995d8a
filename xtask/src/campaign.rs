//! `cargo xtask campaign`: random programs with faults, judged by the definition, until one fails or all are done.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::Args;
use harness::Error;
use harness::campaign::{Campaign, Failure, FaultKind, Findings, silence_panics};
use harness::choices::names;
use harness::output::Output;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Options of `campaign`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The seed of the first case; each later case has the next number
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// The number of cases
    #[arg(long, default_value_t = 1000, value_name = "N")]
    cases: u64,
    /// Run for this many minutes, whatever --cases says
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

/// The whole campaign.
#[derive(Serialize)]
struct Summary {
    seed: u64,
    cases: u64,
    seconds: f64,
    /// The number of cases by fault; the cases without one are `none`.
    faults: BTreeMap<&'static str, u64>,
    failures: usize,
}

/// Runs the command; true if no case failed.
pub fn run(options: &Options) -> Result<bool, Error> {
    for (option, number) in [
        ("--ranks", options.ranks as u64),
        ("--cases", options.cases),
        ("--minutes", options.minutes.unwrap_or(1)),
    ] {
        if number == 0 {
            return Err(Error::option(option, "0 is too few"));
        }
    }
    let mut output = Output::open(options.json.as_deref())?;
    let begin = Instant::now();
    let faults = match options.faults.as_deref() {
        None => FaultKind::DEFAULT.to_vec(),
        Some("none") => Vec::new(),
        Some(typed) => names("--faults", typed, FaultKind::ALL, str::parse)?,
    };
    let deadline = options
        .minutes
        .map(|minutes| begin + Duration::from_secs(60 * minutes));
    let (end, bar) = match deadline {
        Some(_) => (u64::MAX, ProgressBar::new_spinner()),
        None => {
            let end = options.seed.saturating_add(options.cases);
            (end, ProgressBar::new(options.cases))
        }
    };
    let style = ProgressStyle::with_template("{wide_bar} {pos} cases, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    silence_panics();
    let campaign = Campaign {
        seeds: options.seed..end,
        deadline,
        ranks_max: options.ranks,
        faults,
    };
    let Findings { cases, failures } = campaign.run(&|| bar.inc(1));
    bar.finish_and_clear();
    let summary = Summary {
        seed: options.seed,
        cases: cases.values().fold(0, |total, count| total + count),
        seconds: begin.elapsed().as_secs_f64(),
        faults: cases,
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
