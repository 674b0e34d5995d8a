//! What a message carries: the reduction of neighbouring positions.

use std::fmt;
use std::ops::Range;

/// The reduction of a range of positions, in a range of the row's column blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The positions whose items are reduced.
    pub positions: Range<usize>,
    /// The column blocks that the piece contains.
    pub blocks: Range<usize>,
}

impl Piece {
    /// A piece of an undivided row, which is one block.
    pub(crate) fn whole(positions: Range<usize>) -> Self {
        Self {
            positions,
            blocks: 0..1,
        }
    }

    /// The reduction of all positions, in these blocks.
    pub(crate) fn reduced(ranks: usize, blocks: Range<usize>) -> Self {
        Self {
            positions: 0..ranks,
            blocks,
        }
    }

    /// The pieces of `length` positions from `start` on, where position 0 follows position p - 1: one range, or two if they
    /// wrap around.
    ///
    /// `start` may be p or more. For `length` = 0 there are no pieces.
    pub(crate) fn cyclic(
        ranks: usize,
        start: usize,
        length: usize,
        blocks: Range<usize>,
    ) -> Vec<Self> {
        let start = start % ranks;
        let end = start + length;
        let piece = |positions: Range<usize>| Self {
            positions,
            blocks: blocks.clone(),
        };
        match (length, end) {
            (0, _) => Vec::new(),
            (_, end) if end > ranks => vec![piece(0..end - ranks), piece(start..ranks)],
            _ => vec![piece(start..end)],
        }
    }
}

/// Shows the positions and the blocks. Omits the blocks if they are `0..1`, as in an undivided row.
impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.positions)?;
        if self.blocks != (0..1) {
            write!(f, " in blocks {:?}", self.blocks)?;
        }
        Ok(())
    }
}
