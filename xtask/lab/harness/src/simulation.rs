//! Simulates schedules on a machine with given costs of messages.

use std::ops::Range;
use std::thread;

use checkout::progress::Progress;
use checkout::table::Table;
use distribution::Distribution;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use schedule::{
    Algorithm, Collective, Load, Machine, Parameters, SYMMETRY_RANKS, Schedule, Simulation,
    simulate,
};
use serde::Serialize;
use tree_index::Tree;

use crate::output::Output;

/// If all ranks together have more blocks than this, the pipeline's formula replaces the simulation (paper 2, Lemma 1).
const BLOCKS_MAX: usize = 1 << 22;

/// The simulated time of one schedule, which is one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedTime {
    algorithm: String,
    /// Additional remarks.
    remark: Option<String>,
    ranks: usize,
    items: u64,
    width: usize,
    time_ns: f64,
    /// The time divided by that of the best allreduce that is not reproducible: the fastest schedule if every message had one row.
    ratio: f64,
    /// The number of messages; null if one rank represented all.
    messages: Option<u64>,
    /// The mean number of rows in a message.
    rows_mean: f64,
    /// The greatest number of rows in a message; null if a formula replaced the messages.
    rows_max: Option<u64>,
    /// `events`, `symmetry` or `formula`.
    method: &'static str,
}

/// The parameters of a simulation.
#[derive(Debug)]
pub struct Question {
    /// The number of ranks, p.
    pub ranks: usize,
    /// The number of items on all ranks, N.
    pub items: u64,
    /// The number of doubles in an item.
    pub width: usize,
    /// The distribution of items.
    pub distribution: Distribution,
    /// The costs of messages and combinations.
    pub machine: Machine,
    /// n of `bruck` and `dissemination`, if given.
    pub ports: Option<usize>,
    /// The number of blocks in a pipeline, if given.
    pub blocks: Option<usize>,
}

impl Question {
    /// The rows of all algorithms, in order. At most two simulations run at once, since each takes about a hundred bytes per rank.
    pub fn answers(&self, algorithms: &[Algorithm]) -> Vec<SimulatedTime> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let workers = cores.min(if self.ranks > 1 << 21 { 1 } else { 2 });
        let what = format!("{} ranks", self.ranks);
        let progress = Progress::to(what, algorithms.len() as u64, "schedules");
        let answer = |&algorithm: &Algorithm| {
            let answer = self.answer(algorithm);
            progress.advance(1);
            answer
        };
        let pool = ThreadPoolBuilder::new().num_threads(workers).build();
        let pool = pool.expect("there are few threads");
        // A worker gets one algorithm at a time, since some take far longer than others.
        let answers = || algorithms.par_iter().with_max_len(1).map(answer).unzip();
        let (mut rows, unreproducible_ns): (Vec<SimulatedTime>, Vec<f64>) = pool.install(answers);
        drop(progress);
        let best_ns = unreproducible_ns.into_iter().fold(f64::INFINITY, f64::min);
        for row in &mut rows {
            // A single rank communicates nothing.
            row.ratio = if best_ns > 0.0 {
                row.time_ns / best_ns
            } else {
                1.0
            };
        }
        rows
    }

    /// Whether a formula replaces an algorithm's messages, because there would be too many.
    fn is_by_formula(&self, algorithm: Algorithm) -> bool {
        let blocks = self.schedule(algorithm).blocks();
        algorithm.is_pipelined() && blocks.saturating_mul(self.ranks) > BLOCKS_MAX.max(self.ranks)
    }

    /// What a rank sends, estimated from a sample of ranks.
    fn load(&self) -> Load {
        let tree = Tree::new(self.items);
        let own = (0..self.ranks).step_by(self.ranks.div_ceil(64));
        let samples = own.clone().count();
        let nodes = own
            .map(|rank| u64::from(tree.fragment_len(self.distribution.range(rank))))
            .fold(0, |sum, nodes| sum + nodes);
        Load {
            row_bytes: self.width as f64 * 8.0,
            rows: (nodes as f64 / samples as f64).max(1.0),
        }
    }

    fn schedule(&self, algorithm: Algorithm) -> Schedule {
        let best = algorithm.best_blocks(self.ranks, self.load(), self.machine.far, self.width);
        let parameters = Parameters {
            blocks: self.blocks.unwrap_or(best).min(self.width),
            ports: self.ports,
            node_ranks: match self.machine.node_ranks {
                1 => Parameters::default().node_ranks,
                node_ranks => node_ranks,
            },
            ..Parameters::default()
        };
        Schedule::new(algorithm, Collective::Allreduce, self.ranks)
            .and_then(|schedule| schedule.with(parameters))
            .expect("ranks and parameters were checked")
    }

    /// The row of an algorithm, without its ratio, and the time if each message had one row, as in a reduction that is not reproducible.
    fn answer(&self, algorithm: Algorithm) -> (SimulatedTime, f64) {
        let (schedule, load, link) = (self.schedule(algorithm), self.load(), self.machine.far);
        let starts: Vec<u64> = self.distribution.starts().collect();
        let tree = Tree::new(self.items);
        let rows = |ranks: Range<usize>| {
            u64::from(tree.fragment_len(starts[ranks.start]..starts[ranks.end]))
        };
        let time = |rows: &dyn Fn(Range<usize>) -> u64| {
            simulate(&schedule, &self.machine, load.row_bytes, rows)
        };
        let is_by_formula = self.is_by_formula(algorithm);
        let simulation = if is_by_formula {
            Simulation {
                time_ns: schedule.predicted_ns(load, link),
                messages: None,
                rows_mean: load.rows,
                rows_max: 0,
            }
        } else {
            time(&rows)
        };
        let unreproducible_ns = match simulation.rows_max {
            _ if is_by_formula => schedule.predicted_ns(Load { rows: 1.0, ..load }, link),
            1 => simulation.time_ns,
            _ => time(&|_| 1).time_ns,
        };
        let row = SimulatedTime {
            algorithm: algorithm.to_string(),
            remark: schedule.remark(),
            ranks: self.ranks,
            items: self.items,
            width: self.width,
            time_ns: simulation.time_ns,
            ratio: f64::NAN,
            messages: simulation.messages,
            rows_mean: simulation.rows_mean,
            rows_max: (!is_by_formula).then_some(simulation.rows_max),
            method: match simulation.messages {
                _ if is_by_formula => "formula",
                None if self.ranks > SYMMETRY_RANKS => "symmetry",
                _ => "events",
            },
        };
        (row, unreproducible_ns)
    }
}

/// Prints simulated times, the shortest first.
pub fn show(rows: &[SimulatedTime], output: &Output) {
    let mut table = Table::new([
        "schedule", "µs", "ratio", "messages", "rows", "most", "by", "",
    ]);
    let mut sorted: Vec<&SimulatedTime> = rows.iter().collect();
    sorted.sort_by(|a, b| a.time_ns.total_cmp(&b.time_ns));
    for row in sorted {
        let messages = row.messages.map(|messages| messages.to_string());
        table.push(vec![
            row.algorithm.clone(),
            format!("{:.2}", row.time_ns / 1e3),
            format!("{:.2}", row.ratio),
            messages.unwrap_or_default(),
            format!("{:.1}", row.rows_mean),
            row.rows_max.map_or("–".to_owned(), |most| most.to_string()),
            row.method.to_owned(),
            row.remark.clone().unwrap_or_default(),
        ]);
    }
    for line in table.lines() {
        output.say(line);
    }
}

/// Ranks compare their settings by an allreduce of this many bytes.
const VOTE_BYTES: usize = 40;

/// The bytes of a rank's number of items in a message.
const COUNT_BYTES: usize = 8;

/// The cost of building a plan, which is one line of `--json`.
#[derive(Debug, Serialize)]
pub struct Building {
    /// What a rank knows before the exchange: `rule` (which items each rank has), or `count` (only the number of its own items).
    items: &'static str,
    ranks: usize,
    time_ns: f64,
    /// Null if one rank represented all.
    messages: Option<u64>,
    /// The memory that building takes on each rank.
    rank_bytes: usize,
}

impl Question {
    /// The costs if the ranks know a rule, and if they exchange their numbers of items by an allgather. The allgather costs as much as Bruck's
    /// allreduce without combining.
    pub fn building(&self) -> [Building; 2] {
        let vote = self.simulated(Algorithm::ReduceBroadcast, VOTE_BYTES, &|_| 1);
        let counts = self.simulated(Algorithm::Bruck, COUNT_BYTES, &|ranks| ranks.len() as u64);
        let by_rule = Building {
            items: "rule",
            ranks: self.ranks,
            time_ns: vote.time_ns,
            messages: vote.messages,
            rank_bytes: 2 * VOTE_BYTES,
        };
        let mut messages = [vote.messages, counts.messages].into_iter();
        let by_count = Building {
            items: "count",
            time_ns: vote.time_ns + counts.time_ns,
            messages: messages.try_fold(0, |sum, messages| Some(sum + messages?)),
            // A rank stores all counts as received bytes, as numbers, and as prefix sums.
            rank_bytes: 3 * COUNT_BYTES * self.ranks + COUNT_BYTES,
            ..by_rule
        };
        [by_rule, by_count]
    }

    fn simulated(
        &self,
        algorithm: Algorithm,
        row_bytes: usize,
        rows: &dyn Fn(Range<usize>) -> u64,
    ) -> Simulation {
        let schedule = Schedule::new(algorithm, Collective::Allreduce, self.ranks);
        let schedule = schedule.expect("there are ranks");
        simulate(&schedule, &self.machine, row_bytes as f64, rows)
    }
}

/// Prints the costs of building a plan.
pub fn show_building(all: &[Building], output: &Output) {
    let mut table = Table::new(["items by", "µs", "messages", "bytes per rank"]);
    for building in all {
        let messages = building.messages.map(|messages| messages.to_string());
        table.push(vec![
            building.items.to_owned(),
            format!("{:.2}", building.time_ns / 1e3),
            messages.unwrap_or_default(),
            building.rank_bytes.to_string(),
        ]);
    }
    for line in table.lines() {
        output.say(line);
    }
}
