//! The ring: each block goes around once to be reduced, and once more to reach every position.
//!
//! ```text
//! p = 3, block 0      1 ──► 2 ──► 0   reduce-scatter
//!                     0 ──► 1 ──► 2   allgather
//! ```
//!
//! Reduce-scatter and allgather take p - 1 rounds each, and 2p(p - 1) messages in all. A position sends 2(p - 1)/p rows, the minimum
//! for an allreduce. The ring suits wide rows on few ranks.

use crate::vocabulary::{Piece, Step};

/// The steps of a reduce-scatter: block b starts at position b + 1 and moves on by one position in each round.
pub(crate) fn reduce_scatter(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    (0..ranks - 1).map(move |round| {
        // The sender's block of this round: the reduction of the `round` + 1 positions up to the sender.
        Step::shift(ranks, position, 1, |from| {
            let first = from + ranks - round;
            let block = (first + ranks - 1) % ranks;
            Piece::cyclic(ranks, first, round + 1, block..block + 1)
        })
    })
}

/// The steps by which every position's reduced block reaches all others.
pub(crate) fn allgather(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    (0..ranks - 1).map(move |round| {
        Step::shift(ranks, position, 1, |from| {
            let block = (from + ranks - round) % ranks;
            vec![Piece::reduced(ranks, block..block + 1)]
        })
    })
}
