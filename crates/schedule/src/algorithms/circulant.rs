//! The circulant graph, in doubling order (after Träff 2024). Reduce-scatter and allgather take ceil(log2 p) rounds each, for every p.
//!
//! ```text
//! p = 5, position 0      round 0, to 1      round 1, to 2      round 2, to 4
//! sends the blocks           1, 3               2                  4
//! ```
//!
//! In round l, a position sends to the position 2^l after it. It sends the blocks whose owners are an odd multiple of 2^l after it,
//! and keeps the blocks whose owners are at even multiples. In the end it keeps only its own block. The allgather runs the same
//! rounds backwards. Both together take 2p ceil(log2 p) messages.
//!
//! In doubling order, a message carries at most two ranges of positions for each block. In Träff's halving order, a message would
//! carry many ranges, with up to 1,496 nodes of the tree in the cases that were tried.

use crate::vocabulary::{Piece, Step};

/// The distance of each round: every power of two below p.
fn distances(ranks: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..ranks.next_power_of_two().ilog2()).map(|round| 1 << round)
}

/// The steps of a reduce-scatter.
pub(crate) fn reduce_scatter(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    distances(ranks).map(move |distance| {
        let sent = |from: usize| -> Vec<Piece> {
            (distance..ranks)
                .step_by(2 * distance)
                .flat_map(|offset| {
                    let block = (from + offset) % ranks;
                    // The last 2^l positions up to `from`, or fewer if the owner is among them.
                    let width = distance.min(ranks - offset);
                    Piece::cyclic(ranks, from + ranks + 1 - width, width, block..block + 1)
                })
                .collect()
        };
        Step::shift(ranks, position, distance, sent)
    })
}

/// The steps by which every position sends its reduced block to all others.
pub(crate) fn allgather(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    distances(ranks).rev().map(move |distance| {
        let sent = |from: usize| -> Vec<Piece> {
            (0..ranks - distance)
                .step_by(2 * distance)
                .map(|offset| {
                    let block = (from + offset) % ranks;
                    Piece::reduced(ranks, block..block + 1)
                })
                .collect()
        };
        Step::shift(ranks, position, ranks - distance, sent)
    })
}
