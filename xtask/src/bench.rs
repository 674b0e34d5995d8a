//! `cargo xtask bench`: times candidates and references alternately in one run. `footprint` counts the cache lines that short calls touch;
//! `peers` also measures other libraries.

use std::path::PathBuf;

use checkout::workspace::{target, workspace};
use clap::Args;
use gate::peers::{self, Job, Measurement, REFERENCE, TREEFOLD};
use harness::bench::timing::median;
use harness::bench::{
    Measured, Row, exact, kernels, lookup, plot, python, reduce, schedules, show, sums,
};
use harness::measured::Recording;
use harness::output::Output;
use harness::{Backend, Error, Place, choices};
use launch::MpiOptions;
use serde::Serialize;

/// Options of `bench`.
#[derive(Args, Clone, Debug)]
pub struct BenchOptions {
    /// The bench: sums, kernels, parallel, exact, python, lookup, reduce, schedules, scalar or all; or `footprint`, which installs the libraries in
    /// target/, counts the cache lines that short calls in C touch, and needs mpicc, pkg-config and valgrind; or `peers`: see --peers
    #[arg(default_value = "all", value_name = "NAME")]
    name: String,
    /// How the ranks of `exact`, `reduce`, `schedules` and `scalar` run
    #[arg(long, default_value = "threads", value_enum, value_name = "NAME")]
    backend: Backend,
    #[command(flatten)]
    mpi: MpiOptions,
    /// Numbers of ranks for `exact`, `reduce`, `schedules`, `scalar` and `peers` [default: 2; for `peers` 1,2]
    #[arg(long, value_name = "LIST")]
    ranks: Option<String>,
    /// A folder with the sources of ReproRed, ReproBLAS or the program of Stelz's thesis, or several of these. `peers` builds and compares them
    /// with treefold's allreduce, which it installs in target/; it needs mpicxx and pkg-config. Without a folder, it says where to get the sources
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// Measure fewer sizes and rounds
    #[arg(long)]
    quick: bool,
    /// Write a JSON object for every row to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
    /// Store the results in docs/ with the machine, date and commit. `sums` stores pictures. Other benches store times in docs/measured, from
    /// which `cargo xtask numbers` copies them into pages
    #[arg(long)]
    record: bool,
}

/// The name of each bench, and whether it runs on ranks.
const BENCHES: [(&str, bool); 9] = [
    ("sums", false),
    ("kernels", false),
    ("parallel", false),
    ("exact", true),
    ("python", false),
    ("lookup", false),
    ("reduce", true),
    ("schedules", true),
    ("scalar", true),
];

/// Runs the command.
pub fn run(options: &BenchOptions) -> Result<(), Error> {
    match &*options.name {
        "footprint" => return footprint(options),
        "peers" => return bench_peers(options),
        _ if options.peers.is_some() => {
            return Err(Error::option("--peers", "only `bench peers` accepts it"));
        }
        _ => {}
    }
    let is_chosen = |(name, _): &(&str, bool)| ["all", name].contains(&&*options.name);
    let chosen: Vec<(&str, bool)> = BENCHES.into_iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        let (name, known) = (&options.name, BENCHES.map(|(name, _)| name).join(", "));
        let reason = format!("unknown bench `{name}`; known: {known}, all, footprint, peers");
        return Err(Error::option("bench", reason));
    }
    let backend = options.backend;
    let ranks = choices::rank_counts(options.ranks())?;
    let place = if chosen.iter().any(|(_, is_of_ranks)| *is_of_ranks) {
        Place::chosen(backend, &options.mpi)?
    } else {
        Place::Threads
    };
    let mut output = Output::open(options.json.as_deref())?;
    for (name, is_of_ranks) in chosen {
        let recording = options.recording(name, is_of_ranks.then_some(backend))?;
        options.measure(name, &place, &ranks, recording, &mut output)?;
    }
    output.finish()
}

/// Prints the cache lines that short calls touch.
fn footprint(options: &BenchOptions) -> Result<(), Error> {
    let given = [
        (options.record, "--record"),
        (options.json.is_some(), "--json"),
    ];
    if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
        return Err(Error::option(option, "`footprint` only prints a table"));
    }
    let output = Output::open(None)?;
    for line in gate::footprint(&options.mpi.installation()?)? {
        output.say(line);
    }
    output.finish()
}

/// Writes rows as JSON if asked, to the record if there is one, and as a table.
fn keep<R: Measured>(
    name: &str,
    rows: &[R],
    recording: Option<Recording>,
    output: &mut Output,
) -> Result<(), Error> {
    for row in rows {
        output.json(row)?;
    }
    if let Some(mut recording) = recording {
        let times = rows.iter().filter_map(Measured::time);
        times.for_each(|time| recording.push(time));
        output.say(format!("record: {}", recording.write()?.display()));
    }
    show(name, rows, output);
    Ok(())
}

impl BenchOptions {
    /// The numbers of ranks, as typed.
    fn ranks(&self) -> &str {
        self.ranks.as_deref().unwrap_or("2")
    }

    fn measure(
        &self,
        name: &str,
        place: &Place,
        ranks: &[usize],
        mut recording: Option<Recording>,
        output: &mut Output,
    ) -> Result<(), Error> {
        let quick = self.quick;
        let mut of_schedules = Vec::new();
        let mut rows: Vec<Row> = match name {
            "kernels" => kernels::measure(quick, output),
            "parallel" => kernels::parallel(quick),
            "exact" => exact::measure(quick, output),
            "lookup" => lookup::measure(quick, output),
            _ => Vec::new(),
        };
        for &ranks in ranks {
            match name {
                "exact" => rows.extend(exact::launch(place, ranks, quick, output)?),
                "reduce" => rows.extend(reduce::launch(place, ranks, quick, output)?),
                "schedules" => {
                    of_schedules.extend(schedules::launch(place, ranks, quick, output)?);
                }
                "scalar" => {
                    of_schedules.extend(schedules::launch_scalar(place, ranks, quick, output)?);
                }
                _ => {}
            }
        }
        let of_python = match name {
            "exact" => python::measure(quick, output)?,
            "python" => python::beside_numpy(quick, output)?,
            _ => python::PythonMeasurement::default(),
        };
        if let (Some(recording), Some(versions)) = (&mut recording, of_python.versions) {
            recording.mention(&versions);
        }
        rows.extend(of_python.rows);
        match name {
            "sums" => {
                let kept = self.record.then(|| workspace().join("docs"));
                let folder = kept.map_or_else(target, Ok)?;
                for picture in plot::sums(&sums::measure(quick, output), &folder)? {
                    output.say(format!("plot: {}", picture.display()));
                }
                Ok(())
            }
            "schedules" | "scalar" => keep(name, &of_schedules, recording, output),
            _ => keep(name, &rows, recording, output),
        }
    }

    /// The record that a bench writes, if it writes one.
    fn recording(&self, name: &str, backend: Option<Backend>) -> Result<Option<Recording>, Error> {
        if !self.record || name == "sums" {
            return Ok(None);
        }
        let mut words = name.to_owned();
        if let Some(backend) = backend {
            words += &format!(" --backend {} --ranks {}", backend.name(), self.ranks());
        }
        if self.quick {
            words += " --quick";
        }
        // Most cases of `exact` run in one process, so all backends share one record.
        let file = match backend.filter(|_| name != "exact") {
            Some(backend) => format!("{name}-{}", backend.name()),
            None => name.to_owned(),
        };
        let mpi = self.mpi.installation()?;
        let mpi = (backend == Some(Backend::Mpi)).then_some(&mpi);
        Ok(Some(Recording::begin(&file, &words, mpi)))
    }
}

/// One line of `--json`: the sums of one library, for one length and number of ranks.
#[derive(Debug, Serialize)]
struct PeerRow {
    bench: &'static str,
    variant: String,
    n: u64,
    ranks: usize,
    /// The state of the cache: `warm` or `cold`.
    state: String,
    median_ns: f64,
    /// The library's time divided by the reference's.
    ratio: f64,
    reference: &'static str,
    /// The bits of the sum, in hexadecimal digits.
    bits: String,
    /// Whether treefold's sum of the same items on the same ranks has the same bits.
    has_treefolds_bits: bool,
}

/// Runs `bench peers`.
fn bench_peers(options: &BenchOptions) -> Result<(), Error> {
    if options.record {
        let reason = "`peers` keeps no record, since it also measures other libraries";
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
    };
    let installation = options.mpi.installation()?;
    let measured = peers::measure(job, &installation, &|words| output.say(words))?;
    keep("peers", &peer_rows(&measured), None, &mut output)?;
    output.finish()
}

/// A row for each measurement of a library. Its ratio and bits are compared with those of the reference and of treefold in the same case.
fn peer_rows(measured: &[Measurement]) -> Vec<PeerRow> {
    let row = |one: &Measurement| {
        let of = |name: &str| {
            let key = |of: &Measurement| (of.n, of.ranks, of.state.clone());
            let mut alike = measured.iter().filter(|other| key(other) == key(one));
            alike.find(|other| other.name == name)
        };
        let median_ns = median(one.ns.clone());
        Some(PeerRow {
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

impl Measured for PeerRow {
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
    use super::{Measurement, REFERENCE, TREEFOLD, peer_rows};

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
        let rows = peer_rows(&[
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
