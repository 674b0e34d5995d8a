//! A reduce for long rows: a reduce-scatter by recursive halving, then a binomial gather of the blocks.
//!
//! ```text
//! p = 4, root 0              0      1      2      3
//! halving, nearest first     0,2    1,3    0,2    1,3     blocks, reduced over two positions
//!                            0      1      2      3       reduced over all
//! gather, farthest first     0,2    1,3
//!                            0-3
//! ```
//!
//! With k = floor(log2 p) and q = p - 2^k, the reduce takes 2k rounds, plus 1 if q > 0, and k 2^k + 2^k - 1 + q messages. If the
//! root's left neighbour acts for the root ([`Fold`]), sending the row to the root takes one more round and message.

use crate::vocabulary::{Fold, Piece, Step, Transfer};

/// The steps of a reduce to `root`.
pub(crate) fn reduce(
    ranks: usize,
    root: usize,
    position: usize,
) -> impl DoubleEndedIterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    let root_actor = fold.virtual_rank(root);
    let gather = fold.actor(position).map(|own| {
        // The virtual rank relative to the root's actor, so that the farthest virtual ranks send first.
        let turned = own ^ root_actor;
        (0..fold.rounds).rev().filter_map(move |round| {
            if turned >> round > 1 {
                return None;
            }
            let peer = fold.start(own ^ 1 << round);
            Some(if turned >> round == 1 {
                Step::send(Transfer::new(peer, fold.gathered(ranks, own, round)))
            } else {
                let pieces = fold.gathered(ranks, own ^ 1 << round, round);
                Step::receive(Transfer::new(peer, pieces))
            })
        })
    });
    let all = [Piece::reduced(ranks, 0..ranks)];
    let is_passed_on = fold.actor(root).is_none();
    let end = if is_passed_on && position == root {
        Some(Step::receive(Transfer::new(root - 1, all)))
    } else if is_passed_on && position + 1 == root {
        Some(Step::send(Transfer::new(root, all)))
    } else {
        None
    };
    fold.halving(ranks, position)
        .chain(gather.into_iter().flatten())
        .chain(end)
}
