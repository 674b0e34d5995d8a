//! The two trees of Sanders, Speck and Träff (2009).
//!
//! ```text
//! p = 6     first tree, even blocks         second tree, odd blocks
//!               3                                   2
//!           1       5                           4       0
//!         0   2   4                           5   3   1
//! ```
//!
//! The nodes of both trees have in-order numbers, so every subtree is a contiguous range. The second tree is the first tree,
//! mirrored if p is even and shifted cyclically by one if p is odd. A position that has children in one tree is therefore a leaf of
//! the other, and every position sends and receives all the time.
//!
//! A pair of blocks takes two steps: leaves send in the first step, all other nodes in the second. The nearer a node is to the
//! root, the later it handles a pair. A reduce of B blocks takes at most 2 ceil(log2 p) - 1 + 2(ceil(B/2) - 1) rounds, as does a
//! broadcast; both together take 2B(p - 1) messages.

use std::ops::Range;

use crate::vocabulary::{Piece, Step, Transfer, reversed};

/// A node of the in-order tree of p positions, whose left subtrees are full.
struct Node {
    parent: Option<usize>,
    own: Range<usize>,
    children: Vec<(usize, Range<usize>)>,
    /// The number of links to the root.
    depth: usize,
}

/// The root of an in-order tree over `range`, whose left subtrees are full.
fn root(range: &Range<usize>) -> usize {
    range.start + (1 << range.len().ilog2()) - 1
}

impl Node {
    fn find(ranks: usize, position: usize) -> Self {
        let (mut own, mut parent, mut depth) = (0..ranks, None, 0);
        loop {
            let middle = root(&own);
            let (left, right) = (own.start..middle, middle + 1..own.end);
            if middle == position {
                let below = [left, right].into_iter().filter(|below| !below.is_empty());
                let children = below.map(|below| (root(&below), below)).collect();
                return Self {
                    parent,
                    own,
                    children,
                    depth,
                };
            }
            (parent, depth) = (Some(middle), depth + 1);
            own = if position < middle { left } else { right };
        }
    }
}

/// One of the two trees, as a mapping of positions to nodes.
#[derive(Clone, Copy)]
enum Tree {
    AsItIs,
    Mirrored,
    Shifted,
}

impl Tree {
    fn node_of(self, ranks: usize, position: usize) -> usize {
        match self {
            Tree::AsItIs => position,
            Tree::Mirrored => ranks - 1 - position,
            Tree::Shifted => (position + 1) % ranks,
        }
    }

    fn position_of(self, ranks: usize, node: usize) -> usize {
        match self {
            Tree::AsItIs => node,
            Tree::Mirrored => ranks - 1 - node,
            Tree::Shifted => (node + ranks - 1) % ranks,
        }
    }

    /// A message with the reduction over a range of nodes, to or from the node `peer`.
    fn transfer(self, ranks: usize, peer: usize, nodes: &Range<usize>, block: usize) -> Transfer {
        let first = match self {
            Tree::Mirrored => self.position_of(ranks, nodes.end - 1),
            Tree::AsItIs | Tree::Shifted => self.position_of(ranks, nodes.start),
        };
        let pieces = Piece::cyclic(ranks, first, nodes.len(), block..block + 1);
        Transfer::new(self.position_of(ranks, peer), pieces)
    }
}

/// A position's steps of the reduction, after which every block is at the root of its tree.
fn up(
    ranks: usize,
    position: usize,
    blocks: usize,
) -> impl DoubleEndedIterator<Item = Step> + use<> {
    let second = if ranks.is_multiple_of(2) {
        Tree::Mirrored
    } else {
        Tree::Shifted
    };
    let trees = [Tree::AsItIs, second];
    let nodes = trees.map(|tree| Node::find(ranks, tree.node_of(ranks, position)));
    let (pairs, height) = (blocks.div_ceil(2), ranks.ilog2() as usize);
    let steps = (0..2 * (pairs + height)).map(move |number| {
        // Leaves send in even steps, all other nodes in odd steps.
        let (time, is_leaf_s) = (number / 2, number.is_multiple_of(2));
        let mut step = Step::default();
        for (parity, (tree, node)) in trees.iter().zip(&nodes).enumerate() {
            // A node of depth d in a tree of height h sends a pair of blocks h - d pairs of steps after the deepest leaves do.
            let block_from = |depth: usize| {
                let behind = height - depth - usize::from(!is_leaf_s);
                let pair = time.checked_sub(behind)?;
                (2 * pair + parity < blocks).then_some(2 * pair + parity)
            };
            if let Some(parent) = node.parent
                && node.children.is_empty() == is_leaf_s
                && let Some(block) = block_from(node.depth)
            {
                step.sends
                    .push(tree.transfer(ranks, parent, &node.own, block));
            }
            let children = node.children.iter();
            for (child, below) in children.filter(|(_, below)| (below.len() == 1) == is_leaf_s) {
                if let Some(block) = block_from(node.depth + 1) {
                    step.receives
                        .push(tree.transfer(ranks, *child, below, block));
                }
            }
        }
        step
    });
    steps.filter(|step| !step.is_empty())
}

/// The steps of an allreduce: up both trees, and down again.
pub(crate) fn allreduce(
    ranks: usize,
    position: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    // A block must go down the tree that it came up. Reversing an even number of blocks swaps the trees; `exchanged` swaps them back.
    let exchanged = usize::from(blocks.is_multiple_of(2));
    let down = reversed(up(ranks, position, blocks), ranks, blocks).map(move |step| {
        step.in_blocks(|blocks| {
            let block = blocks.start ^ exchanged;
            block..block + 1
        })
    });
    up(ranks, position, blocks).chain(down)
}
