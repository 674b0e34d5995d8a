//! The circulant graph, in doubling order (after Träff 2024): reduce-scatter and allgather in ceil(log2 p) rounds each, for every p.
//!
//! ```text
//! p = 5, position 0      round 0, to 1      round 1, to 2      round 2, to 4
//! sends the blocks           1, 3               2                  4
//! ```
//!
//! In round l a position passes on, 2^l further, all blocks whose way from here is an odd multiple of 2^l; it keeps those of the even ones. The
//! last it keeps is its own. 2p ceil(log2 p) messages with the allgather, which runs backwards. In this order a message carries at
//! most two ranges; in Träff's, halving, up to 1,496 nodes.

use crate::cyclic;
use crate::model::{Piece, Step, Transfer};

/// The rounds: 2^l for every power of two below p.
fn distances(ranks: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..ranks.next_power_of_two().ilog2()).map(|round| 1 << round)
}

/// Block b of p to position b.
pub(crate) fn reduce_scatter(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    distances(ranks).map(move |distance| {
        let sent = |from: usize| -> Vec<Piece> {
            (distance..ranks)
                .step_by(2 * distance)
                .flat_map(|way| {
                    let block = (from + way) % ranks;
                    // So many have come together here, unless the block has no longer way behind it.
                    let width = distance.min(ranks - way);
                    cyclic::pieces(ranks, from + ranks + 1 - width, width, block..block + 1)
                })
                .collect()
        };
        let (to, from) = ((rank + distance) % ranks, (rank + ranks - distance) % ranks);
        Step::exchange(
            Transfer::new(to, sent(rank)),
            Transfer::new(from, sent(from)),
        )
    })
}

/// Every position's block, whole, to every other.
pub(crate) fn allgather(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    distances(ranks).rev().map(move |distance| {
        let sent = |from: usize| -> Vec<Piece> {
            (0..ranks - distance)
                .step_by(2 * distance)
                .map(|way| {
                    let block = (from + way) % ranks;
                    Piece {
                        ranks: 0..ranks,
                        blocks: block..block + 1,
                    }
                })
                .collect()
        };
        let (from, to) = ((rank + distance) % ranks, (rank + ranks - distance) % ranks);
        Step::exchange(
            Transfer::new(to, sent(rank)),
            Transfer::new(from, sent(from)),
        )
    })
}
