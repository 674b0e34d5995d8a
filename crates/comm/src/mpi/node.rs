//! What ranks that share a node have in common: cores, and memory.

use std::env;
use std::thread;

use super::raw::{Extreme, Failure, RawCommunicator};
use super::short::ShortMessages;
use crate::error::Error;

/// The environment variable that says whether short messages between ranks of a node go through shared memory: `on`, which is
/// the default, or `off`. One rank that says `off` is enough.
pub const SHARED_MEMORY_VARIABLE: &str = "TREEFOLD_SHARED_MEMORY";

#[derive(Debug)]
pub(super) struct Node {
    /// The number of ranks of a node, where consecutive ranks share nodes and all nodes have the same number (the last may have
    /// fewer).
    pub(super) regular_ranks: Option<usize>,
    /// The ranks that can run at once, on all nodes.
    pub(super) concurrency: usize,
    /// Where short messages go through shared memory.
    pub(super) short: Option<ShortMessages>,
}

impl Node {
    /// What all ranks agree on about their nodes. Collective.
    ///
    /// `first_number` is that of the first conversation whose short messages go that way.
    pub(super) fn find(
        raw: &RawCommunicator,
        rank: usize,
        size: usize,
        first_number: u64,
    ) -> Result<Self, Error> {
        let failed = |failure: Failure| failure.on(rank);
        let agreed = |value: usize, extreme| -> Result<usize, Error> {
            let number = raw.allreduce_u64(value as u64, extreme).map_err(failed)?;
            Ok(usize::try_from(number).unwrap_or(usize::MAX))
        };
        let node = raw.split_by_node().map_err(failed)?;
        let node_size = node.size().map_err(failed)?;
        let node_rank = node.rank().map_err(failed)?;
        let node_ranks = agreed(node_size, Extreme::Greatest)?;
        let first = rank - rank % node_ranks;
        let is_regular =
            node_size == node_ranks.min(size - first) && node_rank == rank % node_ranks;
        let are_regular = agreed(is_regular.into(), Extreme::Least)? == 1;
        // A process that is bound to one core says nothing about the others.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let at_once = if cores > 1 {
            cores.min(node_size)
        } else {
            node_size
        };
        let at_once = agreed(at_once, Extreme::Least)?;
        let short = match agreed(setting(), Extreme::Least)? {
            ON => {
                let ranks = node.allgather_u64(rank as u64).map_err(failed)?;
                let ranks = ranks
                    .into_iter()
                    .map(|rank| usize::try_from(rank).unwrap_or(0));
                ShortMessages::new(&node, ranks.collect(), first_number).map_err(failed)?
            }
            OFF => None,
            _ => {
                return Err(Error::BadSetting {
                    variable: SHARED_MEMORY_VARIABLE,
                    expected: "`on` or `off`",
                });
            }
        };
        node.free().map_err(failed)?;
        Ok(Self {
            regular_ranks: are_regular.then_some(node_ranks),
            concurrency: if are_regular {
                at_once * size.div_ceil(node_ranks)
            } else {
                size
            },
            short,
        })
    }
}

/// What the environment can say of shared memory, as numbers, of which the least of all ranks counts. Anything else is 0.
const ON: usize = 2;
const OFF: usize = 1;

fn setting() -> usize {
    match env::var(SHARED_MEMORY_VARIABLE).as_deref() {
        Err(env::VarError::NotPresent) | Ok("on") => ON,
        Ok("off") => OFF,
        _ => 0,
    }
}
