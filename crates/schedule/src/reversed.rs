//! A reduction run backwards is a broadcast.

use crate::model::{Piece, Step, Transfer};

/// The steps of a reduction from the last to the first, sends for receives: the root's row goes out where the reduction came in.
/// The blocks are turned round, too, so that block 0 goes first.
pub(crate) fn reversed(
    steps: impl DoubleEndedIterator<Item = Step>,
    ranks: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> {
    let turned = move |transfers: Vec<Transfer>| -> Vec<Transfer> {
        let whole = |mut transfer: Transfer| {
            for piece in &mut transfer.pieces {
                *piece = Piece {
                    ranks: 0..ranks,
                    blocks: blocks - piece.blocks.end..blocks - piece.blocks.start,
                };
            }
            // What was in two ranges of positions is one whole.
            transfer.pieces.dedup();
            transfer
        };
        transfers.into_iter().map(whole).collect()
    };
    steps.rev().map(move |step| Step {
        sends: turned(step.receives),
        receives: turned(step.sends),
    })
}
