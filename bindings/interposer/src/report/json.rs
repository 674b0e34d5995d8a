//! The report as JSON.

use serde::Serialize;

use super::{Report, seconds};
use crate::settings::Mode;
use crate::statistics::{Counts, Kind};

#[derive(Serialize)]
struct Object<'a> {
    mode: &'a str,
    /// The findings of a check.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    /// A lower bound for the number of calls in which the MPI library gave ranks different bits of one result.
    disagreements: u64,
    /// The calls that do not match calls of other ranks.
    mismatched: Vec<Mismatched<'a>>,
    library: &'a str,
    ranks: usize,
    ranks_counted: usize,
    calls_seen: u64,
    /// The file whose reductions the program calls instead of this library's.
    #[serde(skip_serializing_if = "Option::is_none")]
    ahead: Option<&'a str>,
    reductions: Vec<Entry<'a>>,
    passed: Vec<Entry<'a>>,
    /// The places of calls whose results differ or may differ.
    sites: Vec<Site<'a>>,
}

/// A call of some ranks where other ranks made a different call.
#[derive(Serialize)]
struct Mismatched<'a> {
    asked: &'a str,
    first_rank: usize,
    ranks: usize,
}

#[derive(Serialize)]
struct Site<'a> {
    function: String,
    from: &'a str,
    of_calls: u64,
}

#[derive(Serialize)]
struct Entry<'a> {
    call: String,
    #[serde(rename = "type", skip_serializing_if = "str::is_empty")]
    element: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    op: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    why: &'a str,
    bytes_max: u64,
    calls: u64,
    bytes: u64,
    treefold_seconds: f64,
    library_seconds: f64,
    compared: u64,
    differing: u64,
    elements: u64,
    differing_elements: u64,
    failed: u64,
    other_environment: u64,
    differing_other_environment: u64,
}

fn entry<'a>((kind, counts): (&'a Kind, &'a Counts)) -> Entry<'a> {
    Entry {
        call: format!("MPI_{}", kind.call),
        element: &kind.element,
        op: &kind.op,
        why: &kind.passed,
        bytes_max: 4_u64.saturating_pow(kind.size_class),
        calls: counts.calls,
        bytes: counts.bytes,
        treefold_seconds: seconds(counts.treefold_ns),
        library_seconds: seconds(counts.library_ns),
        compared: counts.compared,
        differing: counts.differing,
        elements: counts.elements,
        differing_elements: counts.differing_elements,
        failed: counts.failed,
        other_environment: counts.environments,
        differing_other_environment: counts.differing_environments,
    }
}

fn site((call, calls, from): &(String, u64, String)) -> Site<'_> {
    Site {
        function: format!("MPI_{call}"),
        from,
        of_calls: *calls,
    }
}

fn mismatched<'a>((asked, &(first_rank, ranks)): (&'a String, &(usize, usize))) -> Mismatched<'a> {
    Mismatched {
        asked,
        first_rank,
        ranks,
    }
}

impl Report<'_> {
    pub(crate) fn json(&self) -> String {
        let object = Object {
            mode: self.mode.name(),
            verdict: (self.mode == Mode::Check).then(|| self.verdict()),
            disagreements: self.statistics.disagreements,
            mismatched: self.statistics.mismatched.iter().map(mismatched).collect(),
            library: self.library,
            ranks: self.ranks,
            ranks_counted: self.counted,
            calls_seen: self.calls_seen(),
            ahead: self.ahead.as_deref(),
            reductions: self.taken().map(entry).collect(),
            passed: self.passed().map(entry).collect(),
            sites: self.sites.iter().map(site).collect(),
        };
        let text = serde_json::to_string_pretty(&object);
        text.expect("numbers and strings can be written as JSON") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use crate::report::Report;
    use crate::settings::Mode;
    use crate::statistics::{Counts, Kind, Statistics};

    #[test]
    fn every_string_has_a_form() {
        let kind = Kind {
            passed: "another \"datatype\"\n".to_owned(),
            call: "Scan".to_owned(),
            element: String::new(),
            op: "sum".to_owned(),
            size_class: 2,
            is_open: true,
        };
        let counts = Counts {
            calls: 5,
            ..Counts::default()
        };
        let mut statistics = Statistics::default();
        statistics.count(kind, counts);
        let report = Report {
            statistics: &statistics,
            sites: &[],
            mode: Mode::On,
            library: "a\\b",
            ranks: 2,
            counted: 1,
            ahead: None,
        };
        let value: serde_json::Value = report.json().parse().expect("it is JSON");
        assert_eq!(value["library"], "a\\b");
        assert_eq!(value["reductions"].as_array().map(Vec::len), Some(0));
        let passed = &value["passed"][0];
        assert_eq!(passed["call"], "MPI_Scan");
        assert_eq!(passed["why"], "another \"datatype\"\n");
        assert_eq!(
            (&passed["calls"], &passed["bytes_max"]),
            (&5.into(), &16.into())
        );
        assert!(passed.get("type").is_none());
    }
}
