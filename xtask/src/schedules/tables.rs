//! The page's tables: of shapes and times, of fragments, and of what was checked.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::sync::Mutex;

use distribution::{Ownership, Scheme};
use harness::markdown::{Table, trimmed};
use harness::{Backend, Sharing};
use rayon::prelude::*;
use schedule::{Algorithm, Machine, Schedule, check, simulate};
use tree_index::Tree;

use super::{ROUND, Time, WIDTHS, allreduce, shown};

/// Ranks and items of the table of fragments, and the items whose shares are aligned.
pub(super) const FRAGMENT_RANKS: usize = 64;
const ITEMS: u64 = 504_850;
const ALIGNED_ITEMS: u64 = 1 << 19;

/// Every schedule is checked for up to this number of ranks.
pub(super) const CHECKED_RANKS: usize = 300;

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

/// Rounds, messages, volume and times of every schedule.
pub(super) fn shape(times: &[Time]) -> String {
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
    for &algorithm in Algorithm::ALL {
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
pub(super) fn fragments() -> String {
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

/// What the checker has seen.
pub(super) fn checked() -> String {
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
