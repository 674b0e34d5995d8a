//! `cargo xtask schedules`: the page that shows every schedule, its rounds, messages, volume and time, and its picture.

mod picture;
mod tables;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use checkout::workspace::workspace;
use clap::Args;
use harness::Error;
use harness::bench;
use schedule::{Algorithm, Collective, Link, Machine, Parameters, Schedule, flights};
use serde::{Deserialize, Serialize};

use tables::{CHECKED_RANKS, FRAGMENT_RANKS, checked, fragments, shape};

/// Ranks of the table and the pictures, and the blocks of pipelines there.
const RANKS: usize = 8;
const BLOCKS: usize = 4;

/// Every message takes one round, whatever its length.
const ROUND: Link = Link {
    latency_ns: 1.0,
    byte_ns: 0.0,
    combine_byte_ns: 0.0,
};

/// The rows whose times are reported, in doubles.
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
            lines += &serde_json::to_string(&time)?;
            lines.push('\n');
        }
        write(&kept, &lines)?;
    }
    if !kept.exists() {
        // A new folder begins with the times of the one in the book.
        let own = workspace().join("docs/schedules/times.json");
        fs::copy(&own, &kept).map_err(|error| Error::file(&own, error))?;
    }
    let times: Vec<Time> = read_lines(&kept)?;
    for &algorithm in Algorithm::ALL {
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

/// The times of a bench's rows that the page reports.
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

fn pictures() -> String {
    let mut text = String::new();
    for &algorithm in Algorithm::ALL {
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
