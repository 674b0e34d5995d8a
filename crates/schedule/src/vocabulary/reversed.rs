//! A reduction run backwards is a broadcast.

use super::piece::Piece;
use super::step::{Step, Transfer};

/// The steps of a reduction from the last to the first, with sends and receives exchanged: the root's row travels the
/// reduction's links backwards.
///
/// Block numbers are reversed, too, so that block 0 still goes first.
pub(crate) fn reversed(
    steps: impl DoubleEndedIterator<Item = Step>,
    ranks: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> {
    let turned = move |transfers: Vec<Transfer>| -> Vec<Transfer> {
        let whole = |mut transfer: Transfer| {
            for piece in &mut transfer.pieces {
                *piece = Piece {
                    positions: 0..ranks,
                    blocks: blocks - piece.blocks.end..blocks - piece.blocks.start,
                };
            }
            // Two ranges of a partial reduction become the same whole row, which is sent once.
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
