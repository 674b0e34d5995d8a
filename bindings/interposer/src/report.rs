//! The report at the end: here as text for a person.

mod columns;
mod json;

use std::fmt::Write;

use comm::text::counted;

use crate::settings::Mode;
use crate::statistics::{Counts, Kind, Statistics};
use columns::Align::{Left, Right};

/// What ranks have counted, and how many.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) statistics: &'a Statistics,
    pub(crate) mode: Mode,
    /// The first line of what the MPI library says that it is.
    pub(crate) library: &'a str,
    /// The ranks of the program.
    pub(crate) ranks: usize,
    /// Those of them whose numbers these are.
    pub(crate) counted: usize,
    /// The file whose reductions the program calls before this library's, if there is one.
    pub(crate) ahead: Option<String>,
}

/// 4^k bytes, for people.
fn size(class: u32) -> String {
    let exponent = 2 * class;
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = units[(exponent / 10).min(6) as usize];
    format!("{} {unit}", 1_u64 << (exponent % 10))
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A share, in per cent; nothing of nothing.
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

    /// The calls of reductions that came here, taken over or passed on.
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

    /// For a person.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, text: &mut String) -> std::fmt::Result {
        let total = self.total();
        let is_check = self.mode == Mode::Check;
        writeln!(
            text,
            "treefold-pmpi: {}, {}",
            counted(self.ranks, "rank"),
            self.library
        )?;
        if self.counted < self.ranks {
            let ranks = counted(self.ranks, "rank");
            writeln!(
                text,
                "  This report is of {} of {ranks} only.",
                self.counted
            )?;
        }
        if self.calls_seen() == 0 {
            self.write_unseen(text)?;
        } else if total.calls == 0 {
            writeln!(
                text,
                "  The program made no reduction that treefold takes over."
            )?;
        } else if !is_check {
            writeln!(text, "  These reductions were treefold's:")?;
        } else if total.differing == 0 {
            writeln!(
                text,
                "  The program got the MPI library's results.\n  With {} and its choice of algorithms, all had treefold's bits.",
                counted(self.ranks, "rank")
            )?;
        } else {
            let share = percent(total.differing, total.compared);
            let (differing, compared) = (total.differing, total.compared);
            writeln!(
                text,
                "  The program got the MPI library's results.\n  {differing} of {compared} ({share}) had other bits than treefold's:"
            )?;
            self.write_cause(text, &total)?;
        }
        if total.failed > 0 {
            let failed = counted(total.failed, "call");
            writeln!(text, "  treefold failed in {failed}.")?;
        }
        if total.environments > 0 {
            writeln!(
                text,
                "  {} came from threads with another floating-point environment than the default one.",
                counted(total.environments, "call")
            )?;
        }
        if total.calls > 0 {
            self.write_taken(text, is_check)?;
        }
        if self.passed().next().is_some() {
            writeln!(text, "\n  Passed to the MPI library:")?;
            self.write_passed(text)?;
        }
        let ranks = self.ranks;
        match ranks {
            0 | 1 => Ok(()),
            _ => writeln!(
                text,
                "\n  Calls, bytes and seconds are sums over ranks:\n  a call that all {ranks} make counts {ranks}."
            ),
        }
    }

    /// Why there may be nothing to report.
    fn write_unseen(&self, text: &mut String) -> std::fmt::Result {
        match &self.ahead {
            Some(ahead) => writeln!(
                text,
                "  Calls seen: 0. The program calls the reductions of {ahead}, which comes before treefold's and hides its calls."
            ),
            None => writeln!(
                text,
                "  Calls seen: 0. The program made no reduction, or another tool that comes before treefold's library hides its calls."
            ),
        }
    }

    /// Why results differ. The MPI library computes in the program's floating-point environment, treefold in the default one.
    fn write_cause(&self, text: &mut String, total: &Counts) -> std::fmt::Result {
        let (differing, elsewhere) = (total.differing, total.differing_environments);
        if total.environments == 0 {
            return writeln!(
                text,
                "  they depend on the library's choice of algorithm.\n  With TREEFOLD_PMPI=on they do not."
            );
        }
        writeln!(
            text,
            "  Of these {differing}, {elsewhere} came from threads that flush subnormal numbers to zero or do not round to nearest. The library's\n  \
             sums are computed like that, on this rank and on others, and treefold's never: such bits may differ whatever the algorithm is."
        )?;
        match differing - elsewhere {
            0 => Ok(()),
            others => writeln!(
                text,
                "  The rest, {others}, depends on the library's choice of algorithm, unless another rank's environment is the cause."
            ),
        }
    }

    /// What differs stands before the numbers that say less.
    fn write_taken(&self, text: &mut String, is_check: bool) -> std::fmt::Result {
        writeln!(text)?;
        let named = |kind: &Kind, counts: &Counts| {
            let size = size(kind.size_class);
            let names = [&kind.call, &kind.element, &kind.op, &size].map(String::clone);
            (names, counts.calls.to_string(), counts.bytes.to_string())
        };
        let duration = |ns| format!("{:.3}", seconds(ns));
        if is_check {
            let head = [
                "MPI_",
                "type",
                "op",
                "up to",
                "calls",
                "differ",
                "",
                "elements",
                "bytes",
                "treefold s",
                "library s",
            ];
            let mut rows = vec![head.map(str::to_owned)];
            for (kind, counts) in self.taken() {
                let ([call, element, op, size], calls, bytes) = named(kind, counts);
                rows.push([
                    call,
                    element,
                    op,
                    size,
                    calls,
                    counts.differing.to_string(),
                    percent(counts.differing, counts.compared),
                    counts.differing_elements.to_string(),
                    bytes,
                    duration(counts.treefold_ns),
                    duration(counts.library_ns),
                ]);
            }
            let aligns: [_; 11] =
                std::array::from_fn(|column| if column < 3 { Left } else { Right });
            return columns::write(text, aligns, &rows);
        }
        let head = [
            "MPI_",
            "type",
            "op",
            "up to",
            "calls",
            "bytes",
            "treefold s",
        ];
        let mut rows = vec![head.map(str::to_owned)];
        for (kind, counts) in self.taken() {
            let ([call, element, op, size], calls, bytes) = named(kind, counts);
            let duration = duration(counts.treefold_ns);
            rows.push([call, element, op, size, calls, bytes, duration]);
        }
        let aligns = [Left, Left, Left, Right, Right, Right, Right];
        columns::write(text, aligns, &rows)
    }

    fn write_passed(&self, text: &mut String) -> std::fmt::Result {
        let head = ["MPI_", "type", "op", "calls", "bytes", "why"];
        let mut rows = vec![head.map(str::to_owned)];
        for (kind, counts) in merged_sizes(self.passed()) {
            let [calls, bytes] = [counts.calls, counts.bytes].map(|count| count.to_string());
            rows.push([kind.call, kind.element, kind.op, calls, bytes, kind.passed]);
        }
        columns::write(text, [Left, Left, Left, Right, Right, Left], &rows)
    }
}

/// Adds up what differs in size alone.
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

#[cfg(test)]
mod tests {
    use super::{Report, size};
    use crate::settings::Mode;
    use crate::statistics::{Counts, Kind, Statistics};

    fn report(statistics: &Statistics) -> Report<'_> {
        Report {
            statistics,
            mode: Mode::Check,
            library: "a library",
            ranks: 2,
            counted: 2,
            ahead: None,
        }
    }

    /// Of one kind.
    fn statistics(counts: Counts) -> Statistics {
        let kind = Kind {
            passed: String::new(),
            call: "Allreduce".to_owned(),
            element: "double".to_owned(),
            op: "sum".to_owned(),
            size_class: 3,
        };
        let mut statistics = Statistics::default();
        statistics.count(kind, counts);
        statistics
    }

    #[test]
    fn sizes_are_powers_of_four() {
        assert_eq!(
            [0, 2, 5, 6, 10].map(size),
            ["1 B", "16 B", "1 KiB", "4 KiB", "1 MiB"]
        );
    }

    /// A page, and many a terminal, show no more of a line.
    #[test]
    fn what_differs_stands_in_the_first_70_columns() {
        let counts = Counts {
            calls: 1_000_000,
            compared: 1_000_000,
            differing: 900_000,
            differing_elements: 9_000_000,
            ..Counts::default()
        };
        let text = report(&statistics(counts)).text();
        let is_row = |line: &&str| line.contains("Allreduce");
        let row = text.lines().find(is_row).unwrap_or_default();
        let end = row.find("9000000 ").map(|begin| begin + 7);
        assert!(end.is_some_and(|end| end <= 70), "{text}");
    }

    #[test]
    fn another_environment_is_no_choice_of_algorithm() {
        let text_of = |environments, differing_environments| {
            let counts = Counts {
                calls: 4,
                compared: 4,
                differing: 3,
                environments,
                differing_environments,
                ..Counts::default()
            };
            report(&statistics(counts)).text()
        };
        let of_algorithm = "depend on the library's choice of algorithm";
        let text = text_of(0, 0);
        assert!(text.contains(of_algorithm) && !text.contains("subnormal"));
        let text = text_of(4, 3);
        assert!(!text.contains(of_algorithm) && text.contains("Of these 3, 3 came"));
        let text = text_of(2, 2);
        assert!(text.contains("The rest, 1, depends on") && text.contains("Of these 3, 2 came"));
    }

    #[test]
    fn nothing_seen_is_said_with_what_hides_calls() {
        let nothing = Statistics::default();
        let text = report(&nothing).text();
        assert!(text.contains("Calls seen: 0. The program made no reduction, or another tool"));
        let report = Report {
            ahead: Some("/lib/libtool.so".to_owned()),
            ..report(&nothing)
        };
        let text = report.text();
        assert!(
            text.contains("Calls seen: 0. The program calls the reductions of /lib/libtool.so")
        );
        assert!(report.json().contains("\"calls_seen\": 0"));
    }

    #[test]
    fn numbers_agree_with_their_nouns() {
        let counts = Counts {
            calls: 1,
            failed: 1,
            environments: 1,
            ..Counts::default()
        };
        let statistics = statistics(counts);
        let report = Report {
            ranks: 1,
            counted: 1,
            ..report(&statistics)
        };
        let text = report.text();
        for told in ["1 rank, ", "With 1 rank and", "in 1 call.", "  1 call came"] {
            assert!(text.contains(told), "{told}: {text}");
        }
        for wrong in ["1 ranks", "1 calls", "all 1"] {
            assert!(!text.contains(wrong), "{wrong}: {text}");
        }
    }
}
