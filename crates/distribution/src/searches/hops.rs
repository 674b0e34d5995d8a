//! Counts the *hops* of a boundary, which are its cost. Boundaries with the least sum of hops need the fewest messages.
//!
//! The value of item x > 0 is sent if and only if a boundary is in (x - lowbit(x), x]; x is then *cut*. Boundary b therefore cuts
//! those of b, f(b), f(f(b)), … that are below N, where f(x) = x + lowbit(x). The number m of messages is the number of cut items.
//!
//! Let M be the largest share, and 2^L <= M < B = 2^(L+1). Every multiple x of B below N is cut, because lowbit(x) > M. Every
//! *block* of B items that begins at such a multiple has a boundary inside, because B > M. Let the *hops* h(b) of a boundary be
//! the number of items b, f(b), … before the next multiple of B and before N. Then
//!
//! ```text
//! m <= ⌊(N-1)/B⌋ + Σ h(b),    and    min m = ⌊(N-1)/B⌋ + min Σ h(b).
//! ```
//!
//! The inequality holds because an item that several boundaries cut counts once in m. For the equation, take any boundaries and
//! move some of them, so that m does not grow and the right side becomes m. Boundaries in different blocks share no hops. In a
//! whole block with several boundaries, name each boundary by its distance from the block's end. Let a be the first boundary, and
//! z the last. Each hop clears the lowest set bit of a distance.
//!
//! - If a <= M, move z to the block's end, where it costs nothing, and remove all boundaries between the two.
//! - If a > M and z >= 2^L, move a to the block's start, where it costs nothing, and move z to 2^L. Bit L of a is set, so a had
//!   cut the item at distance 2^L.
//! - If a > M and z < 2^L, no item is cut by both, because bit L is set in the hops of a and clear in the hops of z. Remove all
//!   boundaries between the two. But if a - z > M, move a to the block's start and keep one boundary in between, moved to 2^L.
//!
//! The last block has r < B items. If r <= M, move all its boundaries to its start. If r > M and it has several boundaries, move
//! them to its start and to the item 2^L after it. They cut one item inside, and fewer are impossible. After each move, no share
//! exceeds M, there are no more boundaries than before, and the last boundary of a block is no further from the next block.

use tree_index::parent;

/// N items, at most p ranks, and B, the power of two above N/p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub(crate) items: u64,
    pub(crate) ranks: u64,
    /// B = 2^(L+1).
    pub(crate) block_items: u64,
}

impl Blocks {
    /// A lower bound on the messages of any cover: one for each multiple of B, and one for each block that needs a boundary inside.
    pub(crate) fn messages_least(&self, share_items_max: u64) -> u64 {
        self.forced_messages() + self.hops_behind(0, share_items_max)
    }

    /// The number of multiples of B between 0 and N, each of which costs a message.
    pub(crate) fn forced_messages(&self) -> u64 {
        (self.items - 1) >> self.block_items.trailing_zeros()
    }

    /// h(b): the number of items that boundary b > 0 cuts before the next multiple of B.
    pub(crate) fn hops(&self, start: u64) -> u64 {
        let inside = self.block_items - 1;
        if start < self.items & !inside {
            return u64::from((start.wrapping_neg() & inside).count_ones());
        }
        let mut hops = 0;
        let mut x = start;
        while x & inside > 0 && x < self.items {
            hops += 1;
            // x is at most the end of the last block. The addition saturates only if this end is 2^64.
            x = x.saturating_add(x & x.wrapping_neg());
        }
        hops
    }

    /// Computes h(parent(b)) from h(b) without counting bits again. Clearing the lowest set bit of b adds that bit to the distance
    /// from the block's end. The distance then has one set bit fewer for each zero of b directly above the cleared bit.
    pub(crate) fn hops_of_parent(&self, start: u64, hops: u64) -> u64 {
        let inside = self.block_items - 1;
        let parent = parent(start);
        if start >= self.items & !inside {
            return self.hops(parent);
        }
        if parent & inside == 0 {
            return 0;
        }
        hops + 1 - u64::from(parent.trailing_zeros() - start.trailing_zeros())
    }

    /// A lower bound on the hops of boundaries after `start`: one for each block that begins at `start` or after it.
    pub(crate) fn hops_behind(&self, start: u64, share_items_max: u64) -> u64 {
        let shift = self.block_items.trailing_zeros();
        let full_blocks = self.items >> shift;
        let begun = start.saturating_add(self.block_items - 1) >> shift;
        let is_last_cut = self.items & (self.block_items - 1) > share_items_max;
        full_blocks.saturating_sub(begun) + u64::from(is_last_cut && begun <= full_blocks)
    }
}
