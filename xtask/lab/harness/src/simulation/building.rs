//! The building of a plan: what ranks send each other until they agree, and what that takes on each.

use std::ops::Range;

use checkout::table::Table;
use schedule::{Algorithm, Collective, Schedule, Simulation, simulate};
use serde::Serialize;

use super::Question;
use crate::output::Output;

/// What ranks compare is an allreduce of so many bytes.
const VOTE_BYTES: usize = 40;

/// A rank's number of items.
const COUNT_BYTES: usize = 8;

/// How a plan is built: one line of `--json`.
#[derive(Debug, Serialize)]
pub struct Building {
    /// What ranks know of the items of all: a `rule`, or each its own number, a `count`.
    items: &'static str,
    ranks: usize,
    time_ns: f64,
    /// Null where one rank stood for all.
    messages: Option<u64>,
    /// The memory that it takes on each rank.
    rank_bytes: usize,
}

impl Question {
    /// By a rule, and by each rank's number of items, which ranks exchange by an allgather: as Bruck's allreduce without combining.
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
            // The counts as they came, as numbers, and as a sum of those before each rank.
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

/// Prints them.
pub fn show(all: &[Building], output: &Output) {
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
