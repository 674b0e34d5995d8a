//! The reproducibility matrix on one communicator: the same code on threads and under MPI.

use std::borrow::Cow;
use std::ops::Range;

use comm::{Communicator, Tag, collective, threads};
use distribution::{Distribution, Ownership};
use reduce::{Algorithm, Plan, Sum};

use crate::bench::reduce::Way;
use crate::choices::Backend;
use crate::data::DataSet;
use crate::error::Error;
use crate::job::{Job, Operation, Row};

/// Where a rank finds the items.
#[derive(Clone, Copy, Debug)]
pub enum Items<'d> {
    /// All data sets of the job are in this process's memory.
    Shared(&'d [DataSet]),
    /// Rank 0 loads them one after the other, and sends each rank its share.
    OnRankZero,
}

/// The sum as programs usually take it, of the papers' baseline: a left-to-right fold on every rank, of even shares, and an allreduce. On so many threads.
pub fn plain_sum(items: &[f64], ranks: usize) -> Result<f64, Error> {
    let distribution = Distribution::upper(items.len() as u64, ranks);
    let distribution = distribution.map_err(failed)?;
    let index = |item: u64| usize::try_from(item).expect("the items are in memory");
    let totals = threads::run(ranks, |comm| {
        let own = distribution.range(comm.rank());
        Way::LEFT_TO_RIGHT.run(comm, &items[index(own.start)..index(own.end)])
    });
    totals.map_err(failed)?.swap_remove(0)
}

/// Runs the job's rows on the ranks of `comm`; rank 0 hands each to `report`. Collective.
pub fn run(
    comm: &dyn Communicator,
    backend: Backend,
    job: &Job,
    items: Items<'_>,
    report: &dyn Fn(Row),
) -> Result<(), Error> {
    for (index, cases) in job.cases.iter().enumerate() {
        let loaded = match items {
            Items::OnRankZero if comm.rank() == 0 => Some(cases.source.load()?),
            _ => None,
        };
        let whole = match items {
            Items::Shared(data) => Some(&data[index]),
            Items::OnRankZero => loaded.as_ref(),
        };
        let count = broadcast_count(comm, whole.map_or(0, |data| data.items.len() as u64))?;
        for &sharing in &cases.distributions {
            let ownership = sharing.distribute(count, comm.size(), job.seed)?;
            let local = local_items(comm, items, whole, &ownership)?;
            for algorithm in cases.algorithms_for(sharing) {
                let plan = Plan::builder(comm)
                    .ownership(&ownership)
                    .algorithm(algorithm)
                    .operator(Sum)
                    .build::<f64>()
                    .map_err(failed)?;
                for &operation in Operation::of(algorithm) {
                    let outcome = reduce(comm, &plan, operation, &local)?;
                    let (0, Some(data)) = (comm.rank(), whole) else {
                        continue;
                    };
                    let is_counted = match algorithm {
                        Algorithm::Unordered => backend == Backend::Threads,
                        Algorithm::MpiNative => false,
                        _ => true,
                    };
                    report(Row {
                        dataset: data.name.clone(),
                        n: count,
                        algorithm: algorithm.to_string(),
                        distribution: sharing.to_string(),
                        backend: backend.name().to_owned(),
                        ranks: comm.size(),
                        bits: format!("{:016X}", outcome.total.to_bits()),
                        sum: outcome.total.is_finite().then_some(outcome.total),
                        order: algorithm.order().to_string(),
                        messages: is_counted.then_some(outcome.messages),
                        rounds: outcome.rounds,
                        collective: operation.name().to_owned(),
                        ranks_agree: outcome.ranks_agree,
                    });
                }
            }
        }
    }
    Ok(())
}

fn failed(error: impl ToString) -> Error {
    Error::Run(error.to_string())
}

/// Brings rank 0's number of items to every rank.
fn broadcast_count(comm: &dyn Communicator, count: u64) -> Result<u64, Error> {
    let all = collective::allgather(comm, count.to_le_bytes().to_vec()).map_err(failed)?;
    let first = all
        .first_chunk()
        .ok_or_else(|| failed("rank 0 has not told N"))?;
    Ok(u64::from_le_bytes(*first))
}

/// This rank's share of the data set, in the order in which it owns it.
fn local_items<'d>(
    comm: &dyn Communicator,
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
    if let (Items::Shared(_), Some(data)) = (items, whole) {
        return Ok(share(data, comm.rank()));
    }
    let to_bytes = |items: &[f64]| items.iter().flat_map(|item| item.to_le_bytes()).collect();
    if let Some(data) = whole {
        for rank in 1..comm.size() {
            let message: Vec<u8> = to_bytes(&share(data, rank));
            collective::send(comm, rank, Tag::CONTROL, message).map_err(failed)?;
        }
        return Ok(share(data, 0));
    }
    let count = usize::try_from(ownership.count(comm.rank())).map_err(failed)?;
    let message = collective::receive(comm, 0, Tag::CONTROL, count * 8).map_err(failed)?;
    let (doubles, _) = message.as_chunks();
    Ok(doubles
        .iter()
        .map(|&double| f64::from_le_bytes(double))
        .collect())
}

/// What a collective operation gave, and what it took.
struct Outcome {
    /// Of rank 0.
    total: f64,
    /// Whether all ranks that got a result got this one.
    ranks_agree: bool,
    messages: u64,
    rounds: Option<u64>,
}

fn reduce(
    comm: &dyn Communicator,
    plan: &Plan<'_, f64, Sum>,
    operation: Operation,
    local: &[f64],
) -> Result<Outcome, Error> {
    let sent_before = comm.traffic().messages;
    let total = match operation {
        Operation::Allreduce => plan.allreduce(local).map(Some),
        Operation::Reduce => plan.reduce(local),
    };
    let total = total.map_err(failed)?;
    let sent = comm.traffic().messages - sent_before;

    let own = [
        u64::from(total.is_some()),
        total.unwrap_or(0.0).to_bits(),
        sent,
        plan.rounds().unwrap_or(0),
    ];
    let own = bytemuck::cast_slice(&own).to_vec();
    let all = collective::allgather(comm, own).map_err(failed)?;
    let ranks: Vec<[u64; 4]> = all
        .chunks_exact(size_of::<[u64; 4]>())
        .map(bytemuck::pod_read_unaligned)
        .collect();
    let [has_total, first_bits, ..] = ranks[0];
    let with_total = || ranks.iter().filter(|[has_total, ..]| *has_total != 0);
    let expected_count = match operation {
        Operation::Allreduce => comm.size(),
        Operation::Reduce => 1,
    };
    Ok(Outcome {
        total: f64::from_bits(first_bits),
        ranks_agree: has_total != 0
            && with_total().count() == expected_count
            && with_total().all(|[_, bits, ..]| *bits == first_bits),
        messages: ranks.iter().fold(0, |total, [_, _, sent, _]| total + sent),
        rounds: plan
            .rounds()
            .and_then(|_| ranks.iter().map(|[.., rounds]| *rounds).max()),
    })
}
