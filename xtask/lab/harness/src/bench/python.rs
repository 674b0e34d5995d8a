//! Compares the Python package with NumPy, pandas and polars by running scripts.

use std::process::Command;

use checkout::workspace::{target, workspace};
use serde::Deserialize;

use super::{Row, quick_or};
use crate::Error;
use crate::output::Output;

/// A line of a script's output.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ScriptLine {
    /// The reason why no rows follow.
    Missing(String),
    /// The packages and their versions.
    Versions(String),
    Row(Told),
}

/// The times of a function and of its reference, in nanoseconds per item or per call.
#[derive(Deserialize)]
struct Told {
    variant: String,
    n: u64,
    distribution: String,
    ns: f64,
    reference: String,
    reference_ns: f64,
}

/// The measurements, and the packages that were measured. If a package is missing, nothing is measured, and a line of output says so.
#[derive(Debug, Default)]
pub struct PythonMeasurement {
    /// The rows.
    pub rows: Vec<Row>,
    /// The packages and their versions.
    pub versions: Option<String>,
}

/// Measures sums by key and over windows.
pub fn measure(quick: bool, output: &Output) -> Result<PythonMeasurement, Error> {
    let words = quick_or(quick, ["20000", "1000", "3"], ["2000000", "100000", "11"]);
    run("exact", "speed_by_key.py", &words, output)
}

/// Measures the functions of arrays, compared with NumPy's.
pub fn beside_numpy(quick: bool, output: &Output) -> Result<PythonMeasurement, Error> {
    let words = quick_or(quick, ["1000", "3"], ["10000000", "15"]);
    run("python", "speed_beside_numpy.py", &words, output)
}

/// Runs a script. If stage `python-story` has run here, uses that stage's interpreter, which has all packages.
fn run(
    bench: &str,
    file: &str,
    words: &[&str],
    output: &Output,
) -> Result<PythonMeasurement, Error> {
    let own = target()?.join("python/story/bin/python");
    let python = if own.exists() { own } else { "python3".into() };
    let mut measured = PythonMeasurement::default();
    let nothing = |reason: &str| {
        let advice = "`cargo xtask test --stage python-story` installs all that it needs";
        output.say(format!("{bench}: Python is left out ({reason}); {advice}"));
    };
    let examples = workspace().join("bindings/python/examples");
    let mut script = Command::new(&python);
    // NumPy's products use one thread, as treefold's do.
    script.env("OPENBLAS_NUM_THREADS", "1");
    script.arg(examples.join(file)).args(words);
    let python = python.display();
    let ended = match script.output() {
        Ok(ended) => ended,
        Err(error) => {
            nothing(&format!("{python}: {error}"));
            return Ok(measured);
        }
    };
    if !ended.status.success() {
        let errors = String::from_utf8_lossy(&ended.stderr);
        let reason = errors.lines().last().unwrap_or_default();
        return Err(Error::Run(format!("{python}: {reason}")));
    }
    for line in String::from_utf8_lossy(&ended.stdout).lines() {
        match serde_json::from_str(line)? {
            ScriptLine::Missing(reason) => nothing(&reason),
            ScriptLine::Versions(versions) => measured.versions = Some(versions),
            ScriptLine::Row(told) => measured.rows.push(told.row(bench)),
        }
    }
    Ok(measured)
}

impl Told {
    fn row(self, bench: &str) -> Row {
        let variant = (&*self.variant, self.ns);
        let reference = (&*self.reference, self.reference_ns);
        Row {
            n: self.n,
            backend: "python".to_owned(),
            distribution: Some(self.distribution),
            ..Row::of(bench, variant, 0, reference)
        }
    }
}
