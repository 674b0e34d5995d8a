//! Simulates schedules on a machine.

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

/// With more blocks on all ranks than this, the pipeline's formula is used instead (paper 2, Lemma 1).
const BLOCKS_MAX: usize = 1 << 22;

/// The name of that method.
const FORMULA: &str = "formula";

/// One schedule's time: one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedTime {
    algorithm: String,
    /// Additional remarks.
    remark: Option<String>,
    ranks: usize,
    items: u64,
    width: usize,
    time_ns: f64,
    /// The time relative to the fastest schedule with one row per message: the best allreduce that is not reproducible.
    ratio: f64,
    /// The number of messages; null if one rank represented all.
    messages: Option<u64>,
    /// The mean number of rows that stand for the items of a message's ranks.
    rows_mean: f64,
    /// The maximum; null if a formula replaced the messages.
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
    /// The number of doubles of an item.
    pub width: usize,
    /// The distribution of items.
    pub distribution: Distribution,
    /// The costs of messages and combinations.
    pub machine: Machine,
    /// n of `bruck` and `dissemination`, if given.
    pub ports: Option<usize>,
    /// The blocks of pipelines, if given.
    pub blocks: Option<usize>,
}

impl Question {
    /// How many schedules are simulated at once. Each takes some hundred bytes per rank.
    pub fn workers(&self) -> usize {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        cores.min(if self.ranks > 1 << 21 { 1 } else { 2 })
    }

    /// The rows of all algorithms, in order, computed by `workers` threads.
    pub fn answers(&self, algorithms: &[Algorithm], workers: usize) -> Vec<SimulatedTime> {
        let what = format!("{} ranks", self.ranks);
        let progress = Progress::to(what, algorithms.len() as u64, "schedules");
        let answer = |&algorithm: &Algorithm| {
            let answer = self.answer(algorithm);
            progress.advance(1);
            answer
        };
        let pool = ThreadPoolBuilder::new().num_threads(workers).build();
        let pool = pool.expect("there are few threads");
        // One at a time, since some take far longer than others.
        let answers = || algorithms.par_iter().with_max_len(1).map(answer).collect();
        let answers: Vec<Answer> = pool.install(answers);
        drop(progress);
        let unreproducible = answers.iter().map(|answer| answer.unreproducible_ns);
        let best_ns = unreproducible.fold(f64::INFINITY, f64::min);
        let row = |(algorithm, answer): (&Algorithm, Answer)| SimulatedTime {
            algorithm: algorithm.to_string(),
            remark: answer.schedule.remark(),
            ranks: self.ranks,
            items: self.items,
            width: self.width,
            time_ns: answer.simulation.time_ns,
            ratio: match best_ns {
                // A single rank communicates nothing.
                0.0 => 1.0,
                _ => answer.simulation.time_ns / best_ns,
            },
            messages: answer.simulation.messages,
            rows_mean: answer.simulation.rows_mean,
            rows_max: (answer.method != FORMULA).then_some(answer.simulation.rows_max),
            method: answer.method,
        };
        algorithms.iter().zip(answers).map(row).collect()
    }

    /// Whether a formula replaces an algorithm's messages, because there would be too many.
    pub fn is_by_formula(&self, algorithm: Algorithm) -> bool {
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

    fn answer(&self, algorithm: Algorithm) -> Answer {
        let (schedule, load, link) = (self.schedule(algorithm), self.load(), self.machine.far);
        let starts: Vec<u64> = self.distribution.starts().collect();
        let tree = Tree::new(self.items);
        let rows = |ranks: Range<usize>| {
            u64::from(tree.fragment_len(starts[ranks.start]..starts[ranks.end]))
        };
        let time = |rows: &dyn Fn(Range<usize>) -> u64| {
            simulate(&schedule, &self.machine, load.row_bytes, rows)
        };
        if self.is_by_formula(algorithm) {
            let one = Load { rows: 1.0, ..load };
            return Answer {
                simulation: Simulation {
                    time_ns: schedule.predicted_ns(load, link),
                    messages: None,
                    rows_mean: load.rows,
                    rows_max: 0,
                },
                unreproducible_ns: schedule.predicted_ns(one, link),
                method: FORMULA,
                schedule,
            };
        }
        let simulation = time(&rows);
        // A reduction that is not reproducible sends one row, whatever items it stands for.
        let unreproducible_ns = if simulation.rows_max == 1 {
            simulation.time_ns
        } else {
            time(&|_| 1).time_ns
        };
        let is_one_for_all = simulation.messages.is_none() && self.ranks > SYMMETRY_RANKS;
        Answer {
            simulation,
            unreproducible_ns,
            method: if is_one_for_all { "symmetry" } else { "events" },
            schedule,
        }
    }
}

/// The outcome for one algorithm.
struct Answer {
    schedule: Schedule,
    simulation: Simulation,
    unreproducible_ns: f64,
    method: &'static str,
}

/// Prints them, the fastest first.
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

/// A rank's number of items.
const COUNT_BYTES: usize = 8;

/// The cost of building a plan: one line of `--json`.
#[derive(Debug, Serialize)]
pub struct Building {
    /// What a rank knows about all ranks' items before the exchange: `rule`, or only its own number, `count`.
    items: &'static str,
    ranks: usize,
    time_ns: f64,
    /// Null if one rank represented all.
    messages: Option<u64>,
    /// The memory that it takes on each rank.
    rank_bytes: usize,
}

impl Question {
    /// The costs for a rule, and for numbers of items that ranks exchange by an allgather, which costs as much as Bruck's allreduce without
    /// combining.
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
            // The counts as received, as numbers, and as prefix sums.
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

/// Prints how a plan is built.
pub fn show_building(all: &[Building], output: &Output) {
    let mut table = Table::new(["items by", "µs", "messages", "bytes a rank"]);
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
