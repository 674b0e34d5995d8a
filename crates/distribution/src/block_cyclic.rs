//! Deals blocks of items to the ranks round-robin. A formula gives the owner of an item, so a million ranks need no table.

use std::ops::Range;

/// Block b belongs to rank b mod p; the last block may be shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockCyclic {
    pub(crate) items: u64,
    pub(crate) ranks: usize,
    pub(crate) block_items: u64,
}

impl BlockCyclic {
    fn blocks_count(&self) -> u64 {
        self.items.div_ceil(self.block_items)
    }

    fn block(&self, number: u64) -> Range<u64> {
        let start = number * self.block_items;
        start..start.saturating_add(self.block_items).min(self.items)
    }

    pub(crate) fn blocks(&self, rank: usize) -> impl Iterator<Item = Range<u64>> {
        (rank as u64..self.blocks_count())
            .step_by(self.ranks)
            .map(|number| self.block(number))
    }

    /// The number of blocks that a rank owns.
    pub(crate) fn blocks_of(&self, rank: usize) -> u64 {
        assert!(rank < self.ranks, "rank {rank} >= p = {}", self.ranks);
        let from_own_first_on = self.blocks_count().saturating_sub(rank as u64);
        from_own_first_on.div_ceil(self.ranks as u64)
    }

    pub(crate) fn count(&self, rank: usize) -> u64 {
        let Some(full_blocks) = self.blocks_of(rank).checked_sub(1) else {
            return 0;
        };
        // Only the very last block may be shorter, so all of a rank's blocks are full, except perhaps its last one.
        let last = self.block(rank as u64 + full_blocks * self.ranks as u64);
        full_blocks * self.block_items + (last.end - last.start)
    }

    /// The items of the ranks at `positions`: one range for each round in which blocks are dealt.
    pub(crate) fn union(&self, positions: Range<usize>) -> impl Iterator<Item = Range<u64>> {
        let blocks_count = self.blocks_count();
        let ranks_count = positions.len() as u64;
        let firsts = if positions.is_empty() {
            0..0
        } else {
            positions.start as u64..blocks_count
        };
        firsts.step_by(self.ranks).map(move |first| {
            let last = first.saturating_add(ranks_count - 1).min(blocks_count - 1);
            self.block(first).start..self.block(last).end
        })
    }
}
