//! Collectives for any communicator, composed of sends and receives. Ranks use these functions while they build a plan.
//!
//! All ranks must call these functions in the same order, with the same tags.

use crate::communicator::Communicator;
use crate::error::Error;
use crate::tag::Tag;

/// Sends one message to a receiver whose buffer has `capacity_bytes`, and waits until the send is complete.
///
/// # Errors
/// Those of [`Communicator::wait`].
pub fn send<C: Communicator + ?Sized>(
    comm: &C,
    to: usize,
    tag: Tag,
    message: Vec<u8>,
    capacity_bytes: usize,
) -> Result<(), Error> {
    let request = comm.start_send(to, tag, message, capacity_bytes)?;
    comm.wait(request).map(drop)
}

/// Receives one message of at most `capacity_bytes`.
///
/// # Errors
/// Those of [`Communicator::wait`].
pub fn receive<C: Communicator + ?Sized>(
    comm: &C,
    from: usize,
    tag: Tag,
    capacity_bytes: usize,
) -> Result<Vec<u8>, Error> {
    let request = comm.start_receive(from, tag, vec![0; capacity_bytes])?;
    comm.wait(request)
}

/// Sends the root's message, of at most `capacity_bytes`, to every rank along a binomial tree, in ceil(log2 p) rounds and with p - 1
/// messages.
///
/// Reads `message` on the root, and overwrites it on the other ranks.
///
/// # Errors
/// Those of [`Communicator::wait`].
pub fn broadcast<C: Communicator + ?Sized>(
    comm: &C,
    root: usize,
    tag: Tag,
    message: &mut Vec<u8>,
    capacity_bytes: usize,
) -> Result<(), Error> {
    let size = comm.size();
    // Positions count the ranks from the root, which is at position 0.
    let position = (comm.rank() + size - root) % size;
    let rank_at = |position: usize| (position + root) % size;
    if position > 0 {
        let parent = position & (position - 1);
        *message = receive(comm, rank_at(parent), tag, capacity_bytes)?;
    }
    let mut sends = Vec::new();
    for child in binomial_children(position, size).rev() {
        sends.push(comm.start_send(rank_at(child), tag, message.clone(), capacity_bytes)?);
    }
    for request in sends {
        comm.wait(request)?;
    }
    Ok(())
}

/// Returns the messages of all ranks in rank order on `root`, and an empty list on the other ranks.
/// A message has at most `capacity_bytes`.
///
/// # Errors
/// Those of [`Communicator::wait`].
pub fn gather<C: Communicator + ?Sized>(
    comm: &C,
    root: usize,
    tag: Tag,
    message: Vec<u8>,
    capacity_bytes: usize,
) -> Result<Vec<Vec<u8>>, Error> {
    if comm.rank() != root {
        send(comm, root, tag, message, capacity_bytes)?;
        return Ok(Vec::new());
    }
    let mut gathered = vec![Vec::new(); comm.size()];
    gathered[root] = message;
    for (from, slot) in gathered.iter_mut().enumerate() {
        if from != root {
            *slot = receive(comm, from, tag, capacity_bytes)?;
        }
    }
    Ok(gathered)
}

/// Returns the messages of all ranks, joined in rank order, on every rank. All messages have the same length.
///
/// Uses the algorithm of Bruck et al. (1997): ceil(log2 p) rounds, in which each rank sends the bytes of p - 1 messages in total.
///
/// # Errors
/// Those of [`Communicator::wait`].
pub fn allgather<C: Communicator + ?Sized>(
    comm: &C,
    tag: Tag,
    message: Vec<u8>,
) -> Result<Vec<u8>, Error> {
    let (rank, size, length_bytes) = (comm.rank(), comm.size(), message.len());
    // The messages of this rank, of the next rank, and so on.
    let mut all = message;
    all.reserve_exact(length_bytes * (size - 1));
    let mut held = 1;
    while held < size {
        let count = held.min(size - held);
        let bytes = count * length_bytes;
        let (to, from) = ((rank + size - held) % size, (rank + held) % size);
        let sent = comm.start_send(to, tag, all[..bytes].to_vec(), bytes)?;
        match receive(comm, from, tag, bytes) {
            Ok(received) => all.extend(received),
            Err(error) => {
                comm.cancel(sent);
                return Err(error);
            }
        }
        comm.wait(sent)?;
        held += count;
    }
    all.rotate_right(rank * length_bytes);
    Ok(all)
}

/// The memory in bytes that an [`allgather`] of messages of this length needs on a rank: all messages, plus the buffers of the last round,
/// which sends half of the messages and receives the other half.
#[must_use]
pub fn allgather_bytes(ranks: usize, length_bytes: u128) -> u128 {
    2 * length_bytes * ranks as u128
}

/// Reduces the ranks' values, which have the same length, to rank 0 along a binomial tree, and broadcasts the result.
/// `combine(left, right)` stores the combination in `left`; the value on the left comes from lower ranks.
///
/// The tree depends on the number of ranks, so `combine` must give the same result for every tree, as a maximum does.
///
/// # Errors
/// Those of [`Communicator::wait`].
pub fn allreduce<C: Communicator + ?Sized>(
    comm: &C,
    tag: Tag,
    value: &mut Vec<u8>,
    combine: impl Fn(&mut [u8], &[u8]),
) -> Result<(), Error> {
    let (rank, length_bytes) = (comm.rank(), value.len());
    for child in binomial_children(rank, comm.size()) {
        let right = receive(comm, child, tag, length_bytes)?;
        combine(value, &right);
    }
    if rank > 0 {
        let parent = rank & (rank - 1);
        send(comm, parent, tag, value.clone(), length_bytes)?;
    }
    broadcast(comm, 0, tag, value, length_bytes)
}

/// The children of `position` in the binomial tree over `0..size`: position + 2^k for every k
/// below its lowest set bit, nearest first. The subtree of child position + 2^k has up to 2^k positions.
fn binomial_children(
    position: usize,
    size: usize,
) -> impl DoubleEndedIterator<Item = usize> + use<> {
    let limit = if position == 0 {
        usize::BITS - 1
    } else {
        position.trailing_zeros()
    };
    (0..limit)
        .map(move |k| position + (1 << k))
        .filter(move |&child| child < size)
}

#[cfg(test)]
mod tests {
    use super::binomial_children;

    #[test]
    fn every_position_but_the_root_is_one_parent_s_child() {
        for size in 1..200 {
            let mut parents = vec![0; size];
            for position in 0..size {
                for child in binomial_children(position, size) {
                    assert_eq!(child & (child - 1), position);
                    parents[child] += 1;
                }
            }
            assert_eq!(parents[0], 0);
            assert!(parents[1..].iter().all(|&count| count == 1), "size {size}");
        }
    }
}
