//! The two trees of Sanders, Speck and Träff (2009).
//!
//! ```text
//! p = 6     first tree, even blocks         second tree, odd blocks
//!               3                                   2
//!           1       5                           4       0
//!         0   2   4                           5   3   1
//! ```
//!
//! Both trees are numbered in order, so that every subtree is a contiguous range, and every position that has children in the one is
//! a leaf of the other: the second is the first one mirrored for an even p, and shifted by one, cyclically, for an odd
//! one. So every position sends and receives all the time. Two steps a pair of blocks: first what leaves send, then what parents
//! send; a node handles a pair the later the nearer it is to the root, so that all are at it at once. At most 2 ceil(log2 p) - 1 + 2(ceil(B/2) - 1) rounds for a reduce, as many for a broadcast;
//! 2B(p - 1) messages with both.

use std::ops::Range;

use crate::cyclic;
use crate::model::{Step, Transfer};
use crate::reversed::reversed;

/// A node of the in-order tree of p positions, whose left subtrees are full.
struct Node {
    parent: Option<usize>,
    own: Range<usize>,
    children: Vec<(usize, Range<usize>)>,
    /// The links between it and the root.
    depth: usize,
}

/// The root of an in-order tree over a range: full on the left.
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

/// One of the two trees: how its nodes lie among the positions.
#[derive(Clone, Copy)]
enum Tree {
    AsItIs,
    Mirrored,
    Shifted,
}

impl Tree {
    /// The node of a position; the same way leads back, but for the shift.
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

    /// A message with the reduction over some nodes.
    fn transfer(self, ranks: usize, peer: usize, nodes: &Range<usize>, block: usize) -> Transfer {
        let first = match self {
            Tree::Mirrored => self.position_of(ranks, nodes.end - 1),
            Tree::AsItIs | Tree::Shifted => self.position_of(ranks, nodes.start),
        };
        let pieces = cyclic::pieces(ranks, first, nodes.len(), block..block + 1);
        Transfer::new(self.position_of(ranks, peer), pieces)
    }
}

/// The steps of a position that leave every block on the root of its tree.
fn up(ranks: usize, rank: usize, blocks: usize) -> impl DoubleEndedIterator<Item = Step> + use<> {
    let second = if ranks.is_multiple_of(2) {
        Tree::Mirrored
    } else {
        Tree::Shifted
    };
    let trees = [Tree::AsItIs, second];
    let nodes = trees.map(|tree| Node::find(ranks, tree.node_of(ranks, rank)));
    let (pairs, height) = (blocks.div_ceil(2), ranks.ilog2() as usize);
    let steps = (0..2 * (pairs + height)).map(move |number| {
        // First what leaves send, then what other nodes send.
        let (time, is_leaf_s) = (number / 2, number.is_multiple_of(2));
        let mut step = Step::default();
        for (parity, (tree, node)) in trees.iter().zip(&nodes).enumerate() {
            // A node of depth d sends a pair h - d behind the deepest leaves: when its parent is ready for it.
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
    steps.filter(|step| !step.sends.is_empty() || !step.receives.is_empty())
}

/// The reduction of all to all: up both trees, and down again.
pub(crate) fn allreduce(
    ranks: usize,
    rank: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    // Blocks go down the trees that they came up: an even number of them, turned round, would change trees.
    let exchanged = usize::from(blocks.is_multiple_of(2));
    let down = reversed(up(ranks, rank, blocks), ranks, blocks).map(move |mut step| {
        let transfers = step.sends.iter_mut().chain(&mut step.receives);
        for piece in transfers.flat_map(|transfer| &mut transfer.pieces) {
            let block = piece.blocks.start ^ exchanged;
            piece.blocks = block..block + 1;
        }
        step
    });
    up(ranks, rank, blocks).chain(down)
}
