//! The report at the end of the program, as text.

mod columns;
mod json;
#[cfg(test)]
mod tests;
mod verdict;

use columns::{columns, sentence};
use comm::text::counted;

use crate::settings::Mode;
use crate::statistics::{Counts, Kind, Statistics};

#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) statistics: &'a Statistics,
    /// The places of calls whose results (may) differ: the function's name, the number of calls, and the place; most frequent first.
    pub(crate) sites: &'a [(String, u64, String)],
    pub(crate) mode: Mode,
    /// The first line of the MPI library's version text.
    pub(crate) library: &'a str,
    /// The number of ranks of the program.
    pub(crate) ranks: usize,
    /// The number of ranks whose counts are included.
    pub(crate) counted: usize,
    /// The file whose reductions the program calls instead of this library's, if there is one.
    pub(crate) ahead: Option<String>,
}

/// The maximum width of a place. Longer places lose their beginning, so that lines have at most 100 columns.
const SITE_WIDTH_MAX: usize = 60;

/// A text for 4^`class` bytes, with a unit.
fn size(class: u32) -> String {
    let exponent = 2 * class;
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = units[(exponent / 10).min(6) as usize];
    format!("{} {unit}", 1_u64 << (exponent % 10))
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn seconds_text(ns: u64) -> String {
    format!("{:.3}", seconds(ns))
}

/// A percentage; `-` if the whole is 0.
fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

impl Report<'_> {
    fn taken(&self) -> impl Iterator<Item = (&Kind, &Counts)> {
        let all = self.statistics.iter();
        all.filter(|(kind, _)| kind.passed.is_empty())
    }

    fn passed(&self) -> impl Iterator<Item = (&Kind, &Counts)> {
        let all = self.statistics.iter();
        all.filter(|(kind, _)| !kind.passed.is_empty())
    }

    /// The number of intercepted calls, replaced or passed on.
    fn calls_seen(&self) -> u64 {
        let calls = self.statistics.iter().map(|(_, counts)| counts.calls);
        calls.fold(0, u64::saturating_add)
    }

    fn total(&self) -> Counts {
        self.taken()
            .fold(Counts::default(), |mut total, (_, counts)| {
                total.add(*counts);
                total
            })
    }

    pub(crate) fn text(&self) -> String {
        let total = self.total();
        let ranks = counted(self.ranks, "rank");
        let mut text = match self.mode {
            Mode::Check => {
                let library = sentence(&format!("{ranks}, {}.", self.library));
                format!("treefold-pmpi: {}\n", self.verdict()) + &self.disagreements() + &library
            }
            _ => format!("treefold-pmpi: {ranks},\n") + &sentence(self.library),
        };
        if self.counted < self.ranks {
            text += &sentence(&format!(
                "This report covers only {} of {ranks}.",
                self.counted
            ));
        }
        text += &self.outcome(&total);
        if total.failed > 0 {
            let failed = counted(total.failed, "call");
            text += &sentence(&format!("treefold failed in {failed}."));
        }
        if total.environments > 0 {
            let calls = counted(total.environments, "call");
            text += &sentence(&format!(
                "{calls} came from threads with a non-default floating-point environment."
            ));
        }
        text += &self.taken_over();
        text += &self.called_from();
        text += &self.passed_on();
        if self.ranks > 1 {
            text += &sentence(&format!(
                "Calls, bytes and seconds are sums over ranks: a call that all {0} ranks make counts {0} times.",
                self.ranks
            ));
        }
        text
    }

    /// The paragraph with the result.
    fn outcome(&self, total: &Counts) -> String {
        if self.calls_seen() == 0 {
            return self.unseen();
        }
        if total.calls == 0 {
            return sentence("The program made no reduction that treefold replaces.");
        }
        if self.mode != Mode::Check {
            return sentence("treefold ran these reductions:");
        }
        let results = sentence("The program got the MPI library's results.");
        let (differing, compared) = (total.differing, total.compared);
        if differing == 0 {
            let ranks = counted(self.ranks, "rank");
            return results
                + &sentence(&format!(
                    "With {ranks} and the library's choice of algorithms, all results had treefold's bits."
                ));
        }
        let share = percent(differing, compared);
        let found = format!("{differing} of {compared} ({share}) had other bits than treefold's:");
        results + &sentence(&found) + &cause(total)
    }

    /// Findings that no choice of algorithm explains: ranks that continue with different results of one call, or that have called
    /// different reductions. MPI forbids both.
    fn disagreements(&self) -> String {
        let mut text = match self.statistics.disagreements {
            0 => String::new(),
            calls => sentence(&format!(
                "In at least {}, ranks got different bits of the same result.",
                counted(calls, "call")
            )),
        };
        if !self.statistics.mismatched.is_empty() {
            text += &sentence("Ranks of one communicator have called different reductions:");
            let mut calls: Vec<_> = self.statistics.mismatched.iter().collect();
            calls.sort_unstable_by_key(|(_, (first, _))| first);
            for (asked, (first, ranks)) in calls {
                let others = match ranks - 1 {
                    0 => String::new(),
                    others => format!(" and {}", counted(others, "other")),
                };
                text += &sentence(&format!("rank {first}{others}: {asked}."));
            }
        }
        text
    }

    /// The paragraph for a report without any calls.
    fn unseen(&self) -> String {
        let why = match &self.ahead {
            Some(ahead) => format!(
                "The program calls the reductions of {ahead}, which comes before treefold's and hides its calls."
            ),
            None => "The program made no reduction, or another tool that comes before treefold's library hides its calls."
                .to_owned(),
        };
        sentence(&format!("Calls seen: 0. {why}"))
    }

    /// The tables of replaced calls. In a check, the table of differences comes first.
    fn taken_over(&self) -> String {
        let kinds: Vec<_> = self.taken().collect();
        if kinds.is_empty() {
            return String::new();
        }
        let is_check = self.mode == Mode::Check;
        let mut text = String::from("\n");
        if is_check {
            let mut rows = vec![
                [
                    "MPI_", "type", "op", "up to", "calls", "differ", "", "elements",
                ]
                .map(str::to_owned),
            ];
            rows.extend(kinds.iter().map(|(kind, counts)| {
                let [call, element, op, size] = key(kind);
                let share = percent(counts.differing, counts.compared);
                let calls = counts.calls.to_string();
                let differing = counts.differing.to_string();
                let elements = counts.differing_elements.to_string();
                [call, element, op, size, calls, differing, share, elements]
            }));
            let are_words = [true, true, true, false, false, false, false, false];
            text += &(columns(are_words, &rows) + "\n");
        }
        let last = if is_check { "library s" } else { "calls" };
        let mut rows =
            vec![["MPI_", "type", "op", "up to", "bytes", "treefold s", last].map(str::to_owned)];
        rows.extend(kinds.iter().map(|(kind, counts)| {
            let [call, element, op, size] = key(kind);
            let last = match self.mode {
                Mode::Check => seconds_text(counts.library_ns),
                _ => counts.calls.to_string(),
            };
            let bytes = counts.bytes.to_string();
            let own = seconds_text(counts.treefold_ns);
            [call, element, op, size, bytes, own, last]
        }));
        text + &columns([true, true, true, false, false, false, false], &rows)
    }

    fn called_from(&self) -> String {
        if self.sites.is_empty() {
            return String::new();
        }
        let mut rows = vec![["MPI_", "calls", "results (may) differ at"].map(str::to_owned)];
        rows.extend(self.sites.iter().map(|(call, calls, site)| {
            let end = site.char_indices().nth_back(SITE_WIDTH_MAX - 1);
            let end = end.map_or(0, |(at, _)| at);
            [call.clone(), calls.to_string(), site[end..].to_owned()]
        }));
        format!("\n{}", columns([true, false, true], &rows))
    }

    /// The table of calls passed to the MPI library.
    fn passed_on(&self) -> String {
        let kinds = merged_sizes(self.passed());
        if kinds.is_empty() {
            return String::new();
        }
        let mut rows = vec![["MPI_", "type", "op", "calls", "bytes", "why"].map(str::to_owned)];
        rows.extend(kinds.into_iter().map(|(kind, counts)| {
            let [call, element, op, _] = key(&kind);
            let (calls, bytes) = (counts.calls.to_string(), counts.bytes.to_string());
            [call, element, op, calls, bytes, kind.passed]
        }));
        let table = columns([true, true, true, false, false, true], &rows);
        format!("\n  Passed to the MPI library:\n{table}\n")
    }
}

/// The first cells of a row.
fn key(kind: &Kind) -> [String; 4] {
    let size = size(kind.size_class);
    [
        kind.call.clone(),
        kind.element.clone(),
        kind.op.clone(),
        size,
    ]
}

/// Why results differ. The MPI library computes in the program's floating-point environment, treefold in the default one.
fn cause(total: &Counts) -> String {
    let (differing, elsewhere) = (total.differing, total.differing_environments);
    if total.environments == 0 {
        return sentence("they depend on the library's choice of algorithm.")
            + &sentence("With TREEFOLD_PMPI=on they do not.");
    }
    let text = sentence(&format!(
        "Of these {differing}, {elsewhere} came from threads that flush subnormal numbers to zero or do not round to nearest. The library \
         computes in that environment, treefold in the default one: such results may differ with any algorithm."
    ));
    match differing - elsewhere {
        0 => text,
        others => {
            text + &sentence(&format!(
                "The rest, {others}, depends on the library's choice of algorithm, unless the environment of another rank is the cause."
            ))
        }
    }
}

/// Merges kinds that differ only in size.
fn merged_sizes<'a>(list: impl Iterator<Item = (&'a Kind, &'a Counts)>) -> Vec<(Kind, Counts)> {
    let mut merged: Vec<(Kind, Counts)> = Vec::new();
    for (kind, counts) in list {
        let kind = Kind {
            size_class: 0,
            ..kind.clone()
        };
        match merged.iter_mut().find(|(there, _)| *there == kind) {
            Some((_, total)) => total.add(*counts),
            None => merged.push((kind, *counts)),
        }
    }
    merged
}
