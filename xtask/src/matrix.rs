//! The reproducibility matrix on one communicator: the same code on threads and under MPI.

use std::borrow::Cow;

use comm::{Communicator, Tag, collective};
use distribution::Distribution;
use reduce::{Algorithm, Plan, Sum};

use crate::choices::Backend;
use crate::data::DataSet;
use crate::error::Error;
use crate::job::{Job, Row};

/// Where a rank finds the items.
#[derive(Clone, Copy, Debug)]
pub enum Items<'d> {
    /// All data sets of the job are in this process's memory.
    Shared(&'d [DataSet]),
    /// Rank 0 loads them one after the other, and sends each rank its share.
    OnRankZero,
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
        for sharing in &cases.distributions {
            let distribution = sharing.distribute(count, comm.size(), job.seed)?;
            let local = local_items(comm, items, whole, &distribution)?;
            for name in &cases.algorithms {
                let algorithm = name.parse().map_err(failed)?;
                let outcome = reduce(comm, algorithm, &distribution, &local)?;
                if let (0, Some(data)) = (comm.rank(), whole) {
                    let counted = backend == Backend::Threads || algorithm != Algorithm::Unordered;
                    report(Row {
                        dataset: data.name.clone(),
                        n: count,
                        algorithm: name.clone(),
                        distribution: sharing.to_string(),
                        backend: backend.name().to_owned(),
                        ranks: comm.size(),
                        bits: format!("{:016X}", outcome.total.to_bits()),
                        sum: outcome.total.is_finite().then_some(outcome.total),
                        order: algorithm.order().to_string(),
                        messages: counted.then_some(outcome.messages),
                        rounds: None,
                        collective: "allreduce".to_owned(),
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

/// This rank's share of the data set.
fn local_items<'d>(
    comm: &dyn Communicator,
    items: Items<'_>,
    whole: Option<&'d DataSet>,
    distribution: &Distribution,
) -> Result<Cow<'d, [f64]>, Error> {
    let share = |data: &'d DataSet, rank| {
        let range = distribution.range(rank);
        let index = |item: u64| usize::try_from(item).expect("the items are in memory");
        &data.items[index(range.start)..index(range.end)]
    };
    if let (Items::Shared(_), Some(data)) = (items, whole) {
        return Ok(Cow::Borrowed(share(data, comm.rank())));
    }
    let to_bytes = |items: &[f64]| items.iter().flat_map(|item| item.to_le_bytes()).collect();
    if let Some(data) = whole {
        for rank in 1..comm.size() {
            let message: Vec<u8> = to_bytes(share(data, rank));
            collective::send(comm, rank, Tag::CONTROL, message).map_err(failed)?;
        }
        return Ok(Cow::Borrowed(share(data, 0)));
    }
    let count = usize::try_from(distribution.count(comm.rank())).map_err(failed)?;
    let message = collective::receive(comm, 0, Tag::CONTROL, count * 8).map_err(failed)?;
    let (doubles, _) = message.as_chunks();
    Ok(doubles
        .iter()
        .map(|&double| f64::from_le_bytes(double))
        .collect())
}

/// What an allreduce gave, and what it took.
struct Outcome {
    total: f64,
    ranks_agree: bool,
    messages: u64,
}

fn reduce(
    comm: &dyn Communicator,
    algorithm: Algorithm,
    distribution: &Distribution,
    local: &[f64],
) -> Result<Outcome, Error> {
    let plan = Plan::builder(comm)
        .distribution(distribution)
        .algorithm(algorithm)
        .operator(Sum)
        .build::<f64>()
        .map_err(failed)?;
    let sent_before = comm.traffic().messages;
    let total = plan.allreduce(local).map_err(failed)?;
    let sent = comm.traffic().messages - sent_before;

    let own = [total.to_bits().to_le_bytes(), sent.to_le_bytes()].concat();
    let all = collective::allgather(comm, own).map_err(failed)?;
    let (words, _) = all.as_chunks();
    let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let (ranks, _) = words.as_chunks();
    Ok(Outcome {
        total,
        ranks_agree: ranks.iter().all(|[bits, _]| *bits == words[0]),
        messages: ranks.iter().fold(0, |total, [_, sent]| total + sent),
    })
}
