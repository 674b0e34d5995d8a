//! Checks that there is memory for a plan, because an allocation that fails would end the program.

use std::hint;

use comm::collective;

use super::table::Table;
use crate::error::BuildError;

/// The least number of bytes that a range of items takes in a compiled plan: for its rows, its node and their places.
pub(super) const RANGE_BYTES: u128 = 64;

/// The numbers of bytes that a range takes in a list, in the table of all owners and, additionally, while that table is sorted.
const LISTED_BYTES: u128 = 16;
const OWNED_BYTES: u128 = 24;
const SORTING_BYTES: u128 = 12;

/// This number of bytes is assumed to be available. Larger amounts of memory are allocated on trial first.
const SMALL_BYTES: u128 = 1 << 20;

/// Memory that was allocated on trial, and that nothing uses.
#[derive(Debug)]
pub(super) struct Reserved {
    _memory: Vec<u8>,
}

/// Allocates this much memory in one piece; `None` if this process cannot get it.
pub(super) fn reserve(bytes: u128) -> Option<Reserved> {
    let mut memory = hint::black_box(Vec::<u8>::new());
    if bytes > SMALL_BYTES {
        memory
            .try_reserve_exact(usize::try_from(bytes).ok()?)
            .ok()?;
    }
    // Without this call, the compiler may remove the allocation.
    let memory = hint::black_box(memory);
    Some(Reserved { _memory: memory })
}

/// Fails with the same error on every rank if one of them lacks the memory to exchange and keep all ranks' ranges of items. `ranges` has
/// each rank's number of ranges; `message_bytes` is the longest message that holds a rank's ranges. Collective, unless the ranges are few.
pub(super) fn check_exchange(
    table: Table<'_>,
    ranges: &[u64],
    message_bytes: u64,
) -> Result<(), BuildError> {
    let most = u128::from(ranges.iter().copied().max().unwrap_or(0));
    // All ranks make the same decision here.
    if most * LISTED_BYTES * ranges.len() as u128 <= SMALL_BYTES {
        return Ok(());
    }
    let rank = table.comm.rank();
    let bytes = exchange_bytes(rank, ranges, message_bytes.into());
    // The memory is kept until all ranks have allocated theirs, since ranks may share a machine or a process.
    let reserved = reserve(bytes);
    let lacking = reserved.is_none().then_some((rank, bytes));
    let first = first_lacking(table, lacking)?;
    drop(reserved);
    match first {
        None => Ok(()),
        Some((rank, bytes)) => Err(BuildError::Memory { rank, bytes }),
    }
}

/// The least number of bytes that this rank needs at once.
fn exchange_bytes(rank: usize, ranges: &[u64], message: u128) -> u128 {
    let own = u128::from(ranges[rank]);
    let all = ranges.iter().fold(0, |all, &own| all + u128::from(own));
    // Every rank's message is as long as the longest.
    let exchanged = collective::allgather_bytes(ranges.len(), message);
    let listed = message * ranges.len() as u128 + all * LISTED_BYTES;
    let sorted = all * (LISTED_BYTES + OWNED_BYTES + SORTING_BYTES);
    let compiled = all * (LISTED_BYTES + OWNED_BYTES) + own * RANGE_BYTES;
    exchanged.max(listed).max(sorted).max(compiled)
}

/// The first rank that lacks memory, and the number of bytes that it needs. Collective.
fn first_lacking(
    table: Table<'_>,
    own: Option<(usize, u128)>,
) -> Result<Option<(usize, u128)>, comm::Error> {
    let (rank, bytes) = own.map_or((u64::MAX, 0), |(rank, bytes)| (rank as u64, bytes));
    let [low, high]: [u64; 2] = bytemuck::cast(bytes);
    let mut words = bytemuck::bytes_of(&[rank, low, high]).to_vec();
    // The words of the lower ranks are on the left.
    collective::allreduce(table.comm, table.tag, &mut words, |left, right| {
        let [rank, ..]: [u64; 3] = bytemuck::pod_read_unaligned(left);
        if rank == u64::MAX {
            left.copy_from_slice(right);
        }
    })?;
    let [rank, low, high]: [u64; 3] = bytemuck::pod_read_unaligned(&words);
    let rank = usize::try_from(rank)
        .ok()
        .filter(|&rank| rank < table.comm.size());
    Ok(rank.map(|rank| (rank, bytemuck::cast([low, high]))))
}
