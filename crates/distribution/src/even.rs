//! Computes even shares, which differ by at most one item. A division finds the owner of an item.

/// ⌊N/p⌋ items for each rank, and one item more for N mod p ranks, the *longer* ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Even {
    share_items: u64,
    longer_ranks: u64,
    shorter_ranks: u64,
}

impl Even {
    /// # Panics
    ///
    /// If there are no ranks.
    pub(crate) fn new(items: u64, ranks: u64) -> Self {
        Self {
            share_items: items / ranks,
            longer_ranks: items % ranks,
            shorter_ranks: ranks - items % ranks,
        }
    }

    /// The start of a rank if the longer ranks come first (eq. 1.3). `rank` may be p.
    pub(crate) fn lower_start(self, rank: u64) -> u64 {
        rank * self.share_items + rank.min(self.longer_ranks)
    }

    /// The start of a rank if the longer ranks come last (eq. 1.4). `rank` may be p.
    pub(crate) fn upper_start(self, rank: u64) -> u64 {
        rank * self.share_items + rank.saturating_sub(self.shorter_ranks)
    }

    /// The owner of `item` if the longer ranks come first.
    pub(crate) fn lower_rank_of(self, item: u64) -> u64 {
        let first_shorter = self.lower_start(self.longer_ranks);
        if item < first_shorter {
            item / (self.share_items + 1)
        } else {
            self.longer_ranks + (item - first_shorter) / self.share_items
        }
    }

    /// The owner of `item` if the longer ranks come last.
    pub(crate) fn upper_rank_of(self, item: u64) -> u64 {
        let first_longer = self.upper_start(self.shorter_ranks);
        if item < first_longer {
            item / self.share_items
        } else {
            self.shorter_ranks + (item - first_longer) / (self.share_items + 1)
        }
    }
}
