//! Runs the reproducibility matrix on one communicator, with the same code on threads and under MPI.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use comm::{Tag, collective};
use distribution::{Distribution, Ownership};
use reduce::{Algorithm, Operation, Operator, Sum, World, exact, threads};
use serde::{Deserialize, Serialize};

use crate::baselines::Baseline;
use crate::data::DataSet;
use crate::job::{Job, Row, operations};
use crate::{Backend, Error, Runner, Way};

/// The source of a rank's items.
#[derive(Clone, Copy, Debug)]
pub enum Items<'d> {
    /// The data sets of the job, in the memory that all ranks share. Ranks write their outcomes to the board.
    Shared(&'d [DataSet], &'d Board),
    /// Rank 0 loads one data set after another, and sends each rank its share.
    OnRankZero,
}

/// Collects the outcomes of a process' ranks. No rank waits: the last rank that finishes a row reports the row.
#[derive(Debug, Default)]
pub struct Board(Mutex<BTreeMap<usize, Vec<Own>>>);

impl Board {
    /// Adds a rank's outcome of a row. `report` gets the outcomes of all ranks, by rank; rows are reported in order.
    fn leave(&self, row: usize, world: &World, own: Own, report: impl FnOnce(&[Own])) {
        let mut rows = self.0.lock().expect("no rank panics here");
        let all = rows.entry(row).or_default();
        all.push(own);
        if all.len() == world.size() {
            let mut all = rows.remove(&row).expect("it is there");
            all.sort_unstable_by_key(|own| own.rank);
            report(&all);
        }
    }
}

/// The sum as programs usually compute it, which is also the papers' baseline, on `ranks` threads: each rank folds an even share from left
/// to right, then calls an allreduce.
pub fn plain_sum(items: &[f64], ranks: usize) -> Result<f64, Error> {
    let distribution = Distribution::upper(items.len() as u64, ranks)?;
    let index = |item: u64| usize::try_from(item).expect("the items are in memory");
    let mut totals = threads::run(ranks, |world| {
        let own = distribution.range(world.rank());
        let baseline = Baseline::locally_left_to_right(world, Backend::Threads)?;
        baseline.allreduce(&items[index(own.start)..index(own.end)])
    })?;
    totals.swap_remove(0)
}

/// Runs the job's rows on the ranks of a world; one rank passes each row to `report`. Collective.
pub fn check_all(
    world: &World,
    backend: Backend,
    job: &Job,
    items: Items<'_>,
    report: &dyn Fn(Row),
) -> Result<(), Error> {
    let mut number = 0;
    for (index, cases) in job.cases.iter().enumerate() {
        let loaded = match items {
            Items::OnRankZero if world.rank() == 0 => Some(cases.source.load()?),
            _ => None,
        };
        let whole = match items {
            Items::Shared(data, _) => Some(&data[index]),
            Items::OnRankZero => loaded.as_ref(),
        };
        let count = broadcast_count(world, whole.map_or(0, |data| data.items.len() as u64))?;
        for &sharing in &cases.distributions {
            let ownership = sharing.distribute(count, world.size(), job.seed)?;
            let local = local_items(world, items, whole, &ownership)?;
            for way in cases.algorithms_for(sharing) {
                let runner = Runner::new(way, world, backend, &ownership)?;
                for &operation in operations(way) {
                    let own = reduce(world, &runner, operation, &local)?;
                    let is_counted = match way {
                        Way::Unordered => backend == Backend::Threads,
                        Way::Tree(Algorithm::MpiNative) => false,
                        _ => true,
                    };
                    let report = |all: &[Own]| {
                        let outcome = Outcome::of(operation, all);
                        report(Row {
                            dataset: whole.map_or_else(String::new, |data| data.name.clone()),
                            n: count,
                            algorithm: way.to_string(),
                            distribution: sharing.to_string(),
                            backend: backend.name().to_owned(),
                            ranks: world.size(),
                            bits: format!("{:016X}", outcome.total.to_bits()),
                            sum: outcome.total.is_finite().then_some(outcome.total),
                            order: way.order().name().to_owned(),
                            messages: is_counted.then_some(outcome.messages),
                            rounds: outcome.rounds,
                            collective: operation.name().to_owned(),
                            ranks_agree: outcome.ranks_agree,
                        });
                    };
                    match items {
                        Items::Shared(_, board) => board.leave(number, world, own, report),
                        Items::OnRankZero => {
                            let all = gather(world, own)?;
                            if world.rank() == 0 {
                                report(&all);
                            }
                        }
                    }
                    number += 1;
                }
            }
        }
    }
    Ok(())
}

/// Broadcasts rank 0's number of items.
fn broadcast_count(world: &World, count: u64) -> Result<u64, Error> {
    let mut message = count.to_le_bytes().to_vec();
    collective::broadcast(world.transport(), 0, Tag::CONTROL, &mut message, 8)?;
    let first = message.first_chunk();
    let first = first.ok_or_else(|| Error::Run("rank 0 did not send the item count".to_owned()))?;
    Ok(u64::from_le_bytes(*first))
}

/// This rank's items, in the order in which it owns them.
fn local_items<'d>(
    world: &World,
    items: Items<'_>,
    whole: Option<&'d DataSet>,
    ownership: &Ownership,
) -> Result<Cow<'d, [f64]>, Error> {
    let share = |data: &'d DataSet, rank| -> Cow<'d, [f64]> {
        let index = |item: u64| usize::try_from(item).expect("the items are in memory");
        let slice = |range: Range<u64>| &data.items[index(range.start)..index(range.end)];
        match ownership.as_distribution() {
            Some(distribution) => Cow::Borrowed(slice(distribution.range(rank))),
            None => {
                let pieces: Vec<&[f64]> = ownership.extents(rank).map(slice).collect();
                Cow::Owned(pieces.concat())
            }
        }
    };
    if let (Items::Shared(..), Some(data)) = (items, whole) {
        return Ok(share(data, world.rank()));
    }
    let comm = world.transport();
    if let Some(data) = whole {
        for rank in 1..world.size() {
            let message: Vec<u8> = bytemuck::cast_slice(&share(data, rank)).to_vec();
            let bytes = message.len();
            collective::send(comm, rank, Tag::CONTROL, message, bytes)?;
        }
        return Ok(share(data, 0));
    }
    let count = usize::try_from(ownership.count(world.rank())).expect("the items are in memory");
    let message = collective::receive(comm, 0, Tag::CONTROL, count * size_of::<f64>())?;
    let doubles = message.chunks_exact(size_of::<f64>());
    Ok(doubles.map(bytemuck::pod_read_unaligned).collect())
}

/// The result of a collective operation on a rank, with its messages and rounds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Own {
    rank: usize,
    /// The bits of the sum, on ranks that get a result.
    bits: Option<u64>,
    messages: u64,
    rounds: Option<u64>,
}

/// The most bytes of an [`Own`] as JSON.
const OWN_BYTES_MAX: usize = 200;

/// The outcomes of all ranks, combined.
struct Outcome {
    /// The sum on rank 0.
    total: f64,
    /// Whether all ranks that should get a result, and no others, got this sum.
    ranks_agree: bool,
    messages: u64,
    rounds: Option<u64>,
}

impl Outcome {
    fn of(operation: Operation, all: &[Own]) -> Self {
        let first = all[0].bits;
        let with_total = all.iter().filter_map(|own| own.bits);
        let expected_count = match operation {
            Operation::Reduce => 1,
            _ => all.len(),
        };
        Self {
            total: f64::from_bits(first.unwrap_or(0)),
            ranks_agree: with_total.clone().count() == expected_count
                && with_total.clone().all(|bits| Some(bits) == first),
            messages: all.iter().fold(0, |total, own| total + own.messages),
            rounds: all.iter().filter_map(|own| own.rounds).max(),
        }
    }
}

fn reduce(
    world: &World,
    runner: &Runner,
    operation: Operation,
    local: &[f64],
) -> Result<Own, Error> {
    let sent_before = world.traffic().messages;
    let total = match (runner, operation) {
        (Runner::Plan(plan), Operation::Reduce) => plan.reduce(local)?,
        (Runner::Exact(plan), Operation::Reduce) => {
            let total = plan.reduce(&exact::Sum::of(local))?;
            total.map(|total| total.value())
        }
        _ => Some(runner.allreduce(local)?),
    };
    let rounds = match runner {
        Runner::Plan(plan) => plan.rounds(),
        Runner::Exact(plan) => plan.rounds(),
        Runner::Baseline(_) | Runner::LocalFold => None,
    };
    Ok(Own {
        rank: world.rank(),
        // Plans return the canonical NaN; baselines may return any NaN.
        bits: total.map(|total| Sum.canonical(total).to_bits()),
        messages: world.traffic().messages - sent_before,
        rounds,
    })
}

/// Returns the outcomes of all ranks on rank 0, by rank; nothing on other ranks.
fn gather(world: &World, own: Own) -> Result<Vec<Own>, Error> {
    let own = serde_json::to_vec(&own)?;
    let all = collective::gather(world.transport(), 0, Tag::CONTROL, own, OWN_BYTES_MAX)?;
    all.iter()
        .map(|own| Ok(serde_json::from_slice(own)?))
        .collect()
}
