//! `cargo xtask schedules`: the page that shows every schedule, its rounds, messages, volume and time, and its picture.

mod picture;

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use distribution::{Ownership, Scheme};
use rayon::prelude::*;
use schedule::{
    Algorithm, Collective, Link, Machine, Parameters, Schedule, check, flights, simulate,
};
use serde::{Deserialize, Serialize};
use tree_index::Tree;

use crate::bench;
use crate::choices::{Backend, Sharing};
use crate::error::Error;
use crate::markdown::{Table, trimmed};
use crate::mpi::workspace;

/// Ranks of the table and the pictures, and the blocks of pipelines there.
const RANKS: usize = 8;
const BLOCKS: usize = 4;

/// Ranks and items of the table of fragments, and the items whose shares are aligned.
const FRAGMENT_RANKS: usize = 64;
const ITEMS: u64 = 504_850;
const ALIGNED_ITEMS: u64 = 1 << 19;

/// Every schedule is checked for up to so many ranks.
const CHECKED_RANKS: usize = 300;

/// Every message takes one round, whatever its length.
const ROUND: Link = Link {
    latency_ns: 1.0,
    byte_ns: 0.0,
    combine_byte_ns: 0.0,
};

/// The rows whose times are told, in doubles.
const WIDTHS: [u64; 3] = [1, 1000, 1_000_000];

/// What is between the lines of numbers.
const PAGE: &str = include_str!("schedules/page.md");

/// Options of `schedules`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The folder of the page
    #[arg(long, value_name = "DIR", default_value_os_t = workspace().join("docs"))]
    output: PathBuf,
    /// Take new times from what `bench schedules --json` has written
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    times: Vec<PathBuf>,
}

/// The time of an allreduce on two ranks, as the page keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Time {
    backend: String,
    algorithm: String,
    n: u64,
    median_ns: f64,
    ratio: f64,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Error> {
    let folder = options.output.join("schedules");
    fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    let kept = folder.join("times.json");
    if !options.times.is_empty() {
        let mut lines = String::new();
        for time in taken(&options.times)? {
            let line = serde_json::to_string(&time);
            lines += &line.map_err(|error| Error::Run(error.to_string()))?;
            lines.push('\n');
        }
        write(&kept, &lines)?;
    }
    let times: Vec<Time> = read_lines(&kept)?;
    for &algorithm in &Algorithm::ALL {
        let schedule = shown(algorithm);
        let path = folder.join(format!("{algorithm}.svg"));
        picture::draw(&path, algorithm, RANKS, &in_rounds(&schedule))?;
    }
    let page = options.output.join("schedules.md");
    write(&page, &text(&times))?;
    println!("written: {}", page.display());
    Ok(())
}

/// The page.
fn text(times: &[Time]) -> String {
    [
        ("{ranks}", RANKS.to_string()),
        ("{blocks}", BLOCKS.to_string()),
        ("{shape}", shape(times)),
        ("{fragment_ranks}", FRAGMENT_RANKS.to_string()),
        ("{fragments}", fragments()),
        ("{checked_ranks}", CHECKED_RANKS.to_string()),
        ("{checked}", checked()),
        ("{pictures}", pictures()),
    ]
    .into_iter()
    .fold(PAGE.to_owned(), |page, (name, text)| {
        page.replace(name, text.trim_end())
    })
}

/// The times of a bench's rows that the page tells.
fn taken(files: &[PathBuf]) -> Result<Vec<Time>, Error> {
    let mut times = Vec::new();
    for file in files {
        let rows: Vec<bench::schedules::Row> = read_lines(file)?;
        let told = rows.into_iter().filter(|row| {
            (row.paper, row.ranks, row.block_elements) == (2, 2, None)
                && WIDTHS.contains(&row.n)
                && row.variant != "tuned"
        });
        times.extend(told.map(|row| Time {
            backend: row.backend,
            algorithm: row.variant,
            n: row.n,
            median_ns: row.median_ns.round(),
            ratio: (row.ratio * 1000.0).round() / 1000.0,
        }));
    }
    Ok(times)
}

fn read_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    let parse = |(line, number): (&str, usize)| {
        let parsed = serde_json::from_str(line);
        parsed.map_err(|error| Error::file(path, format!("line {number}: {error}")))
    };
    text.lines().zip(1..).map(parse).collect()
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| Error::file(path, error))
}

/// An algorithm as the page shows it.
fn shown(algorithm: Algorithm) -> Schedule {
    allreduce(algorithm, RANKS)
}

fn allreduce(algorithm: Algorithm, ranks: usize) -> Schedule {
    let parameters = Parameters {
        blocks: BLOCKS,
        ..Parameters::default()
    };
    Schedule::new(algorithm, Collective::Allreduce, ranks)
        .and_then(|schedule| schedule.with(parameters))
        .expect("there are ranks, and the parameters are sound")
}

/// Its messages, of a round each.
fn in_rounds(schedule: &Schedule) -> Vec<schedule::Flight> {
    let machine = Machine {
        // Whoever sends to several at once needs no more time for it here.
        ports: schedule.ranks(),
        ..Machine::flat(ROUND)
    };
    flights(schedule, &machine, 0.0, &|_| 1)
}

/// The paper that an algorithm is from, if it is from one.
fn paper(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Fibonacci | Algorithm::Binary => "5",
        Algorithm::Binomial => "4, 5",
        Algorithm::ReduceBroadcast
        | Algorithm::LinearPipelined
        | Algorithm::BinaryPipelined
        | Algorithm::LinearDoublyPipelined
        | Algorithm::BinaryDoublyPipelined
        | Algorithm::DualRoot => "2",
        Algorithm::RecursiveDoubling
        | Algorithm::ReduceScatterGather
        | Algorithm::Rabenseifner
        | Algorithm::Hierarchical => "3",
        Algorithm::PairwiseExchange | Algorithm::Dissemination | Algorithm::Bruck => "4",
        _ => "",
    }
}

/// The rows that all messages carry together.
fn volume(schedule: &Schedule) -> f64 {
    let steps = (0..schedule.ranks()).flat_map(|rank| schedule.steps(rank));
    let sends = steps.flat_map(|step| step.sends);
    let pieces = sends.flat_map(|send| send.pieces);
    let blocks = pieces.fold(0, |blocks, piece| blocks + piece.blocks.len());
    blocks as f64 / schedule.blocks() as f64
}

fn shape(times: &[Time]) -> String {
    let backends = [Backend::Mpi, Backend::Threads];
    let heading = |backend: Backend| {
        let words = move |n: &u64| match n {
            1 => format!("{}: 1", backend.name()),
            1000 => "1000".to_owned(),
            _ => "10^6".to_owned(),
        };
        WIDTHS.iter().map(words)
    };
    let mut table = Table::default();
    let fixed = ["schedule", "paper", "rounds", "messages", "rows"].map(str::to_owned);
    let timed = backends.into_iter().flat_map(heading);
    table.row(fixed.into_iter().chain(timed));
    for &algorithm in &Algorithm::ALL {
        let schedule = shown(algorithm);
        let report = check(&schedule).expect("every schedule is checked");
        let fixed = [
            format!("[`{algorithm}`](#{algorithm})"),
            paper(algorithm).to_owned(),
            report.rounds.to_string(),
            report.messages.to_string(),
            short(volume(&schedule)),
        ];
        let time = |backend: Backend, n: u64| {
            let time = times.iter().find(|time| {
                (time.backend.as_str(), time.n) == (backend.name(), n)
                    && time.algorithm == algorithm.to_string()
            });
            time.map_or("–".to_owned(), |time| {
                let microseconds = time.median_ns / 1e3;
                let places = if microseconds < 100.0 { 2 } else { 0 };
                format!("{microseconds:.places$} ({:.2})", time.ratio)
            })
        };
        let timed = backends.map(|backend| WIDTHS.map(|n| time(backend, n)));
        table.row(fixed.into_iter().chain(timed.into_iter().flatten()));
    }
    table.text().to_owned()
}

/// A number with as few places as it needs.
fn short(number: f64) -> String {
    trimmed(&format!("{number:.2}")).to_owned()
}

/// How many values pieces carry: by schedule and distribution.
fn fragments() -> String {
    let aligned = (
        Sharing::Named(Scheme::Lower),
        ALIGNED_ITEMS,
        "aligned".to_owned(),
    );
    let others = Sharing::named().into_iter();
    let others = others.map(|sharing| (sharing, ITEMS, sharing.to_string()));
    let columns: Vec<_> = iter::once(aligned).chain(others).collect();
    let mut table = Table::default();
    let names = columns.iter().map(|(_, _, name)| name.clone());
    table.row(iter::once("schedule".to_owned()).chain(names));
    let cells: Vec<Vec<String>> = columns
        .par_iter()
        .map(|&(sharing, items, _)| {
            let ownership = sharing.distribute(items, FRAGMENT_RANKS, 0);
            carried(&ownership.expect("the rules suit any number of items"))
        })
        .collect();
    for (row, algorithm) in Algorithm::ALL.iter().enumerate() {
        let cells = cells.iter().map(|column| column[row].clone());
        table.row(iter::once(format!("`{algorithm}`")).chain(cells));
    }
    table.text().to_owned()
}

/// Every schedule's mean and most, for one distribution.
fn carried(ownership: &Ownership) -> Vec<String> {
    let tree = Tree::new(ownership.items());
    let known: Mutex<HashMap<Range<usize>, u64>> = Mutex::default();
    let rows = |positions: Range<usize>| {
        let mut known = known.lock().expect("nothing panics here");
        let count = || tree.fragment(ownership.union(positions.clone())).count() as u64;
        *known.entry(positions.clone()).or_insert_with(count)
    };
    let machine = Machine::flat(ROUND);
    let cell = |&algorithm: &Algorithm| {
        let schedule = allreduce(algorithm, FRAGMENT_RANKS);
        let simulation = simulate(&schedule, &machine, 0.0, &rows);
        format!("{:.1}, {}", simulation.rows_mean, simulation.rows_max)
    };
    Algorithm::ALL.iter().map(cell).collect()
}

fn checked() -> String {
    let mut table = Table::default();
    let headings = ["schedule", "programs", "messages", "most rounds"];
    table.row(headings.map(str::to_owned));
    let rows: Vec<[String; 4]> = Algorithm::ALL
        .par_iter()
        .map(|&algorithm| {
            let reports = (1..=CHECKED_RANKS).map(|ranks| {
                let report = check(&allreduce(algorithm, ranks));
                report.expect("every schedule is checked")
            });
            let (messages, rounds) = reports.fold((0, 0), |(messages, rounds), report| {
                (messages + report.messages, report.rounds.max(rounds))
            });
            let programs = CHECKED_RANKS * (CHECKED_RANKS + 1) / 2;
            [
                format!("`{algorithm}`"),
                programs.to_string(),
                messages.to_string(),
                rounds.to_string(),
            ]
        })
        .collect();
    for row in rows {
        table.row(row);
    }
    table.text().to_owned()
}

fn pictures() -> String {
    let mut text = String::new();
    for &algorithm in &Algorithm::ALL {
        let remark = shown(algorithm).remark();
        let remark = remark.map_or(String::new(), |remark| format!(" ({remark})"));
        let alternative = format!("{algorithm} on {RANKS} ranks{remark}");
        let _ = writeln!(
            text,
            "### {algorithm}\n\n![{alternative}](schedules/{algorithm}.svg)\n"
        );
    }
    text
}
