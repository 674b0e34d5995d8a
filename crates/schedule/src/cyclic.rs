//! Ranges of positions that go round: behind p - 1 comes 0.

use std::ops::Range;

use crate::model::Piece;

/// The pieces of `length` positions from `start` on, cyclically, in some blocks: one range, or the beginning and the end.
///
/// `start` may lie a turn ahead; of no positions there is no piece.
pub(crate) fn pieces(
    ranks: usize,
    start: usize,
    length: usize,
    blocks: Range<usize>,
) -> Vec<Piece> {
    let start = start % ranks;
    let end = start + length;
    let piece = |ranks: Range<usize>| Piece {
        ranks,
        blocks: blocks.clone(),
    };
    match (length, end) {
        (0, _) => Vec::new(),
        (_, end) if end > ranks => vec![piece(0..end - ranks), piece(start..ranks)],
        _ => vec![piece(start..end)],
    }
}
