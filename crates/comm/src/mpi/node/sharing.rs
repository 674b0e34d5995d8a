//! The cores and the memory that the ranks of a node share.

use std::fs;
use std::thread;

use crate::error::Error;
use crate::mpi::calls::collectives::Agreed;
use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::Failure;
use crate::mpi::node::local::LocalMessages;
use crate::setting;

/// The environment variable that says whether short messages between ranks of a node go through shared memory: `on`, which is the default,
/// or `off`, in any spelling of a [switch](setting::switch). If the variable is `off` on one rank, no rank uses shared memory.
pub const SHARED_MEMORY_VARIABLE: &str = "TREEFOLD_SHARED_MEMORY";

#[derive(Debug)]
pub(crate) struct Node {
    /// The number of ranks per node, if consecutive ranks share nodes and all nodes have the same number (the last may have
    /// fewer).
    pub(crate) regular_ranks: Option<usize>,
    /// The number of ranks that can run at once, on all nodes.
    pub(crate) concurrency: usize,
    /// The messages that MPI does not carry.
    pub(crate) local: LocalMessages,
}

impl Node {
    /// Finds the nodes; all ranks agree on the result. Collective.
    ///
    /// `first_number` is the number of the first conversation in `local`. Shared memory is used only if all ranks want it.
    pub(crate) fn find(
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
        // MPI may regard containers of one machine as nodes, although they share the machine's cores.
        let machine = machine().unwrap_or(rank as u64);
        let is_one_machine = raw.allreduce_u64(machine, Agreed::Least).map_err(failed)?
            == raw
                .allreduce_u64(machine, Agreed::Greatest)
                .map_err(failed)?;
        let (sharing, sharing_ranks) = if is_one_machine {
            (raw, size)
        } else {
            (&node, node_size)
        };
        let cores = cores(sharing).map_err(failed)?;
        let at_once = agreed(cores.min(sharing_ranks), Agreed::Least)?;
        let own = MemoryRequest::of_environment(wants_memory);
        let request = agreed(own.number(), Agreed::Least)?;
        let rings = if request == MemoryRequest::On.number() {
            let ranks = node.allgather_u64(rank as u64).map_err(failed)?;
            let ranks = ranks
                .into_iter()
                .map(|rank| usize::try_from(rank).unwrap_or(0));
            LocalMessages::of_node(&node, ranks.collect(), first_number).map_err(failed)?
        } else {
            None
        };
        node.free().map_err(failed)?;
        if request == WRONG {
            return Err(own.first_wrong(raw, rank).map_err(failed)?);
        }
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

/// A number that all processes of this machine see, even in containers. It changes at a restart. `None` if the system has no such number.
fn machine() -> Option<u64> {
    parse_machine(&fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?)
}

/// Parses the first half of a random number that Linux has written in hexadecimal, with hyphens.
fn parse_machine(boot_id: &str) -> Option<u64> {
    let digits = boot_id.trim().replace('-', "");
    u64::from_str_radix(digits.get(..16)?, 16).ok()
}

/// The number of cores that the ranks of a communicator on one machine may use, as far as this process knows. Collective.
///
/// A launcher may bind each process to cores of its own, so the cores of all processes count. A container may have less
/// processor time than cores. In that case, this process can run only as many threads at once as that time allows.
fn cores(sharing: &RawCommunicator) -> Result<usize, Failure> {
    let own = allowed_cores().unwrap_or_default();
    let words = sharing.allreduce_u64(own.len() as u64, Agreed::Greatest)?;
    let words = usize::try_from(words).expect("processors have a few thousand cores at most");
    let mut padded = own.clone();
    padded.resize(words, 0);
    let all = sharing.allreduce_u64s(&padded, Agreed::Union)?;
    let own_time = thread::available_parallelism().map_or(1, usize::from);
    Ok(match (count(&own), count(&all)) {
        (own_count, _) if own_time < own_count => own_time,
        // The binding of this process to one core says nothing about the other cores.
        (_, 0) if own_time == 1 => usize::MAX,
        (_, 0) => own_time,
        (_, all_count) => all_count,
    })
}

fn count(cores: &[u64]) -> usize {
    let counts = cores.iter().map(|word| word.count_ones() as usize);
    counts.fold(0, |total, count| total + count)
}

/// The cores that this process is bound to, as bits; `None` if the system does not say.
fn allowed_cores() -> Option<Vec<u64>> {
    parse_cores(&fs::read_to_string("/proc/self/status").ok()?)
}

/// Parses the line `Cpus_allowed`: 32-bit words in hexadecimal, the most significant first, with commas between them.
fn parse_cores(status: &str) -> Option<Vec<u64>> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed:"));
    let words = line?.trim().rsplit(',');
    words
        .map(|word| u64::from_str_radix(word, 16).ok())
        .collect()
}

/// Whether a rank wants shared memory. The request with the least [number](Self::number) decides for all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MemoryRequest {
    On,
    Off,
    /// The environment variable has another value.
    Wrong(String),
}

/// The number that stands for a wrong value.
const WRONG: usize = 0;

/// How much of a wrong value an error shows, in 8-byte words.
const SHOWN_WORDS: usize = 16;

impl MemoryRequest {
    /// The request of the environment variable if it is set, else the program's request.
    fn of_environment(wants_memory: bool) -> Self {
        let Some(value) = setting::value(SHARED_MEMORY_VARIABLE) else {
            return Self::on(wants_memory);
        };
        match setting::switch(&value) {
            Some(is_on) => Self::on(is_on && wants_memory),
            None => Self::Wrong(value.to_string_lossy().into_owned()),
        }
    }

    fn on(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Off }
    }

    fn number(&self) -> usize {
        match self {
            Self::On => 2,
            Self::Off => 1,
            Self::Wrong(_) => WRONG,
        }
    }

    /// Returns, on every rank, the error of the first rank whose value is wrong. Collective.
    fn first_wrong(&self, raw: &RawCommunicator, rank: usize) -> Result<Error, Failure> {
        let is_wrong = matches!(self, Self::Wrong(_));
        let candidate = if is_wrong { rank as u64 } else { u64::MAX };
        let first = raw.allreduce_u64(candidate, Agreed::Least)?;
        let shown = match self {
            Self::Wrong(value) if first == rank as u64 => to_words(value),
            _ => [0; SHOWN_WORDS],
        };
        let shown = raw.allreduce_u64s(&shown, Agreed::Union)?;
        Ok(Error::BadSetting {
            rank: usize::try_from(first).unwrap_or(rank),
            variable: SHARED_MEMORY_VARIABLE,
            value: of_words(&shown),
            expected: setting::SWITCH_VALUES,
        })
    }
}

/// The beginning of a text without null characters, padded with zeros.
fn to_words(text: &str) -> [u64; SHOWN_WORDS] {
    let mut words = [0; SHOWN_WORDS];
    for (word, bytes) in words.iter_mut().zip(text.as_bytes().chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    words
}

/// The text from which [`to_words`] made these words, up to its last whole character.
fn of_words(words: &[u64]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
    let whole = bytes.utf8_chunks().next();
    whole.map_or("", |chunk| chunk.valid()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{
        SHOWN_WORDS, allowed_cores, count, machine, of_words, parse_cores, parse_machine, to_words,
    };

    #[test]
    fn a_value_survives_as_words() {
        for value in ["perhaps", "OFFF", "größer", "eight..."] {
            assert_eq!(of_words(&to_words(value)), value);
        }
        let long = "ö".repeat(1000);
        let shown = of_words(&to_words(&format!("a{long}")));
        assert_eq!(shown, format!("a{}", "ö".repeat(4 * SHOWN_WORDS - 1)));
    }

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
        let shown = "0123abcd-4567-89ef-aaaa-bbbbbbbbbbbb\n";
        assert_eq!(parse_machine(shown), Some(0x0123_ABCD_4567_89EF));
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
