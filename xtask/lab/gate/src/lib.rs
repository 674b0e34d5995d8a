//! `cargo xtask test`: runs the stages of the gate step by step, and stops at the first step that fails. CI runs the default stages.
#![expect(clippy::print_stdout, reason = "stages say what they run and find")]

mod aarch64;
mod c;
mod commands;
mod engines;
mod installed_programs;
mod pages;
pub mod peers;
mod pmpi;
mod python;
mod release;
mod rust;
mod setup;
mod stages;
mod steps;
mod suites;
mod tests;
mod times;

use std::env;
use std::time::Instant;

use checkout::names;
use clap::Args;
use comm::text::counted;
use launch::{Error, Installation, MpiOptions, first_of};

// All modules use these.
use commands::{
    Result, Stop, Words, cargo, command, output, run, succeeds, with_rust_alone, words,
};
use python::Environment;
use setup::{MPI_LIBRARIES, install_for, needs, prefix, ranks_of};
use stages::{Beside, Mpi, STAGES, Stage, When};
use steps::{Run, Steps, at_a_time, locked};
use tests::xtask;
use times::Times;

/// Options of `test`.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    /// Stages by name; `all` includes those that run only on request [default: what CI runs]
    #[arg(long, value_name = "NAME,…")]
    stage: Option<String>,
    #[command(flatten)]
    mpi: MpiOptions,
    /// List the stages with their purpose and time, and run none
    #[arg(long)]
    list: bool,
    /// Write results to docs/: the times of stages and tests, the MPI libraries that passed (in mpi.md), and the pictures that stages measure
    #[arg(long)]
    record: bool,
    /// Skip everything that needs MPI
    #[arg(long)]
    no_mpi: bool,
}

impl Options {
    /// The options that run a single stage.
    pub fn of_stage(name: &str) -> Self {
        Self {
            stage: Some(name.to_owned()),
            ..Self::default()
        }
    }
}

/// The lines of the table of `cargo xtask bench footprint`: the cache lines that short calls of the C libraries touch.
pub fn footprint(installation: &Installation) -> Result<Vec<String>, Error> {
    c::footprint::bench(installation)
}

/// Runs the command; true if every step passed.
pub fn run_stages(options: &Options) -> Result<bool, Error> {
    let chosen = chosen(options)?;
    let mpi = !options.no_mpi;
    if options.list {
        println!("{}", list(STAGES));
        return Ok(true);
    }
    let installation = options.mpi.installation()?;
    if mpi && chosen.iter().any(|stage| stage.mpi != Mpi::Unused) {
        setup::install(&installation)?;
    }
    let is_run = |stage: &&Stage| mpi || stage.mpi != Mpi::Needed;
    let to_run: Vec<&Stage> = chosen.iter().copied().filter(is_run).collect();
    println!("{}", list(to_run.iter().copied()));
    let gate = Gate {
        mpi,
        installation,
        // Lives to the end of the program.
        run: Box::leak(Box::<Run>::default()),
        begin: Instant::now(),
    };
    let passed = match gate.run_all(&to_run) {
        Ok(()) => true,
        Err(Stop::Failed) => false,
        Err(stop) => return Err(Error::Run(stop.reason())),
    };
    let times = gate.times(&to_run);
    println!("\n{}", times.lines().join("\n"));
    if !mpi {
        println!("\nleft out by --no-mpi: {}", left_out(&chosen));
    }
    if passed {
        // Only a run of all default stages is stored in docs/.
        let is_kept = options.record && options.stage.is_none();
        let name = if mpi { "gate.json" } else { "gate-no-mpi.json" };
        let words: Vec<String> = env::args().skip(1).collect();
        let typed = format!("cargo xtask {}", words.join(" "));
        times.write(&typed, is_kept.then_some(name))?;
    }
    if options.record {
        gate.record()?;
    }
    let passed_count = times.steps_count();
    println!("\n{passed_count} passed, {} failed", u8::from(!passed));
    Ok(passed)
}

/// A run of stages.
struct Gate {
    mpi: bool,
    installation: Installation,
    run: &'static Run,
    begin: Instant,
}

impl Gate {
    /// Runs stages in order. Neighbours that may run in parallel run two at a time.
    fn run_all(&self, stages: &[&Stage]) -> Result {
        for group in
            stages.chunk_by(|one, next| one.beside == next.beside && one.beside != Beside::Nothing)
        {
            let left = stages.iter().copied();
            let left = minutes(left.skip_while(|stage| stage.name != group[0].name));
            let is_beside = group.len() > 1;
            let run = |stage: &Stage| self.run_stage(stage, is_beside, &left);
            at_a_time(2, group.to_vec(), run)?;
        }
        Ok(())
    }

    /// Runs one stage and records its time.
    fn run_stage(&self, stage: &Stage, is_beside: bool, left: &str) -> Result {
        let begin = Instant::now();
        let (name, purpose) = (stage.name, stage.purpose);
        let line = format!("\n══ stage {name}, {left} left: {purpose}");
        self.run.say(&line);
        let mut steps = Steps {
            stage: name,
            mpi: self.mpi,
            installation: self.installation.clone(),
            is_beside,
            has_turn: false,
            run: self.run,
        };
        let outcome = steps.part(stage.run);
        let seconds = begin.elapsed().as_secs_f64();
        let word = if outcome.is_ok() { "passed" } else { "FAILED" };
        let line = format!("\n── stage {name}: {word} in {seconds:.0} s");
        self.run.say(&line);
        self.run.found().stages.push((name, seconds));
        outcome
    }

    /// The times of the run.
    fn times(&self, stages: &[&Stage]) -> Times {
        let found = self.run.found();
        let mut ended = found.stages.clone();
        let place = |name| stages.iter().position(|stage| stage.name == name);
        ended.sort_by_key(|&(name, _)| place(name));
        Times {
            stages: ended,
            parts: found.times.clone(),
            all: self.begin.elapsed().as_secs_f64(),
        }
    }

    /// Writes the results to docs/.
    fn record(&self) -> Result<(), Error> {
        let found = self.run.found();
        pages::write_table(&found.ran)?;
        for picture in &found.pictures {
            let mut draw = cargo("xtask draw");
            let drawn = output(draw.arg(picture.write()?));
            drawn.map_err(|stop| Error::Run(stop.reason()))?;
        }
        Ok(())
    }
}

/// A list of stages with their time and purpose.
fn list<'s>(stages: impl IntoIterator<Item = &'s Stage> + Clone) -> String {
    let line = |stage: &Stage| {
        let is_on_request = stage.when == When::OnRequest;
        let when = if is_on_request { "on request: " } else { "" };
        let (minutes, name, purpose) = (stage.seconds.div_ceil(60), stage.name, stage.purpose);
        format!("{minutes:>4} min  {name:<18} {when}{purpose}\n")
    };
    let lines: String = stages.clone().into_iter().map(line).collect();
    let all = minutes(stages);
    format!("{lines}{all} in all, on 2 cores with an empty target folder")
}

/// The total time of stages; two that run in parallel count half each.
fn minutes<'s>(stages: impl IntoIterator<Item = &'s Stage>) -> String {
    let seconds = stages.into_iter().fold(0, |sum, stage| {
        let at_once = if stage.beside == Beside::Nothing {
            1
        } else {
            2
        };
        sum + stage.seconds / at_once
    });
    counted(seconds.div_ceil(60), "minute")
}

/// The stages that the options select, in running order.
fn chosen(options: &Options) -> Result<Vec<&'static Stage>, Error> {
    let Some(typed) = &options.stage else {
        let always = STAGES.iter().filter(|stage| stage.when == When::Always);
        return Ok(always.collect());
    };
    let all: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
    let known = |name: &str| {
        let found = all.iter().copied().find(|&known| known == name);
        found.ok_or_else(|| format!("unknown stage `{name}`; known: {}", all.join(", ")))
    };
    let names = names("--stage", typed, &all, known)?;
    let stages = STAGES.iter().filter(|stage| names.contains(&stage.name));
    let stages: Vec<&Stage> = stages.collect();
    // Running no step at all would look like success.
    if options.no_mpi && stages.iter().all(|stage| stage.mpi == Mpi::Needed) {
        let reason = format!("every stage of `--stage {typed}` needs MPI");
        return Err(Error::option("--no-mpi", reason));
    }
    Ok(stages)
}

/// The steps of these stages that do not run without MPI.
fn left_out(stages: &[&Stage]) -> String {
    let parts = stages.iter().filter_map(|stage| match stage.mpi {
        Mpi::Unused => None,
        Mpi::For(steps) => Some(format!("{steps} (stage {})", stage.name)),
        Mpi::Needed => Some(format!("stage {}", stage.name)),
    });
    match &parts.collect::<Vec<String>>()[..] {
        [] => "nothing, as these stages need no MPI".to_owned(),
        parts => parts.join("; "),
    }
}

#[cfg(test)]
mod options {
    use checkout::workspace::workspace;

    use super::{Mpi, Options, STAGES, Stage, When, chosen, left_out};
    use checkout::files::read;

    /// The stages that options select, or the error in them.
    fn names(stage: Option<&str>, no_mpi: bool) -> Result<Vec<&'static str>, String> {
        let options = Options {
            stage: stage.map(str::to_owned),
            no_mpi,
            ..Options::default()
        };
        let stages = chosen(&options).map_err(|error| error.to_string())?;
        Ok(stages.iter().map(|stage| stage.name).collect())
    }

    #[test]
    fn stages_run_once_and_in_their_own_order() {
        let mixed = names(Some("book, threads,checks,book"), false);
        assert_eq!(mixed.unwrap(), ["checks", "threads", "book"]);
        let all = names(Some("book,all"), false);
        assert_eq!(all.unwrap().len(), STAGES.len());
    }

    #[test]
    fn wrong_names_list_the_known_stages() {
        for wrong in ["", "threads,,book", "Threads", "threads book"] {
            let error = names(Some(wrong), false).unwrap_err();
            assert!(error.starts_with("--stage: unknown stage `"), "{error}");
            assert!(STAGES.iter().all(|stage| error.contains(stage.name)));
        }
    }

    #[test]
    fn stages_without_mpi_are_left() {
        assert!(names(Some("mpi,book"), true).is_ok());
        for stage in STAGES {
            let is_named = left_out(&[stage]).contains(stage.name);
            assert_eq!(is_named, stage.mpi != Mpi::Unused, "{}", stage.name);
        }
    }

    /// The page docs/testing.md lists the stages in two tables.
    #[test]
    fn every_stage_is_on_its_page() {
        let page = read(&workspace().join("docs/testing.md")).unwrap();
        let (always, on_request) = page.split_once("On request:").unwrap();
        for stage in STAGES {
            let table = match stage.when {
                When::Always => always,
                When::OnRequest => on_request,
            };
            let row = format!("| `{}` | ", stage.name);
            assert!(table.contains(&row), "the page's table lacks `{row}`");
        }
    }

    /// `--list` prints times near those of the last recorded run. Short stages are not compared.
    #[test]
    fn times_of_stages_are_near_the_record() {
        const SHORT_S: f64 = 20.0;
        let record = read(&workspace().join("docs/measured/gate.json")).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        let mut compared = 0;
        for row in record["rows"].as_array().unwrap() {
            let is_it = |stage: &&Stage| row["variant"] == stage.name && row["state"] == "all";
            let Some(stage) = STAGES.iter().find(is_it) else {
                continue;
            };
            let recorded_s = row["ns"].as_f64().unwrap() / 1e9;
            if recorded_s >= SHORT_S {
                let (name, listed_s) = (stage.name, f64::from(stage.seconds));
                let is_near = (0.5..2.0).contains(&(listed_s / recorded_s));
                assert!(is_near, "{name}: {listed_s} s, recorded {recorded_s:.0} s");
                compared += 1;
            }
        }
        assert!(compared >= 10, "{compared} stages are recorded");
    }
}
