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
//! With k = floor(log2 p) and q = p - 2^k, the allreduce takes 2k rounds, plus 2 if q > 0, and 2k 2^k + 2q messages. In the
//! 2k rounds, a position sends less than two rows, for every p.

use crate::vocabulary::{Fold, Piece, Step};

/// The steps of an allreduce.
pub(crate) fn allreduce(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    let gathered = move |sender, _, round| fold.gathered(ranks, sender, round);
    fold.halving(ranks, position)
        .chain(fold.rounds(position, gathered).rev())
        .chain(fold.fold_out(position, |_| Piece::reduced(ranks, 0..ranks)))
}
