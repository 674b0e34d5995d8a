//! A reduction run backwards is a broadcast.

use crate::model::{Piece, Step, Transfer};

/// The steps of a reduction from the last to the first, sends for receives: the root's row goes out where the reduction came in.
/// The blocks are turned round, too, so that block 0 goes first.
pub(crate) fn reversed(steps: Vec<Step>, ranks: usize, blocks: usize) -> Vec<Step> {
    let turned = |transfers: Vec<Transfer>| -> Vec<Transfer> {
        let whole = |transfer: Transfer| {
            let mut pieces: Vec<Piece> = transfer
                .pieces
                .into_iter()
                .map(|piece| Piece {
                    ranks: 0..ranks,
                    blocks: blocks - piece.blocks.end..blocks - piece.blocks.start,
                })
                .collect();
            // What was in two ranges of positions is one whole.
            pieces.dedup();
            Transfer::new(transfer.peer, pieces)
        };
        transfers.into_iter().map(whole).collect()
    };
    let back = |step: Step| Step {
        sends: turned(step.receives),
        receives: turned(step.sends),
    };
    steps.into_iter().rev().map(back).collect()
}
