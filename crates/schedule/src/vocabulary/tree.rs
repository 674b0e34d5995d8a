//! Trees over positions, numbered in pre-order: every subtree is a contiguous range that begins with its root.
//!
//! A node receives from its first child, then from its second (paper 5).
//!
//! ```text
//! fibonacci, p = 7 (F_3)      round 1     round 2     round 3
//!     0                       1 ◄─ 2      0 ◄─ 1      0 ◄─ 3
//!     ├─ 1 ── 2               3 ◄─ 4      3 ◄─ 5
//!     └─ 3                    5 ◄─ 6
//!        ├─ 4
//!        └─ 5 ── 6
//! ```
//!
//! A parent receives one message per round. In a Fibonacci tree the smaller subtree is reduced a round before the larger one, so
//! no position waits. Its p - 1 messages take i rounds, where i is the least number with fib(i + 3) > p. No other tree with two
//! children per node takes fewer. In a binary tree, two equal subtrees take two rounds per level, at most 2 floor(log2 p) in all.

use std::ops::Range;

/// How the nodes below a root are divided between its two children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// In two halves.
    Binary,
    /// As in a Fibonacci tree, where the larger subtree takes one round more than the smaller.
    Fibonacci,
    /// All nodes go to one child, which makes the tree a chain.
    Linear,
}

impl Shape {
    /// The sizes of the first and the second child's subtrees in a tree of `size` nodes.
    fn children(self, size: usize) -> [usize; 2] {
        let below = size - 1;
        match self {
            Shape::Binary => [below / 2, below.div_ceil(2)],
            Shape::Fibonacci => {
                // |F_-1| = 0, |F_0| = 1, |F_i| = 1 + |F_(i-1)| + |F_(i-2)|, up to the least i with |F_i| >= `size`.
                let (mut smaller, mut larger) = (0, 0);
                while 1 + smaller + larger < size {
                    (smaller, larger) = (larger, 1 + smaller + larger);
                }
                let first = smaller.min(below);
                [first, below - first]
            }
            Shape::Linear => [below, 0],
        }
    }
}

/// A node of a tree: its parent, subtree, depth and children. All node numbers count from the root, which is node 0.
pub(crate) struct Place {
    pub(crate) parent: Option<usize>,
    /// The nodes of the subtree, this node included.
    pub(crate) own: Range<usize>,
    /// The number of links to the root.
    pub(crate) depth: usize,
    children: [Range<usize>; 2],
}

impl Place {
    /// Goes down from the root of a tree of `size` nodes to `node`.
    pub(crate) fn find(shape: Shape, size: usize, node: usize) -> Self {
        let (mut own, mut parent, mut depth) = (0..size, None, 0);
        if shape == Shape::Linear {
            (own, parent, depth) = (node..size, node.checked_sub(1), node);
        }
        loop {
            let [first, _] = shape.children(own.len());
            let middle = own.start + 1 + first;
            let children = [own.start + 1..middle, middle..own.end];
            if own.start == node {
                return Self {
                    parent,
                    own,
                    depth,
                    children,
                };
            }
            (parent, depth) = (Some(own.start), depth + 1);
            let [first, second] = children;
            own = if first.contains(&node) { first } else { second };
        }
    }

    /// The subtree of each child; the child itself comes first.
    pub(crate) fn children(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + use<> {
        let children = self.children.clone().into_iter();
        children.filter(|child| !child.is_empty())
    }
}
