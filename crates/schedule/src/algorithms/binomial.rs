//! The binomial tree (paper 5's B_i; paper 4's spanning tree).
//!
//! ```text
//! p = 8, root 0     step 1       step 2       step 3
//!                   0 ◄─ 1       0 ◄─── 2     0 ◄─────── 4
//!                   2 ◄─ 3
//!                   4 ◄─ 5       4 ◄─── 6
//!                   6 ◄─ 7
//! ```
//!
//! A reduce and a broadcast, with any root, take ceil(log2 p) rounds and p - 1 messages each. Positions are counted cyclically from
//! the root. If a subtree wraps around from position p - 1 to 0, its messages carry two ranges.

use std::ops::Range;

use crate::vocabulary::{Piece, Step, Transfer};

/// A position as a node of the tree.
#[derive(Clone, Copy)]
struct BinomialNode {
    ranks: usize,
    root: usize,
    /// The position, counted cyclically from the root.
    relative: usize,
}

impl BinomialNode {
    fn new(ranks: usize, root: usize, position: usize) -> Self {
        Self {
            ranks,
            root,
            relative: (position + ranks - root) % ranks,
        }
    }

    /// The position `relative` places after the root.
    fn at(self, relative: usize) -> usize {
        (relative + self.root) % self.ranks
    }

    fn parent(self) -> Option<usize> {
        let relative = self.relative;
        (relative > 0).then(|| self.at(relative & (relative - 1)))
    }

    /// The children, counted from the root, in the order in which a reduce receives from them. Child k is 2^k positions after this one.
    fn children(self) -> impl DoubleEndedIterator<Item = usize> {
        let steps_count = match self.relative {
            0 => usize::BITS - 1,
            relative => relative.trailing_zeros(),
        };
        (0..steps_count)
            .map(move |k| self.relative + (1 << k))
            .filter(move |&child| child < self.ranks)
    }

    /// The positions of the subtree of `relative`, counted from the root.
    fn span(self, relative: usize) -> Range<usize> {
        let size = match relative {
            0 => self.ranks,
            _ => 1 << relative.trailing_zeros(),
        };
        relative..(relative + size).min(self.ranks)
    }

    /// The reduction of the subtree of `relative`: one range, or two if it wraps around.
    fn pieces(self, relative: usize) -> Vec<Piece> {
        let span = self.span(relative);
        Piece::cyclic(self.ranks, span.start + self.root, span.len(), 0..1)
    }
}

/// The steps of a reduce to `root`.
pub(crate) fn reduce(
    ranks: usize,
    root: usize,
    position: usize,
) -> impl DoubleEndedIterator<Item = Step> + use<> {
    let node = BinomialNode::new(ranks, root, position);
    let receives = node
        .children()
        .map(move |child| Step::receive(Transfer::new(node.at(child), node.pieces(child))));
    let send = node
        .parent()
        .map(|parent| Step::send(Transfer::new(parent, node.pieces(node.relative))));
    receives.chain(send)
}

/// The steps by which position 0 sends each position its block; a child gets the blocks of its whole subtree.
pub(crate) fn scatter(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    let node = BinomialNode::new(ranks, 0, position);
    let blocks_below =
        move |peer, child| Transfer::new(peer, [Piece::reduced(ranks, node.span(child))]);
    let receive = node
        .parent()
        .map(move |parent| Step::receive(blocks_below(parent, position)));
    let sends = node
        .children()
        .rev()
        .map(move |child| Step::send(blocks_below(child, child)));
    receive.into_iter().chain(sends)
}
