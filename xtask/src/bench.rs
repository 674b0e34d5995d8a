//! `cargo xtask bench`: everything that is compared is measured in one run, turn by turn. `footprint` counts what short calls touch.

use checkout::table::Table;
use checkout::workspace::{target, workspace};
use clap::Args;
use harness::Error;
use harness::bench::record::Recording;
use harness::bench::{
    Row, exact, has_ratio_of_times, kernels, lookup, parallel, plot, reduce, schedules, sums,
};
use harness::output::Output;
use harness::{Backend, Place, choices};
use launch::MpiOptions;

/// Options of `bench`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// sums, kernels, parallel, exact, python, lookup, reduce, schedules, scalar or all. Or footprint: it installs the libraries in target/, counts
    /// the cache lines that short calls in C touch, and needs mpicc, pkg-config and valgrind
    #[arg(default_value = "all", value_name = "NAME")]
    name: String,
    /// Where the ranks of `exact`, `reduce`, `schedules` and `scalar` live: threads or mpi
    #[arg(long, default_value = "threads", value_name = "NAME")]
    backend: String,
    #[command(flatten)]
    mpi: MpiOptions,
    /// The numbers of ranks of `exact`, `reduce`, `schedules` and `scalar`; three or more of `reduce` also give a plot of its time over them
    #[arg(long, default_value = "2", value_name = "LIST")]
    ranks: String,
    /// Few sizes and few rounds
    #[arg(long)]
    quick: bool,
    /// Leave out the single calls of `reduce` after other work, which take minutes where others use the machine
    #[arg(long)]
    warm: bool,
    /// Write a JSON object for every row to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
    /// Keep in docs/ what pages show, with the machine, the date and the commit: the pictures of `sums`, and in docs/measured the times of
    /// the others, which `numbers` writes into the pages
    #[arg(long)]
    record: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Error> {
    let known = [
        "sums",
        "kernels",
        "parallel",
        "exact",
        "python",
        "lookup",
        "reduce",
        "schedules",
        "scalar",
    ];
    if options.name == "footprint" {
        for (is_given, option) in [
            (options.record, "--record"),
            (options.json.is_some(), "--json"),
        ] {
            if is_given {
                return Err(Error::option(option, "`footprint` prints a table alone"));
            }
        }
        let output = Output::open(None)?;
        for line in gate::footprint(&options.mpi.installation()?)? {
            output.say(line);
        }
        return output.finish();
    }
    let chosen: Vec<&str> = match options.name.as_str() {
        "all" => known.to_vec(),
        name if known.contains(&name) => vec![name],
        name => {
            let reason = format!(
                "unknown bench `{name}`; known: {}, all, footprint",
                known.join(", ")
            );
            return Err(Error::option("bench", reason));
        }
    };
    let [backend] = Backend::parse(&options.backend)?[..] else {
        return Err(Error::option(
            "--backend",
            "a bench runs on one backend: threads or mpi",
        ));
    };
    let ranks = choices::rank_counts(&options.ranks)?;
    let is_of_ranks = |name: &str| ["exact", "reduce", "schedules", "scalar"].contains(&name);
    let place = if chosen.iter().any(|name| is_of_ranks(name)) {
        Place::chosen(backend, &options.mpi)?
    } else {
        Place::Threads
    };
    let mut output = Output::open(options.json.as_deref())?;
    for name in chosen {
        if name == "sums" {
            let times = sums::measure(options.quick, &output);
            let folder = if options.record {
                workspace().join("docs")
            } else {
                target()?
            };
            for picture in plot::sums(&times, &folder)? {
                output.say(format!("plot: {}", picture.display()));
            }
            continue;
        }
        let mut recording = options.recording(name, is_of_ranks(name).then_some(backend))?;
        if let "schedules" | "scalar" = name {
            let launch = match name {
                "scalar" => schedules::launch_scalar,
                _ => schedules::launch,
            };
            let mut rows = Vec::new();
            for &ranks in &ranks {
                rows.extend(launch(&place, ranks, options.quick, &output)?);
            }
            for row in &rows {
                output.json(row)?;
            }
            if let Some(mut recording) = recording {
                recording.keep_schedules(&rows);
                output.say(format!("record: {}", recording.write()?.display()));
            }
            show_schedules(name, &rows, &output);
            if name == "schedules" {
                let picture = plot::schedules(&rows)?;
                output.say(format!("plot: {}", picture.display()));
            }
            continue;
        }
        let rows = match name {
            "kernels" => kernels::measure(options.quick, &output),
            "parallel" => parallel::measure(options.quick),
            "exact" => {
                let mut rows = exact::measure(options.quick, &output);
                for &ranks in &ranks {
                    let of_ranks = exact::ranks::launch(&place, ranks, options.quick, &output)?;
                    rows.extend(of_ranks);
                }
                let python = exact::python::measure(options.quick, &output)?;
                if let (Some(recording), Some(versions)) = (&mut recording, python.versions) {
                    recording.mention(&versions);
                }
                rows.extend(python.rows);
                rows
            }
            "python" => {
                let python = exact::python::beside_numpy(options.quick, &output)?;
                if let (Some(recording), Some(versions)) = (&mut recording, python.versions) {
                    recording.mention(&versions);
                }
                python.rows
            }
            "lookup" => lookup::measure(options.quick, &output),
            _ => {
                let mut rows = Vec::new();
                for &ranks in &ranks {
                    rows.extend(reduce::launch(
                        &place,
                        ranks,
                        [options.quick, !options.warm],
                        &output,
                    )?);
                }
                rows
            }
        };
        for row in &rows {
            output.json(row)?;
        }
        if let Some(mut recording) = recording {
            recording.keep(&rows);
            output.say(format!("record: {}", recording.write()?.display()));
        }
        show(name, &rows, &output);
        let pictures = match name {
            "kernels" => vec![plot::kernels(&rows)?],
            "reduce" => plot::scaling(&rows)?.into_iter().collect(),
            _ => Vec::new(),
        };
        for picture in pictures {
            output.say(format!("plot: {}", picture.display()));
        }
    }
    output.finish()
}

impl Options {
    /// The record that a bench is to leave, if it is to leave one.
    fn recording(&self, name: &str, backend: Option<Backend>) -> Result<Option<Recording>, Error> {
        if !self.record {
            return Ok(None);
        }
        let mut words = name.to_owned();
        if let Some(backend) = backend {
            words += &format!(" --backend {} --ranks {}", backend.name(), self.ranks);
        }
        for (is_given, option) in [(self.quick, " --quick"), (self.warm, " --warm")] {
            if is_given {
                words += option;
            }
        }
        // Most sums by key are of one process: their record is one.
        let file = match backend.filter(|_| name != "exact") {
            Some(backend) => format!("{name}-{}", backend.name()),
            None => name.to_owned(),
        };
        let mpi = self.mpi.installation()?;
        let mpi = (backend == Some(Backend::Mpi)).then_some(&mpi);
        Ok(Some(Recording::begin(&file, &words, mpi)))
    }
}

fn show(name: &str, rows: &[Row], output: &Output) {
    let what = if has_ratio_of_times(name) {
        "time"
    } else {
        "speed"
    };
    output.say(format!(
        "\n{name}: {what} as a ratio to the reference, medians"
    ));
    let mut table = Table::new([
        "variant",
        "distribution",
        "ranks",
        if name == "exact" { "keys" } else { "n" },
        if name == "exact" { "ns an item" } else { "ns" },
        "GB/s",
        "ratio",
        "reference",
    ]);
    for row in rows {
        table.push(vec![
            row.variant.clone(),
            row.distribution.clone().unwrap_or_default(),
            row.ranks.to_string(),
            row.n.to_string(),
            if name == "exact" {
                format!("{:.2}", row.median_ns)
            } else {
                format!("{:.1}", row.median_ns)
            },
            row.gbps
                .map(|gbps| format!("{gbps:.1}"))
                .unwrap_or_default(),
            format!("{:.2}", row.ratio),
            row.reference.clone(),
        ]);
    }
    for line in table.lines() {
        output.say(line);
    }
}

fn show_schedules(name: &str, rows: &[schedules::Row], output: &Output) {
    output.say(format!(
        "\n{name}: a row a rank; time as a ratio to the reference, medians"
    ));
    let mut table = Table::new([
        "schedule",
        "paper",
        "operation",
        "ranks",
        "elements",
        "blocks",
        "µs",
        "95 %",
        "model µs",
        "ratio",
        "reference",
        "",
    ]);
    let us = |ns: f64| format!("{:.2}", ns / 1e3);
    for row in rows {
        table.push(vec![
            row.variant.clone(),
            row.paper.to_string(),
            format!("{} {}", row.operation, row.element),
            row.ranks.to_string(),
            row.n.to_string(),
            row.blocks.to_string(),
            us(row.median_ns),
            format!("{}–{}", us(row.low_ns), us(row.high_ns)),
            row.simulated_ns.map(us).unwrap_or_default(),
            format!("{:.2}", row.ratio),
            row.reference.clone(),
            row.remark.clone().unwrap_or_default(),
        ]);
    }
    for line in table.lines() {
        output.say(line);
    }
}
