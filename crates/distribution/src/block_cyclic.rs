//! Blocks of items, given to the ranks in turn: a rule, so that a million ranks need no table.

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

    pub(crate) fn count(&self, rank: usize) -> u64 {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        let (rank, ranks) = (rank as u64, self.ranks as u64);
        let blocks_count = self.blocks_count();
        if blocks_count <= rank {
            return 0;
        }
        let full_blocks = (blocks_count - 1 - rank) / ranks;
        // All blocks of the rank are whole but its last one, which may be the last of all blocks.
        let last = self.block(rank + full_blocks * ranks);
        full_blocks * self.block_items + (last.end - last.start)
    }

    pub(crate) fn union(&self, positions: Range<usize>) -> Vec<Range<u64>> {
        let (first, ranks_count) = (positions.start as u64, positions.len() as u64);
        let rounds = self.blocks_count().div_ceil(self.ranks as u64);
        let of_round = |round: u64| {
            let number = round * self.ranks as u64 + first;
            let end = (number + ranks_count).min(self.blocks_count());
            if number >= end {
                return 0..0;
            }
            self.block(number).start..self.block(end - 1).end
        };
        (0..rounds)
            .map(of_round)
            .filter(|range| !range.is_empty())
            .collect()
    }
}
