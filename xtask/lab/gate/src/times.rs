//! Where the time of a run went: a table of its stages, and the tests that took longest; `target/gate.json`, which pages may quote.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use checkout::machine::Machine;
use checkout::table::Table;
use checkout::workspace::{target, workspace};
use launch::Error;
use serde_json::{Value, json};

/// How many of the longest tests are told.
const LONGEST: usize = 10;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It builds what others run.
    Build,
    /// It runs something that checks.
    Run,
    /// It is a test within a step: its time is the step's, too.
    Test,
}

/// The time of a step, or of a test.
#[derive(Clone, Debug)]
pub(super) struct Time {
    pub(super) stage: &'static str,
    pub(super) name: String,
    pub(super) seconds: f64,
    pub(super) kind: Kind,
}

/// The times of a run.
#[derive(Debug)]
pub(super) struct Times {
    /// Each stage with the time from its begin to its end.
    pub(super) stages: Vec<(&'static str, f64)>,
    /// Of its steps and tests.
    pub(super) parts: Vec<Time>,
    /// From the begin to the end of all.
    pub(super) all: f64,
}

impl Times {
    /// How many steps passed.
    pub(super) fn steps_count(&self) -> usize {
        let steps = self.parts.iter().filter(|part| part.kind != Kind::Test);
        steps.count()
    }

    /// Stages, their steps and seconds, and how many of these were building and running; then the longest tests.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut table = Table::new(["stage", "steps", "seconds", "building", "running"]);
        let whole = |seconds: f64| format!("{seconds:.0}");
        let mut row = |name: &str, seconds: f64, parts: &[&Time]| {
            let of = |kind| {
                let parts = parts.iter().filter(|part| part.kind == kind);
                parts.fold(0.0, |sum, part| sum + part.seconds)
            };
            let steps = parts.iter().filter(|part| part.kind != Kind::Test);
            table.push(vec![
                name.to_owned(),
                steps.count().to_string(),
                whole(seconds),
                whole(of(Kind::Build)),
                whole(of(Kind::Run)),
            ]);
        };
        for &(stage, seconds) in &self.stages {
            let parts = self.parts.iter().filter(|part| part.stage == stage);
            row(stage, seconds, &parts.collect::<Vec<_>>());
        }
        row("all", self.all, &self.parts.iter().collect::<Vec<_>>());
        let mut longest = Table::new(["the longest tests", "stage", "seconds"]);
        for time in self.longest() {
            longest.push(vec![
                time.name.clone(),
                time.stage.to_owned(),
                format!("{:.1}", time.seconds),
            ]);
        }
        let mut lines = table.lines();
        lines.push(String::new());
        lines.extend(longest.lines());
        lines
    }

    /// The tests, and the steps that run something other than tests, which took longest.
    fn longest(&self) -> Vec<&Time> {
        let of_tests: BTreeMap<_, _> = self
            .parts
            .iter()
            .filter(|part| part.kind == Kind::Test)
            .map(|part| (part.stage, ()))
            .collect();
        let is_test = |part: &&Time| match part.kind {
            Kind::Build => false,
            Kind::Test => true,
            Kind::Run => !of_tests.contains_key(part.stage) || part.name != TESTS,
        };
        let mut tests: Vec<&Time> = self.parts.iter().filter(is_test).collect();
        tests.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        tests.truncate(LONGEST);
        tests
    }

    /// The record that pages quote, as `harness::measured::Record` reads it: a row for each stage and what it did, and for each of the
    /// longest tests, in nanoseconds as all records have them.
    fn record(&self, command: &str) -> Value {
        let Machine {
            processor,
            cores,
            date,
            commit,
        } = Machine::here();
        let row = |variant: &str, n: u64, state: &str, seconds: f64| {
            json!({
                "variant": variant, "n": n, "state": state, "ns": (seconds * 10.0).round() * 1e8,
                "reference": "", "reference_ns": 0.0,
            })
        };
        let named = self
            .stages
            .iter()
            .map(|&(name, seconds)| (Some(name), seconds));
        let mut rows = Vec::new();
        for (stage, seconds) in named.chain([(None, self.all)]) {
            let own = self.parts.iter();
            let own = own.filter(|part| stage.is_none_or(|name| name == part.stage));
            let of = |kind| {
                let parts = own.clone().filter(|part| part.kind == kind);
                parts.fold((0, 0.0), |(count, sum), part| {
                    (count + 1, sum + part.seconds)
                })
            };
            let (building, running) = (of(Kind::Build), of(Kind::Run));
            let stage = stage.unwrap_or("all");
            rows.push(row(stage, building.0 + running.0, "all", seconds));
            rows.push(row(stage, building.0, "building", building.1));
            rows.push(row(stage, running.0, "running", running.1));
        }
        let tests = self.longest().into_iter();
        rows.extend(tests.map(|test| row(&test.name, 1, "test", test.seconds)));
        rows.push(row("target", target_mb(), "MB", 0.0));
        json!({
            "command": command,
            "machine": format!("{processor}, {cores} cores"),
            "load": load(),
            "date": date,
            "commit": commit,
            "rows": rows,
        })
    }

    /// Writes the record to `target/gate.json`; and to `docs/measured`, if it has a name there.
    pub(super) fn write(&self, command: &str, kept: Option<&str>) -> Result<(), Error> {
        let mut paths = vec![target()?.join("gate.json")];
        paths.extend(kept.map(|name| workspace().join("docs/measured").join(name)));
        let text = format!("{:#}\n", self.record(command));
        for path in paths {
            fs::write(&path, &text).map_err(|error| Error::file(&path, error))?;
        }
        Ok(())
    }
}

/// The step that runs the programs of tests, whose tests have times of their own.
pub(super) const TESTS: &str = "tests";

/// How large the target folder is, in megabytes; 0 where the system does not tell.
fn target_mb() -> u64 {
    let mut du = Command::new("du");
    du.arg("-sm").arg(workspace().join("target"));
    let told = du.output().map(|output| output.stdout).unwrap_or_default();
    let told = String::from_utf8_lossy(&told);
    let first = told.split_whitespace().next();
    first.and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The system's load average of a minute.
fn load() -> f64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().and_then(|load| load.parse().ok());
    load.unwrap_or(0.0)
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
            lines
                .iter()
                .any(|own| own.split_whitespace().eq(line.split_whitespace()))
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
