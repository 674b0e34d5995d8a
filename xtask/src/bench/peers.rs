//! `cargo xtask bench peers`: treefold compared with other reproducible sums.

use gate::peers::{self, Job, Measurement, REFERENCE, TREEFOLD};
use harness::bench::Measured;
use harness::bench::timing::median;
use harness::output::Output;
use harness::{Error, choices};
use serde::Serialize;

use super::{Options, keep};

/// A library's sums of a length on a number of ranks: one line of `--json`.
#[derive(Debug, Serialize)]
struct Row {
    bench: &'static str,
    variant: String,
    n: u64,
    ranks: usize,
    /// `warm` or `cold`.
    state: String,
    median_ns: f64,
    /// Its time divided by the reference's.
    ratio: f64,
    reference: &'static str,
    /// The bits of the sum, in hexadecimal digits.
    bits: String,
    /// Whether treefold's sum of the same items on the same ranks has the same bits.
    has_treefolds_bits: bool,
}

/// Runs the bench.
pub(super) fn bench(options: &Options) -> Result<(), Error> {
    if options.record {
        let reason = "`peers` keeps no record: what it measures is not of this project alone";
        return Err(Error::option("--record", reason));
    }
    let Some(folder) = &options.peers else {
        return Err(Error::option("--peers", peers::advice()));
    };
    let ranks = choices::rank_counts(options.ranks.as_deref().unwrap_or("1,2"))?;
    let mut output = Output::open(options.json.as_deref())?;
    let job = Job {
        folder,
        ranks: &ranks,
        quick: options.quick,
        cold: !options.warm,
    };
    let installation = options.mpi.installation()?;
    let measured = peers::measure(job, &installation, &|words| output.say(words))?;
    keep("peers", &rows(&measured), None, &mut output)?;
    output.finish()
}

/// A row for each measurement, compared with the reference and with treefold for the same case.
fn rows(measured: &[Measurement]) -> Vec<Row> {
    let row = |one: &Measurement| {
        let of = |name: &str| {
            let key = |of: &Measurement| (of.n, of.ranks, of.state.clone());
            let mut alike = measured.iter().filter(|other| key(other) == key(one));
            alike.find(|other| other.name == name)
        };
        let median_ns = median(one.ns.clone());
        Some(Row {
            bench: "peers",
            variant: one.name.clone(),
            n: one.n,
            ranks: one.ranks,
            state: one.state.clone(),
            median_ns,
            ratio: median_ns / median(of(REFERENCE)?.ns.clone()),
            reference: REFERENCE,
            bits: format!("{:016X}", one.bits),
            has_treefolds_bits: of(TREEFOLD)?.bits == one.bits,
        })
    };
    measured.iter().filter_map(row).collect()
}

impl Measured for Row {
    fn ratios(_: &str) -> String {
        "time".to_owned()
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        let has_bits = if self.has_treefolds_bits { "yes" } else { "no" };
        vec![
            ("library", self.variant.clone()),
            ("state", self.state.clone()),
            ("ranks", self.ranks.to_string()),
            ("n", self.n.to_string()),
            ("ns", format!("{:.0}", self.median_ns)),
            ("ratio", format!("{:.2}", self.ratio)),
            ("treefold's bits", has_bits.to_owned()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{Measurement, REFERENCE, TREEFOLD, rows};

    #[test]
    fn each_is_compared_within_its_own_run() {
        let of = |name: &str, ranks, bits, ns: f64| Measurement {
            name: name.to_owned(),
            ranks,
            n: 460,
            state: "cold".to_owned(),
            bits,
            ns: vec![ns, 2.0 * ns, 1000.0 * ns],
        };
        let rows = rows(&[
            of(REFERENCE, 1, 7, 100.0),
            of(TREEFOLD, 1, 8, 150.0),
            of("other", 1, 8, 300.0),
            of(REFERENCE, 2, 7, 200.0),
            of(TREEFOLD, 2, 8, 100.0),
        ]);
        let told = rows.iter().map(|row| (row.ratio, row.has_treefolds_bits));
        let told: Vec<_> = told.collect();
        let expected = [
            (1.0, false),
            (1.5, true),
            (3.0, true),
            (1.0, false),
            (0.5, true),
        ];
        assert_eq!(told, expected);
    }
}
