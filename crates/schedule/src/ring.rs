//! The ring: block after block goes round once to be reduced, and once more to be known.
//!
//! ```text
//! p = 3, block 0      1 ──► 2 ──► 0   reduced
//!                     0 ──► 1 ──► 2   known
//! ```
//!
//! Reduce-scatter and allgather take p - 1 rounds each, 2p(p - 1) messages in all, and move no more than 2(p - 1)/p rows a rank: the
//! least there is. For wide rows on few ranks.

use crate::cyclic;
use crate::model::{Piece, Step, Transfer};

/// Block b's partial reduction starts behind position b and ends there, a position further each round.
pub(crate) fn reduce_scatter(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    (0..ranks - 1).map(move |round| {
        let (left, right) = neighbours(ranks, rank);
        // What a position sends: the last round + 1 positions up to itself, of the block before them.
        let sent = |from: usize| {
            let first = from + ranks - round;
            let block = (first + ranks - 1) % ranks;
            cyclic::pieces(ranks, first, round + 1, block..block + 1)
        };
        Step::exchange(
            Transfer::new(right, sent(rank)),
            Transfer::new(left, sent(left)),
        )
    })
}

/// Every position's block, whole, to every other.
pub(crate) fn allgather(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    (0..ranks - 1).map(move |round| {
        let (left, right) = neighbours(ranks, rank);
        let sent = |from: usize| {
            let block = (from + ranks - round) % ranks;
            [Piece {
                ranks: 0..ranks,
                blocks: block..block + 1,
            }]
        };
        Step::exchange(
            Transfer::new(right, sent(rank)),
            Transfer::new(left, sent(left)),
        )
    })
}

fn neighbours(ranks: usize, rank: usize) -> (usize, usize) {
    ((rank + ranks - 1) % ranks, (rank + 1) % ranks)
}
