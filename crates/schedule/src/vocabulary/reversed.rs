//! Runs a reduction backwards, which is a broadcast.

use super::piece::Piece;
use super::step::Step;

/// The steps of a reduction in reverse order, with sends and receives exchanged: the root's row travels the reduction's
/// links backwards. In a tree, the child with the deepest subtree is thus served first.
///
/// Block numbers are reversed, too, so that block 0 still goes first.
pub(crate) fn reversed(
    steps: impl DoubleEndedIterator<Item = Step>,
    ranks: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> {
    steps.rev().map(move |step| {
        Step::new(step.receives, step.sends).map(|mut transfer| {
            for piece in &mut transfer.pieces {
                let reversed = blocks - piece.blocks.end..blocks - piece.blocks.start;
                *piece = Piece::reduced(ranks, reversed);
            }
            // Two ranges of a partial reduction become the same whole row, which is sent once.
            transfer.pieces.dedup();
            transfer
        })
    })
}
