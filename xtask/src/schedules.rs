//! `cargo xtask schedules`: the page that shows every schedule, its rounds, messages and volume, and its picture.

mod picture;

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

use checkout::workspace::workspace;
use clap::Args;
use distribution::Ownership;
use harness::markdown::{table, trimmed};
use harness::{Error, Sharing};
use rayon::prelude::*;
use schedule::{
    Algorithm, Collective, Link, Machine, Parameters, Schedule, check, flights, simulate,
};
use tree_index::Tree;

/// Ranks of the table and the pictures, and the blocks of pipelines there.
const RANKS: usize = 8;
const BLOCKS: usize = 4;

/// Every message takes one round, whatever its length.
const ROUND: Link = Link {
    latency_ns: 1.0,
    byte_ns: 0.0,
    combine_byte_ns: 0.0,
};

/// The page's text; names in braces stand for what is computed.
const PAGE: &str = include_str!("schedules/page.md");

/// Options of `schedules`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The folder of the page
    #[arg(long, value_name = "DIR", default_value_os_t = workspace().join("docs"))]
    output: PathBuf,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Error> {
    let folder = options.output.join("schedules");
    fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    for &algorithm in Algorithm::ALL {
        let schedule = shown(algorithm);
        let path = folder.join(format!("{algorithm}.svg"));
        picture::draw(&path, algorithm, RANKS, &in_rounds(&schedule))?;
    }
    let page = options.output.join("schedules.md");
    fs::write(&page, text()).map_err(|error| Error::file(&page, error))?;
    println!("written: {}", page.display());
    Ok(())
}

/// The page.
fn text() -> String {
    [
        ("{ranks}", RANKS.to_string()),
        ("{blocks}", BLOCKS.to_string()),
        ("{shape}", shape()),
        ("{fragment_ranks}", FRAGMENT_RANKS.to_string()),
        ("{fragments}", fragments()),
        ("{pictures}", pictures()),
    ]
    .into_iter()
    .fold(PAGE.to_owned(), |page, (name, text)| {
        page.replace(name, text.trim_end())
    })
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
        let _ = writeln!(
            text,
            "### {algorithm}\n\n![{algorithm}](schedules/{algorithm}.svg)\n"
        );
    }
    text
}

/// Ranks and items of the table of fragments.
pub(super) const FRAGMENT_RANKS: usize = 64;
const ITEMS: u64 = 504_850;

/// The distributions of that table.
const SHOWN: [&str; 3] = ["lower", "optimized", "block-cyclic"];

/// The rows that all messages carry together.
fn volume(schedule: &Schedule) -> f64 {
    let steps = (0..schedule.ranks()).flat_map(|rank| schedule.steps(rank));
    let sends = steps.flat_map(|step| step.sends);
    let pieces = sends.flat_map(|send| send.pieces);
    let blocks = pieces.fold(0, |blocks, piece| blocks + piece.blocks.len());
    blocks as f64 / schedule.blocks() as f64
}

/// Rounds, messages and volume of every schedule.
pub(super) fn shape() -> String {
    let head = ["schedule", "rounds", "messages", "rows"].map(str::to_owned);
    let rows = Algorithm::ALL.iter().map(|&algorithm| {
        let schedule = shown(algorithm);
        let report = check(&schedule).expect("every schedule is checked");
        [
            format!("[`{algorithm}`](#{algorithm})"),
            report.rounds.to_string(),
            report.messages.to_string(),
            short(volume(&schedule)),
        ]
    });
    table([head].into_iter().chain(rows), true)
}

/// A number with as few places as it needs.
fn short(number: f64) -> String {
    trimmed(&format!("{number:.2}")).to_owned()
}

/// The values per column of the longest message: the least and the most of all schedules, by distribution.
pub(super) fn fragments() -> String {
    let named = Sharing::named().into_iter();
    let named = named.map(|sharing| (sharing, sharing.to_string()));
    let shown: Vec<_> = named
        .filter(|(_, name)| SHOWN.contains(&name.as_str()))
        .collect();
    let rows: Vec<[String; 2]> = shown
        .par_iter()
        .map(|(sharing, name)| {
            let ownership = sharing.distribute(ITEMS, FRAGMENT_RANKS, 0);
            let longest = longest(&ownership.expect("the rules suit any number of items"));
            let least = longest.iter().min().expect("there are schedules");
            let most = longest.iter().max().expect("there are schedules");
            [format!("`{name}`"), format!("{least} to {most}")]
        })
        .collect();
    let head = ["distribution", "values, by schedule"].map(str::to_owned);
    table([head].into_iter().chain(rows), true)
}

/// Every schedule's longest message in values per column.
fn longest(ownership: &Ownership) -> Vec<u64> {
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
        simulation.rows_max
    };
    Algorithm::ALL.iter().map(cell).collect()
}
