//! The reproducibility matrix on one communicator, with the same code on threads and under MPI.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use comm::{Tag, collective};
use distribution::{Distribution, Ownership};
use reduce::{Algorithm, Operation, Operator, Sum, World, exact, threads};

use crate::baselines::Baseline;
use crate::data::DataSet;
use crate::job::{Job, Row, operations};
use crate::{Backend, Error, Runner, Way};

/// The source of a rank's items.
#[derive(Clone, Copy, Debug)]
pub enum Items<'d> {
    /// All data sets of the job are in this process' memory, where ranks also write their outcomes.
    Shared(&'d [DataSet], &'d Board),
    /// Rank 0 loads the data sets one after the other, and sends each rank its share.
    OnRankZero,
}

/// Collects the outcomes of a process' ranks. No rank waits: the last one to finish a row reports it.
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

/// The usual sum of programs, which is the papers' baseline: a left-to-right fold of even shares on every rank, and an allreduce.
/// On `ranks` threads.
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

/// Runs the job's rows on the ranks of a world; one rank passes each to `report`. Collective.
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
    let all = collective::allgather(
        world.transport(),
        Tag::CONTROL,
        count.to_le_bytes().to_vec(),
    )?;
    let first = all
        .first_chunk()
        .ok_or_else(|| Error::Run("rank 0 has not sent N".to_owned()))?;
    Ok(u64::from_le_bytes(*first))
}

/// This rank's share of the data set, in the order in which it owns it.
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
    let to_bytes = |items: &[f64]| items.iter().flat_map(|item| item.to_le_bytes()).collect();
    if let Some(data) = whole {
        for rank in 1..world.size() {
            let message: Vec<u8> = to_bytes(&share(data, rank));
            let bytes = message.len();
            collective::send(world.transport(), rank, Tag::CONTROL, message, bytes)?;
        }
        return Ok(share(data, 0));
    }
    let count = usize::try_from(ownership.count(world.rank())).expect("the items are in memory");
    let message = collective::receive(world.transport(), 0, Tag::CONTROL, count * 8)?;
    let (doubles, _) = message.as_chunks();
    Ok(doubles
        .iter()
        .map(|&double| f64::from_le_bytes(double))
        .collect())
}

/// The result of a collective operation on a rank, with its messages and rounds.
#[derive(Clone, Copy, Debug)]
struct Own {
    rank: u64,
    has_total: u64,
    bits: u64,
    messages: u64,
    /// [`NO_ROUNDS`] if there are none.
    rounds: u64,
}

const NO_ROUNDS: u64 = u64::MAX;

/// The outcomes of all ranks, combined.
struct Outcome {
    /// The sum on rank 0.
    total: f64,
    /// Whether all ranks that get a result got this one.
    ranks_agree: bool,
    messages: u64,
    rounds: Option<u64>,
}

impl Outcome {
    fn of(operation: Operation, all: &[Own]) -> Self {
        let first = all[0];
        let with_total = || all.iter().filter(|own| own.has_total != 0);
        let expected_count = match operation {
            Operation::Reduce => 1,
            _ => all.len(),
        };
        let rounds = all.iter().map(|own| own.rounds);
        Self {
            total: f64::from_bits(first.bits),
            ranks_agree: first.has_total != 0
                && with_total().count() == expected_count
                && with_total().all(|own| own.bits == first.bits),
            messages: all.iter().fold(0, |total, own| total + own.messages),
            rounds: rounds.filter(|&rounds| rounds != NO_ROUNDS).max(),
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
        rank: world.rank() as u64,
        has_total: total.is_some().into(),
        // Plans return the canonical NaN; baselines any NaN of the processor.
        bits: Sum.canonical(total.unwrap_or(0.0)).to_bits(),
        messages: world.traffic().messages - sent_before,
        rounds: rounds.unwrap_or(NO_ROUNDS),
    })
}

/// Exchanges the outcomes of all ranks, by messages.
fn gather(world: &World, own: Own) -> Result<Vec<Own>, Error> {
    let words = [own.rank, own.has_total, own.bits, own.messages, own.rounds];
    let own = bytemuck::cast_slice(&words).to_vec();
    let all = collective::allgather(world.transport(), Tag::CONTROL, own)?;
    let of_words = |words: &[u8]| {
        let [rank, has_total, bits, messages, rounds] = bytemuck::pod_read_unaligned(words);
        Own {
            rank,
            has_total,
            bits,
            messages,
            rounds,
        }
    };
    let all = all.chunks_exact(size_of::<[u64; 5]>());
    Ok(all.map(of_words).collect())
}
