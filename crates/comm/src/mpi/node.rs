//! What ranks that share a node have in common: cores, and memory.

use std::env;
use std::fs;
use std::thread;

use super::local::LocalMessages;
use super::raw::{Agreed, Failure, RawCommunicator};
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
    /// The way of what MPI does not carry.
    pub(super) local: LocalMessages,
}

impl Node {
    /// What all ranks agree on about their nodes. Collective.
    ///
    /// `first_number` is that of the first conversation whose messages go that way. One rank that wants no shared memory is enough.
    pub(super) fn find(
        raw: &RawCommunicator,
        rank: usize,
        size: usize,
        first_number: u64,
        wants_memory: bool,
    ) -> Result<Self, Error> {
        let failed = |failure: Failure| failure.on(rank);
        let agreed = |value: usize, agreed| -> Result<usize, Error> {
            let number = raw.allreduce_u64(value as u64, agreed).map_err(failed)?;
            Ok(usize::try_from(number).unwrap_or(usize::MAX))
        };
        let node = raw.split_by_node().map_err(failed)?;
        let node_size = node.size().map_err(failed)?;
        let node_rank = node.rank().map_err(failed)?;
        let node_ranks = agreed(node_size, Agreed::Greatest)?;
        let first = rank - rank % node_ranks;
        let is_regular =
            node_size == node_ranks.min(size - first) && node_rank == rank % node_ranks;
        let are_regular = agreed(is_regular.into(), Agreed::Least)? == 1;
        // Containers of one machine may be nodes to MPI, and share its cores all the same.
        let machine = machine().unwrap_or(rank as u64);
        let is_one_machine = raw.allreduce_u64(machine, Agreed::Least).map_err(failed)?
            == raw
                .allreduce_u64(machine, Agreed::Greatest)
                .map_err(failed)?;
        let (sharing, sharing_ranks) = match is_one_machine {
            true => (raw, size),
            false => (&node, node_size),
        };
        let cores = cores(sharing).map_err(failed)?;
        let at_once = agreed(cores.min(sharing_ranks), Agreed::Least)?;
        let rings = match agreed(setting(wants_memory), Agreed::Least)? {
            ON => {
                let ranks = node.allgather_u64(rank as u64).map_err(failed)?;
                let ranks = ranks
                    .into_iter()
                    .map(|rank| usize::try_from(rank).unwrap_or(0));
                LocalMessages::of_node(&node, ranks.collect(), first_number).map_err(failed)?
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
            concurrency: match (is_one_machine, are_regular) {
                (true, _) => at_once,
                (false, true) => at_once * size.div_ceil(node_ranks),
                (false, false) => size,
            },
            local: rings.unwrap_or_else(|| LocalMessages::of_one(rank, first_number)),
        })
    }
}

/// The same for all processes of a machine until it restarts, in containers, too; `None` where the system does not say.
fn machine() -> Option<u64> {
    parse_machine(&fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?)
}

/// The first half of a random number as Linux writes it: in hexadecimal, with hyphens.
fn parse_machine(boot_id: &str) -> Option<u64> {
    let digits = boot_id.trim().replace('-', "");
    u64::from_str_radix(digits.get(..16)?, 16).ok()
}

/// The cores that the ranks of a communicator, on one machine, may use, as far as is known here. Collective.
///
/// A launcher may bind each process to cores of its own: then those of all processes count. A container may have less time than
/// cores: then this process can have no more threads at once than cores' worth of time.
fn cores(sharing: &RawCommunicator) -> Result<usize, Failure> {
    let own = allowed_cores().unwrap_or_default();
    let words = sharing.allreduce_u64(own.len() as u64, Agreed::Greatest)?;
    let words = usize::try_from(words).expect("processors have few thousand cores");
    let mut padded = own.clone();
    padded.resize(words, 0);
    let all = sharing.allreduce_u64s(&padded, Agreed::Union)?;
    let own_time = thread::available_parallelism().map_or(1, usize::from);
    Ok(match (count(&own), count(&all)) {
        (own_count, _) if own_time < own_count => own_time,
        // A process that is bound to one core says nothing about the others.
        (_, 0) if own_time == 1 => usize::MAX,
        (_, 0) => own_time,
        (_, all_count) => all_count,
    })
}

fn count(cores: &[u64]) -> usize {
    let counts = cores.iter().map(|word| word.count_ones() as usize);
    counts.fold(0, |total, count| total + count)
}

/// The cores that this process is bound to, as bits; `None` where the system does not say.
fn allowed_cores() -> Option<Vec<u64>> {
    parse_cores(&fs::read_to_string("/proc/self/status").ok()?)
}

/// The line `Cpus_allowed`: words of 32 bits in hexadecimal, the greatest first, with commas between them.
fn parse_cores(status: &str) -> Option<Vec<u64>> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed:"));
    let words = line?.trim().rsplit(',');
    words
        .map(|word| u64::from_str_radix(word, 16).ok())
        .collect()
}

/// What the environment can say of shared memory, as numbers, of which the least of all ranks counts. Anything else is 0.
const ON: usize = 2;
const OFF: usize = 1;

fn setting(wants_memory: bool) -> usize {
    match env::var(SHARED_MEMORY_VARIABLE).as_deref() {
        Err(env::VarError::NotPresent) | Ok("on") if wants_memory => ON,
        Err(env::VarError::NotPresent) | Ok("on") => OFF,
        Ok("off") => OFF,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{allowed_cores, count, machine, parse_cores, parse_machine};

    #[test]
    fn cores_are_read_from_the_kernels_words() {
        let status = "Name:\tsh\nCpus_allowed:\t00000003,80000000\nCpus_allowed_list:\t31-33\n";
        assert_eq!(parse_cores(status), Some(vec![0x8000_0000, 3]));
        assert_eq!(
            parse_cores("Cpus_allowed:\tf\n").as_deref().map(count),
            Some(4)
        );
        assert_eq!(parse_cores("Name:\tsh\n"), None);
        assert_eq!(parse_cores("Cpus_allowed:\tmany\n"), None);
    }

    #[test]
    fn machines_have_random_numbers() {
        let told = "0123abcd-4567-89ef-aaaa-bbbbbbbbbbbb\n";
        assert_eq!(parse_machine(told), Some(0x0123_ABCD_4567_89EF));
        assert_eq!(parse_machine("0123abcd"), None);
        assert_eq!(parse_machine("no machine says anything like it"), None);
        assert_eq!(machine(), machine());
    }

    #[test]
    fn this_process_may_run_somewhere() {
        if let Some(cores) = allowed_cores() {
            assert!(count(&cores) > 0);
        }
    }
}
