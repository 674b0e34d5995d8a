//! Rabenseifner's allreduce: a reduce-scatter by recursive halving, then an allgather with the same partners in reverse order.
//!
//! ```text
//! p = 4, blocks that position 0 holds     reduced over
//! with 1: keeps 0, 2                      01
//! with 2: keeps 0                         0123
//! with 2: has 0, 2                        0123
//! with 1: has 0, 1, 2, 3                  0123
//! ```
//!
//! With k = floor(log2 p) and q = p - 2^k: 2k rounds, and 2 more if q > 0; 2k 2^k + 2q messages. In the 2k rounds
//! a position sends less than two rows, for every p.

use crate::vocabulary::{Fold, Piece, Step, Transfer};

/// The steps of an allreduce.
pub(crate) fn allreduce(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    let back = fold.actor(position).map(|own| {
        (0..fold.rounds).rev().map(move |round| {
            let peer = fold.start(own ^ 1 << round);
            Step::exchange(
                Transfer::new(peer, fold.gathered(ranks, own, round)),
                Transfer::new(peer, fold.gathered(ranks, own ^ 1 << round, round)),
            )
        })
    });
    let all = Piece {
        positions: 0..ranks,
        blocks: 0..ranks,
    };
    fold.halving(ranks, position)
        .chain(back.into_iter().flatten())
        .chain(fold.fold_out(position, all))
}
