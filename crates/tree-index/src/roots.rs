//! Two lists of subtrees for a contiguous range of items, in O(log N) steps each.
//!
//! Both iterators go from subtree to subtree, left to right. They differ in the height of the
//! subtrees. An outbound root is the highest node at its x. Its subtree may extend past the end of
//! the range, because Algorithm 1 receives the missing values. A node of a fragment lies inside the
//! range, because a fragment is computed from the items of the range only.

use core::iter::FusedIterator;
use core::ops::Range;

use crate::{Node, Tree};

/// Iterator over a range's fragment, made by [`Tree::subtree_roots`].
#[derive(Clone, Debug)]
pub struct SubtreeRoots {
    tree: Tree,
    rest: Range<u64>,
}

/// Iterator over a range's outbound subtree roots, made by [`Tree::outbound_roots`].
#[derive(Clone, Debug)]
pub struct OutboundRoots {
    tree: Tree,
    rest: Range<u64>,
}

impl SubtreeRoots {
    pub(crate) fn new(tree: Tree, range: Range<u64>) -> Self {
        Self {
            tree,
            rest: checked(tree, range),
        }
    }
}

impl OutboundRoots {
    pub(crate) fn new(tree: Tree, range: Range<u64>) -> Self {
        Self {
            tree,
            rest: checked(tree, range),
        }
    }
}

impl Iterator for SubtreeRoots {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        let Range { start: x, end } = self.rest;
        if self.rest.is_empty() {
            return None;
        }
        // If the range ends at N, spans are cut off there, so only x limits the height.
        let y_max = self.tree.max_y(x);
        let y = if end == self.tree.items() {
            y_max
        } else {
            y_max.min((end - x).ilog2())
        };
        let node = Node { x, y };
        self.rest.start = self.tree.span(node).end;
        Some(node)
    }
}

impl Iterator for OutboundRoots {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        if self.rest.is_empty() {
            return None;
        }
        let x = self.rest.start;
        let y = self.tree.max_y(x);
        let node = Node { x, y };
        // This is min(N, largest_subtree_child_index(x) + 1), the first item that is not below the
        // node. The parents of all items below the node are at x or after it.
        self.rest.start = self.tree.span(node).end;
        Some(node)
    }
}

impl FusedIterator for SubtreeRoots {}
impl FusedIterator for OutboundRoots {}

fn checked(tree: Tree, range: Range<u64>) -> Range<u64> {
    assert!(
        range.end <= tree.items(),
        "{range:?} ends after the last of {} items",
        tree.items()
    );
    range
}
