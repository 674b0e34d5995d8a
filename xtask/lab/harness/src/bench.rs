//! The benches, and what they share. Candidates and references are measured alternately, in one run.

pub mod exact;
pub mod kernels;
pub mod lookup;
pub mod plot;
pub mod python;
pub mod reduce;
pub mod schedules;
pub mod sums;
pub mod timing;

use ::reduce::World;
use checkout::table::Table;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use simd_kernels::Level;

use self::timing::{Candidate, medians_ns};
use crate::measured::Time;
use crate::output::Output;
use crate::ranks::on_ranks;
use crate::{Backend, Error, Place};

/// A row of a bench's results: a line of `--json` and of a table, and perhaps of a record.
pub trait Measured: Serialize {
    /// What a ratio of this bench compares with the reference: `time` or `speed`.
    fn ratios(bench: &str) -> String;

    /// The columns of the table: their headings, and the cells of this row.
    fn columns(&self) -> Vec<(&'static str, String)>;

    /// The row for a record, if a page quotes it.
    fn time(&self) -> Option<Time> {
        None
    }
}

/// Prints rows as a table.
pub fn show<R: Measured>(bench: &str, rows: &[R], output: &Output) {
    let ratios = R::ratios(bench);
    output.say("");
    output.say(format!(
        "{bench}: {ratios} relative to the reference, medians"
    ));
    let columns: Vec<_> = rows.iter().map(R::columns).collect();
    let Some(first) = columns.first() else { return };
    let mut table = Table::new(first.iter().map(|(heading, _)| *heading));
    for row in columns {
        table.push(row.into_iter().map(|(_, cell)| cell).collect());
    }
    for line in table.lines() {
        output.say(line);
    }
}

/// Returns `few` for a quick bench, `all` for a full one.
fn quick_or<T>(quick: bool, few: T, all: T) -> T {
    if quick { few } else { all }
}

/// A report of rank 0 in a bench over ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Report<R> {
    /// A line of text to print.
    Said(String),
    /// A time.
    Row(R),
}

/// Runs a job in a place and returns its rows. Under MPI, each rank runs `command`.
fn rows_of<J: Serialize + Sync, R: DeserializeOwned + Send>(
    place: &Place,
    ranks: usize,
    (command, job): (&str, &J),
    on_rank: impl Fn(&World, Backend, &J, &dyn Fn(Report<R>)) -> Result<(), Error> + Sync,
    output: &Output,
) -> Result<Vec<R>, Error> {
    let mut rows = Vec::new();
    let sort = |report: Report<R>| match report {
        Report::Said(words) => output.say(words),
        Report::Row(row) => rows.push(row),
    };
    on_ranks(place, ranks, command, job, on_rank, sort)?;
    Ok(rows)
}

/// The comparison of one variant with one reference, which is one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `kernels`, `parallel`, `exact`, `python`, `lookup` or `reduce`.
    pub bench: String,
    /// What was measured.
    pub variant: String,
    /// The number of items, N. For `lookup`, the number of ranks among which items are looked up; for `exact`, the number of keys, or of
    /// items in a window.
    pub n: u64,
    /// The number of ranks, p.
    pub ranks: usize,
    /// `threads` or `mpi`, or `python` for the Python package.
    pub backend: String,
    /// The distribution of the items, if there are ranks.
    pub distribution: Option<String>,
    /// The median time of one call, in nanoseconds; for `exact`, the time per item or, over ranks, per key.
    pub median_ns: f64,
    /// The rate at which items are read, in 10^9 bytes a second; null if none are read.
    pub gbps: Option<f64>,
    /// For `kernels`, `parallel` and `lookup`, the relative speed (the reference's time divided by the measured time); for `reduce`,
    /// `exact` and `python`, the relative time (the measured time divided by the reference's).
    pub ratio: f64,
    /// The name of the reference.
    pub reference: String,
    /// `warm` if calls follow each other; `cold` if there is other work between them; `cold-after-barrier` if a barrier follows that
    /// work; `warm-items` if each rank also reads its items before the barrier.
    #[serde(default = "warm")]
    pub state: String,
}

/// The state of most measurements.
fn warm() -> String {
    "warm".to_owned()
}

/// Whether a bench's ratios are relative times, not relative speeds.
fn has_ratio_of_times(bench: &str) -> bool {
    ["reduce", "exact", "python"].contains(&bench)
}

impl Row {
    /// The row for the times of a variant and of a reference, in nanoseconds, in one process.
    fn of(
        bench: &str,
        (variant, ns): (&str, f64),
        n: usize,
        (reference, reference_ns): (&str, f64),
    ) -> Self {
        let time = ns / reference_ns;
        let speed = reference_ns / ns;
        Self {
            bench: bench.to_owned(),
            variant: variant.to_owned(),
            n: n as u64,
            ranks: 1,
            backend: "threads".to_owned(),
            distribution: None,
            median_ns: ns,
            gbps: None,
            ratio: if has_ratio_of_times(bench) {
                time
            } else {
                speed
            },
            reference: reference.to_owned(),
            state: warm(),
        }
    }
}

/// Measures candidates alternately and compares each with each reference. A reference is given by its name as a candidate, and its name in
/// the results. If candidates share a name, the fastest counts.
fn compare(
    bench: &str,
    n: usize,
    rounds: usize,
    candidates: &mut [Candidate<'_>],
    references: &[(&str, &str)],
) -> Vec<Row> {
    let medians = medians_ns(candidates, rounds);
    let mut fastest: Vec<(&str, f64)> = Vec::new();
    for (candidate, &ns) in candidates.iter().zip(&medians) {
        match fastest.iter_mut().find(|(name, _)| *name == candidate.name) {
            Some((_, least_ns)) => *least_ns = least_ns.min(ns),
            None => fastest.push((&candidate.name, ns)),
        }
    }
    let mut rows = Vec::new();
    for &variant in &fastest {
        for &(name, shown) in references {
            let reference = fastest.iter().find(|(known, _)| *known == name);
            let (_, reference_ns) = reference.expect("the references are candidates");
            rows.push(Row::of(bench, variant, n, (shown, *reference_ns)));
        }
    }
    rows
}

impl Measured for Row {
    fn ratios(bench: &str) -> String {
        let is_of_times = has_ratio_of_times(bench);
        if is_of_times { "time" } else { "speed" }.to_owned()
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        let (n, ns, places) = match &*self.bench {
            "exact" => ("keys", "ns an item", 2),
            _ => ("n", "ns", 1),
        };
        let gbps = self.gbps.map(|gbps| format!("{gbps:.1}"));
        let distribution = self.distribution.clone();
        vec![
            ("variant", self.variant.clone()),
            ("distribution", distribution.unwrap_or_default()),
            ("ranks", self.ranks.to_string()),
            (n, self.n.to_string()),
            (ns, format!("{:.places$}", self.median_ns)),
            ("GB/s", gbps.unwrap_or_default()),
            ("ratio", format!("{:.2}", self.ratio)),
            ("reference", self.reference.clone()),
        ]
    }

    /// The row for a record, whose ratios are relative times.
    fn time(&self) -> Option<Time> {
        if !is_told(self) {
            return None;
        }
        let is_of_ranks = self.bench == "reduce";
        let is_exact = self.bench == "exact";
        let reference_ns = if has_ratio_of_times(&self.bench) {
            self.median_ns / self.ratio
        } else {
            self.median_ns * self.ratio
        };
        // The best level is the default, so it is not named.
        let best = format!("-{}", Level::best());
        let distribution = self.distribution.clone();
        Some(Time {
            variant: self.variant.replace(&best, ""),
            n: self.n,
            ranks: (is_of_ranks || is_exact && self.ranks > 1).then_some(self.ranks),
            distribution: distribution.filter(|_| is_of_ranks || is_exact),
            state: Some(self.state.clone()).filter(|state| state != "warm"),
            ns: self.median_ns,
            reference: self.reference.clone(),
            reference_ns,
        })
    }
}

/// Whether a page quotes the row.
fn is_told(row: &Row) -> bool {
    let is_plain = row.reference.starts_with("unordered");
    match row.bench.as_str() {
        "kernels" => {
            let (variant, best) = (&row.variant, format!("-{}", Level::best()));
            let is_of_doubles = variant.starts_with("streaming") && !variant.contains("f32");
            let is_of_level = variant.contains(&best) || variant.starts_with("left-to-right");
            let is_shown = row.n <= 64 || row.n.ilog2().is_multiple_of(2) || row.n == 1 << 25;
            is_plain && (is_of_level || is_of_doubles) && is_shown
        }
        "reduce" => {
            let is_lower = row.distribution.as_deref() == Some("lower");
            match row.variant.as_str() {
                "plan" => is_plain || is_lower,
                "algorithm1" | "mpi-native" => is_plain && is_lower && row.ranks > 1,
                _ => false,
            }
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Measured, Row};

    fn row(bench: &str, variant: &str, n: usize, reference: &str) -> Row {
        Row {
            ranks: 2,
            distribution: Some("lower".to_owned()),
            ..Row::of(bench, (variant, 100.0), n, (reference, 200.0))
        }
    }

    #[test]
    fn ratios_become_those_of_times() {
        let streaming = format!("streaming-{}", Level::best());
        for (bench, variant, shown, reference, ranks) in [
            ("kernels", &*streaming, "streaming", "unordered-simd", None),
            (
                "exact",
                "by-key f64",
                "by-key f64",
                "MPI_Allreduce",
                Some(2),
            ),
            ("python", "sum", "sum", "numpy.sum", None),
            ("reduce", "plan", "plan", "unordered-simd", Some(2)),
        ] {
            let time = row(bench, variant, 64, reference).time().unwrap();
            assert_eq!((time.variant.as_str(), time.ranks), (shown, ranks));
            assert!((time.reference_ns - 200.0).abs() < 1e-9, "{time:?}");
            assert_eq!(time.state, None);
        }
    }
}
