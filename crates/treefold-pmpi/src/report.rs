//! The report at the end, as text for a person or as JSON.

use std::fmt::Write;

use crate::settings::Mode;
use crate::statistics::{Counts, Kind, Statistics};

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
            "treefold-pmpi: {} ranks, {}",
            self.ranks, self.library
        )?;
        if self.counted < self.ranks {
            let (counted, ranks) = (self.counted, self.ranks);
            writeln!(
                text,
                "  Only {counted} of {ranks} ranks are in this report."
            )?;
        }
        if total.calls == 0 {
            writeln!(
                text,
                "  The program made no reduction that treefold takes over."
            )?;
        } else if !is_check {
            writeln!(text, "  These reductions were treefold's:")?;
        } else if total.differing == 0 {
            writeln!(
                text,
                "  The program got the MPI library's results. All of them had treefold's bits."
            )?;
        } else {
            let share = percent(total.differing, total.compared);
            let (differing, compared) = (total.differing, total.compared);
            writeln!(
                text,
                "  The program got the MPI library's results. {differing} of {compared} ({share}) had other bits than treefold's:"
            )?;
            writeln!(
                text,
                "  they depend on the library's choice of algorithm. With TREEFOLD_PMPI=on they do not."
            )?;
        }
        if total.failed > 0 {
            writeln!(text, "  treefold failed in {} calls.", total.failed)?;
        }
        if total.environments > 0 {
            writeln!(
                text,
                "  {} calls came from threads with another floating-point environment than the default one.",
                total.environments
            )?;
        }
        if total.calls > 0 {
            self.write_taken(text, is_check)?;
        }
        if self.passed().next().is_some() {
            writeln!(text, "\n  Passed to the MPI library:")?;
            writeln!(
                text,
                "  {:<22} {:<14} {:<5} {:>10} {:>14}  why",
                "MPI_", "type", "op", "calls", "bytes"
            )?;
        }
        for (kind, counts) in merged_sizes(self.passed()) {
            writeln!(
                text,
                "  {:<22} {:<14} {:<5} {:>10} {:>14}  {}",
                kind.call, kind.element, kind.op, counts.calls, counts.bytes, kind.passed
            )?;
        }
        let lines =
            "  Calls, bytes and seconds are sums over ranks: a call that 4 ranks make counts 4.";
        writeln!(text, "{lines}")
    }

    fn write_taken(&self, text: &mut String, is_check: bool) -> std::fmt::Result {
        write!(
            text,
            "\n  {:<22} {:<14} {:<5} {:>9} {:>10} {:>14} {:>11}",
            "MPI_", "type", "op", "up to", "calls", "bytes", "treefold s"
        )?;
        match is_check {
            true => writeln!(
                text,
                " {:>11} {:>10} {:>8} {:>14}",
                "library s", "differ", "", "elements"
            )?,
            false => writeln!(text)?,
        }
        for (kind, counts) in self.taken() {
            write!(
                text,
                "  {:<22} {:<14} {:<5} {:>9} {:>10} {:>14} {:>11.3}",
                kind.call,
                kind.element,
                kind.op,
                size(kind.size_class),
                counts.calls,
                counts.bytes,
                seconds(counts.treefold_ns)
            )?;
            match is_check {
                true => writeln!(
                    text,
                    " {:>11.3} {:>10} {:>8} {:>14}",
                    seconds(counts.library_ns),
                    counts.differing,
                    percent(counts.differing, counts.compared),
                    counts.differing_elements
                )?,
                false => writeln!(text)?,
            }
        }
        Ok(())
    }

    /// For a program: one object.
    pub(crate) fn json(&self) -> String {
        let entries = |list: &mut dyn Iterator<Item = (&Kind, &Counts)>| {
            let entries: Vec<String> = list.map(|(kind, counts)| entry(kind, counts)).collect();
            entries.join(",\n    ")
        };
        format!(
            "{{\n  \"mode\": {},\n  \"library\": {},\n  \"ranks\": {},\n  \"ranks_counted\": {},\n  \"reductions\": [\n    {}\n  ],\n  \"passed\": [\n    {}\n  ]\n}}\n",
            quoted(self.mode.name()),
            quoted(self.library),
            self.ranks,
            self.counted,
            entries(&mut self.taken()),
            entries(&mut self.passed()),
        )
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

fn entry(kind: &Kind, counts: &Counts) -> String {
    let mut text = format!("{{\"call\": {}", quoted(&format!("MPI_{}", kind.call)));
    for (name, word) in [
        ("type", &kind.element),
        ("op", &kind.op),
        ("why", &kind.passed),
    ] {
        if !word.is_empty() {
            let _ = write!(text, ", \"{name}\": {}", quoted(word));
        }
    }
    let _ = write!(
        text,
        ", \"bytes_max\": {}, \"calls\": {}, \"bytes\": {}, \"treefold_seconds\": {}, \"library_seconds\": {}, \
         \"compared\": {}, \"differing\": {}, \"elements\": {}, \"differing_elements\": {}, \"failed\": {}, \
         \"other_environment\": {}}}",
        4_u64.saturating_pow(kind.size_class),
        counts.calls,
        counts.bytes,
        seconds(counts.treefold_ns),
        seconds(counts.library_ns),
        counts.compared,
        counts.differing,
        counts.elements,
        counts.differing_elements,
        counts.failed,
        counts.environments,
    );
    text
}

/// As a string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => quoted.push(' '),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{quoted, size};

    #[test]
    fn sizes_are_powers_of_four() {
        assert_eq!(
            [0, 2, 5, 6, 10].map(size),
            ["1 B", "16 B", "1 KiB", "4 KiB", "1 MiB"]
        );
    }

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quoted("a \"b\" \\ \n"), r#""a \"b\" \\  ""#);
    }
}
