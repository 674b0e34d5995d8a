//! The times of a run of the gate: a table of the stages, and one of the longest tests. They are also written to `target/gate.json`.

use checkout::files;
use checkout::machine::{Machine, load};
use checkout::table::Table;
use checkout::workspace::{target, workspace};
use launch::Error;
use serde_json::{Value, json};

use crate::{command, output};

/// How many of the longest tests are listed.
const LONGEST: usize = 10;

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A build.
    Build,
    /// A command or check that builds nothing.
    Run,
    /// A test within a step, whose time is part of the step's.
    Test,
}

/// The time of a step, or of a test.
#[derive(Clone, Debug)]
pub(crate) struct Time {
    pub(crate) stage: &'static str,
    pub(crate) name: String,
    pub(crate) seconds: f64,
    pub(crate) kind: Kind,
}

/// The totals of a stage, or of all stages: numbers of steps, and seconds. Each array has the total, then builds, then other steps.
struct Sum {
    name: &'static str,
    steps: [u64; 3],
    seconds: [f64; 3],
}

/// The times of a run.
#[derive(Debug)]
pub(crate) struct Times {
    /// Each stage with its total time.
    pub(crate) stages: Vec<(&'static str, f64)>,
    /// The times of steps and tests.
    pub(crate) parts: Vec<Time>,
    /// The total time.
    pub(crate) all: f64,
}

impl Times {
    /// The number of steps that passed.
    pub(crate) fn steps_count(&self) -> usize {
        let steps = self.parts.iter().filter(|part| part.kind != Kind::Test);
        steps.count()
    }

    /// The totals of each stage, then of all stages.
    fn sums(&self) -> Vec<Sum> {
        let stages = self.stages.iter();
        let stages = stages.map(|&(name, seconds)| (name, seconds, Some(name)));
        let sum = |(name, all, only): (_, _, Option<&str>)| {
            let parts = self.parts.iter();
            let parts = parts.filter(|part| only.is_none_or(|stage| stage == part.stage));
            let of = |kind| {
                let parts = parts.clone().filter(|part| part.kind == kind);
                parts.fold((0, 0.0), |(steps, sum), part| {
                    (steps + 1, sum + part.seconds)
                })
            };
            let (building, running) = (of(Kind::Build), of(Kind::Run));
            Sum {
                name,
                steps: [building.0 + running.0, building.0, running.0],
                seconds: [all, building.1, running.1],
            }
        };
        stages.chain([("all", self.all, None)]).map(sum).collect()
    }

    /// A table of stages: the number of steps, and the seconds of all steps, of builds and of other steps. Then the longest tests.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut table = Table::new(["stage", "steps", "seconds", "building", "running"]);
        for sum in self.sums() {
            let seconds = sum.seconds.map(|seconds| format!("{seconds:.0}"));
            let head = [sum.name.to_owned(), sum.steps[0].to_string()];
            table.push([&head[..], &seconds].concat());
        }
        let mut longest = Table::new(["the longest tests", "stage", "seconds"]);
        for time in self.longest() {
            let seconds = format!("{:.1}", time.seconds);
            longest.push(vec![time.name.clone(), time.stage.to_owned(), seconds]);
        }
        [table.lines(), vec![String::new()], longest.lines()].concat()
    }

    /// The longest among the tests and the steps, without builds and without the step that runs all test programs.
    fn longest(&self) -> Vec<&Time> {
        let is_test = |part: &&Time| match part.kind {
            Kind::Build => false,
            Kind::Test => true,
            Kind::Run => part.name != TESTS,
        };
        let mut tests: Vec<&Time> = self.parts.iter().filter(is_test).collect();
        tests.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        tests.truncate(LONGEST);
        tests
    }

    /// The record that pages quote, as `harness::measured::Measurements` reads it: rows for the totals of each stage, and for the longest
    /// tests. Times are in nanoseconds, as in all records.
    fn record(&self, command: &str) -> Value {
        let machine = Machine::here();
        let row = |variant: &str, n: u64, state: &str, seconds: f64| {
            json!({
                "variant": variant, "n": n, "state": state, "ns": (seconds * 10.0).round() * 1e8,
                "reference": "", "reference_ns": 0.0,
            })
        };
        let mut rows = Vec::new();
        for sum in self.sums() {
            for (i, state) in ["all", "building", "running"].into_iter().enumerate() {
                rows.push(row(sum.name, sum.steps[i], state, sum.seconds[i]));
            }
        }
        let tests = self.longest().into_iter();
        rows.extend(tests.map(|test| row(&test.name, 1, "test", test.seconds)));
        rows.push(row("target", target_mb(), "MB", 0.0));
        json!({
            "command": command,
            "machine": machine.to_string(),
            "load": load().unwrap_or(0.0),
            "date": machine.date,
            "commit": machine.commit,
            "rows": rows,
        })
    }

    /// Writes the record to `target/gate.json`, and to this file in `docs/measured` if one is named.
    pub(crate) fn write(&self, command: &str, kept: Option<&str>) -> Result<(), Error> {
        let mut paths = vec![target()?.join("gate.json")];
        paths.extend(kept.map(|name| workspace().join("docs/measured").join(name)));
        let text = format!("{:#}\n", self.record(command));
        paths.iter().try_for_each(|path| files::write(path, &text))
    }
}

/// The step that runs the test programs; their tests are timed separately.
pub(crate) const TESTS: &str = "tests";

/// The size of the target folder in megabytes; 0 if unknown.
fn target_mb() -> u64 {
    let listing = output(command!("du -sm target")).unwrap_or_default();
    let first = listing.split_whitespace().next();
    first.and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Kind, TESTS, Time, Times};

    #[test]
    fn the_table_says_what_was_building_and_what_took_longest() {
        let time = |stage, name: &str, seconds, kind| Time {
            stage,
            name: name.to_owned(),
            seconds,
            kind,
        };
        let times = Times {
            stages: vec![("threads", 70.0), ("c", 12.5)],
            parts: vec![
                time("threads", "building the tests", 40.0, Kind::Build),
                time("threads", TESTS, 30.0, Kind::Run),
                time("threads", "plans: suite_on_threads", 29.0, Kind::Test),
                time("c", "golden, p = 2", 12.0, Kind::Run),
            ],
            all: 82.5,
        };
        let lines = times.lines();
        let found = |line: &str| {
            let is_it = |own: &String| own.split_whitespace().eq(line.split_whitespace());
            lines.iter().any(is_it)
        };
        assert!(found("threads 2 70 40 30"), "{lines:#?}");
        assert!(found("c 1 12 0 12"), "{lines:#?}");
        assert!(found("all 3 82 40 42"), "{lines:#?}");
        assert!(found("plans: suite_on_threads threads 29.0"), "{lines:#?}");
        assert!(!found("tests threads 30.0"), "{lines:#?}");
        let record = times.record("cargo xtask test");
        assert_eq!(record["rows"][1]["ns"], 40e9);
        assert_eq!(record["rows"].as_array().unwrap().len(), 3 * 3 + 2 + 1);
    }
}
