//! Complete binary and Fibonacci trees (paper 5).
//!
//! Positions are numbered in pre-order, so that every subtree is a contiguous range that begins with its root; a node
//! receives from its first child, then from its second.
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
//! A parent can take one message a round. In a Fibonacci tree the smaller child is ready a round before the larger one, so
//! nobody waits: p - 1 messages in the least i rounds with fib(i + 3) > p, fewer than any tree of two children. The
//! binary tree's children are of the same size, and take two rounds a level: at most 2 floor(log2 p).

use std::ops::Range;

use crate::cyclic;
use crate::model::{Piece, Step, Transfer};

/// How a subtree is shared out to its root's two children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Two halves.
    Binary,
    /// The larger child of a full tree is one round deeper than the smaller.
    Fibonacci,
    /// A chain: one child.
    Linear,
}

impl Shape {
    /// The sizes of the first and the second child's subtrees in a tree of `size` nodes.
    fn children(self, size: usize) -> [usize; 2] {
        let below = size - 1;
        match self {
            Shape::Binary => [below / 2, below.div_ceil(2)],
            Shape::Fibonacci => {
                // |F_-1| = 0, |F_0| = 1, |F_i| = 1 + |F_(i-1)| + |F_(i-2)|, up to the least that holds all.
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

/// A position's place in a tree.
pub(crate) struct Place {
    pub(crate) parent: Option<usize>,
    /// What is below it, itself included; as all here, counted from the root.
    pub(crate) own: Range<usize>,
    /// The links between it and the root.
    pub(crate) depth: usize,
    children: [Range<usize>; 2],
}

impl Place {
    /// Goes down from the root to the position.
    pub(crate) fn find(shape: Shape, ranks: usize, turned: usize) -> Self {
        let (mut own, mut parent, mut depth) = (0..ranks, None, 0);
        if shape == Shape::Linear {
            (own, parent, depth) = (turned..ranks, turned.checked_sub(1), turned);
        }
        loop {
            let [first, _] = shape.children(own.len());
            let middle = own.start + 1 + first;
            let children = [own.start + 1..middle, middle..own.end];
            if own.start == turned {
                return Self {
                    parent,
                    own,
                    depth,
                    children,
                };
            }
            (parent, depth) = (Some(own.start), depth + 1);
            let [first, second] = children;
            own = if first.contains(&turned) {
                first
            } else {
                second
            };
        }
    }

    /// What is below each child; the child itself comes first.
    pub(crate) fn children(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + use<> {
        let children = self.children.clone().into_iter();
        children.filter(|child| !child.is_empty())
    }
}

/// The reduction of all to the root.
pub(crate) fn reduce(
    shape: Shape,
    ranks: usize,
    root: usize,
    rank: usize,
) -> impl Iterator<Item = Step> + use<> {
    let place = Place::find(shape, ranks, (rank + ranks - root) % ranks);
    let pieces =
        move |below: &Range<usize>| cyclic::pieces(ranks, below.start + root, below.len(), 0..1);
    let at = move |turned: usize| (turned + root) % ranks;
    let send = place
        .parent
        .map(|parent| Step::send(Transfer::new(at(parent), pieces(&place.own))));
    let receives = place
        .children()
        .map(move |child| Step::receive(Transfer::new(at(child.start), pieces(&child))));
    receives.chain(send)
}

/// The root's piece to all, the second child first: it has the longer way to go on.
pub(crate) fn broadcast(
    shape: Shape,
    ranks: usize,
    root: usize,
    rank: usize,
) -> impl Iterator<Item = Step> + use<> {
    let place = Place::find(shape, ranks, (rank + ranks - root) % ranks);
    let all = move |turned: usize| Transfer::new((turned + root) % ranks, [Piece::whole(0..ranks)]);
    let receive = place.parent.map(|parent| Step::receive(all(parent)));
    let sends = place
        .children()
        .rev()
        .map(move |child| Step::send(all(child.start)));
    receive.into_iter().chain(sends)
}
