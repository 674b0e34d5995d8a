//! What `bench --record` keeps in `docs/measured`: the rows that pages are about.

use std::path::PathBuf;

use checkout::workspace::workspace;
use launch::Installation;
use simd_kernels::Level;

use super::{Row, has_ratio_of_times, schedules};
use crate::Error;
use crate::measured::{Record, Time};

/// Where records are.
fn path(name: &str) -> PathBuf {
    workspace()
        .join("docs/measured")
        .join(format!("{name}.json"))
}

/// A record that is being made.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    record: Record,
}

impl Recording {
    /// In a file, of a bench with these words; `mpi` is the library under which ranks are processes.
    pub fn begin(file: &str, words: &str, mpi: Option<&Installation>) -> Self {
        Self {
            path: path(file),
            record: Record::begin(format!("cargo xtask bench {words}"), mpi),
        }
    }

    /// Names packages that count.
    pub fn mention(&mut self, packages: &str) {
        self.record.machine += ", ";
        self.record.machine += packages;
    }

    /// Keeps rows of `kernels`, `parallel`, `exact`, `lookup` or `reduce`.
    pub fn keep(&mut self, rows: &[Row]) {
        for row in rows.iter().filter(|row| is_told(row)) {
            self.push(time(row));
        }
    }

    /// Keeps rows of `schedules` or `scalar`.
    pub fn keep_schedules(&mut self, rows: &[schedules::Row]) {
        let is_told = |row: &&schedules::Row| (row.paper, row.block_elements) == (2, None);
        for row in rows.iter().filter(is_told) {
            self.push(Time {
                variant: row.variant.clone(),
                n: row.n,
                ranks: Some(row.ranks),
                ns: row.median_ns,
                reference: row.reference.clone(),
                reference_ns: row.median_ns / row.ratio,
                ..Time::default()
            });
        }
    }

    /// Adds a time; beside the variants that programs run, also their reference's.
    fn push(&mut self, time: Time) {
        if ["streaming", "tree-dot", "plan", "tuned"].contains(&time.variant.as_str()) {
            self.record.rows.push(Time {
                variant: time.reference.clone(),
                ns: time.reference_ns,
                ..time.clone()
            });
        }
        self.record.rows.push(time);
    }

    /// Writes the record.
    pub fn write(self) -> Result<PathBuf, Error> {
        self.record.write(&self.path)?;
        Ok(self.path)
    }
}

/// Whether a page is about it.
fn is_told(row: &Row) -> bool {
    match row.bench.as_str() {
        "kernels" => {
            let is_plain = row.reference.starts_with("unordered");
            let is_of_doubles =
                row.variant.starts_with("streaming") && !row.variant.contains("f32");
            let best = format!("-{}", Level::best());
            let is_of_level =
                row.variant.contains(&best) || row.variant.starts_with("left-to-right");
            let is_shown_length =
                row.n <= 64 || row.n.ilog2().is_multiple_of(2) || row.n == 1 << 25;
            is_plain && (is_of_level || is_of_doubles) && is_shown_length
        }
        "reduce" => {
            let is_lower = row.distribution.as_deref() == Some("lower");
            let is_plain = row.reference.starts_with("unordered");
            match row.variant.as_str() {
                "plan" => is_plain || is_lower,
                "algorithm1" | "mpi-native" => is_plain && is_lower && row.ranks > 1,
                _ => false,
            }
        }
        _ => true,
    }
}

/// A row as records have it: its ratio is one of times.
fn time(row: &Row) -> Time {
    let is_of_ranks = row.bench == "reduce";
    let is_exact = row.bench == "exact";
    let reference_ns = if has_ratio_of_times(&row.bench) {
        row.median_ns / row.ratio
    } else {
        row.median_ns * row.ratio
    };
    // The best level is what runs: it needs no name.
    let best = format!("-{}", Level::best());
    Time {
        variant: row.variant.replace(&best, ""),
        n: row.n,
        ranks: (is_of_ranks || is_exact && row.ranks > 1).then_some(row.ranks),
        distribution: row.distribution.clone().filter(|_| is_of_ranks || is_exact),
        state: Some(row.state.clone()).filter(|state| state != "warm"),
        ns: row.median_ns,
        reference: row.reference.clone(),
        reference_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Row, is_told, time};

    fn row(bench: &str, variant: &str, n: u64, reference: &str) -> Row {
        Row {
            bench: bench.to_owned(),
            variant: variant.to_owned(),
            n,
            ranks: 2,
            backend: "threads".to_owned(),
            distribution: Some("lower".to_owned()),
            median_ns: 100.0,
            gbps: None,
            ratio: 0.5,
            reference: reference.to_owned(),
            state: "warm".to_owned(),
        }
    }

    #[test]
    fn ratios_become_those_of_times() {
        let streaming = format!("streaming-{}", Level::best());
        let kernel = time(&row("kernels", &streaming, 64, "unordered-simd"));
        assert_eq!((kernel.variant.as_str(), kernel.ranks), ("streaming", None));
        assert!((kernel.reference_ns - 50.0).abs() < 1e-9);
        let by_key = time(&row("exact", "by-key-allreduce f64", 2, "MPI_Allreduce"));
        assert_eq!((by_key.ranks, by_key.reference_ns), (Some(2), 200.0));
        let python = time(&row("python", "sum contiguous", 10, "numpy.sum"));
        assert!((python.reference_ns - 200.0).abs() < 1e-9);
        let reduce = time(&row("reduce", "plan", 2, "unordered-simd+MPI_Allreduce"));
        assert_eq!((reduce.ranks, reduce.state), (Some(2), None));
        assert!((reduce.reference_ns - 200.0).abs() < 1e-9);
    }

    #[test]
    fn what_no_page_is_about_is_left_out() {
        let exact = format!("exact-{}", Level::best());
        assert!(is_told(&row("kernels", &exact, 1 << 20, "unordered-simd")));
        assert!(!is_told(&row("kernels", &exact, 1 << 19, "unordered-simd")));
        assert!(!is_told(&row("kernels", &exact, 1 << 20, "left-to-right")));
        assert!(is_told(&row("reduce", "plan", 2, "left-to-right")));
        assert!(is_told(&row("reduce", "algorithm1", 2, "unordered-simd")));
        assert!(!is_told(&row("reduce", "algorithm1", 2, "left-to-right")));
        assert!(!is_told(&row("reduce", "bruck", 2, "unordered-simd")));
    }
}
