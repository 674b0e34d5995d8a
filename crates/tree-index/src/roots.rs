//! The two lists of subtrees that a contiguous range of items gives, in O(log N) steps each.
//!
//! Both walk from subtree to subtree, left to right; they differ in how high a subtree may reach.
//! An outbound root reaches as high as its x allows, past the end of the range too, because
//! Algorithm 1 receives what is missing. A fragment's node stays inside the range, because a
//! fragment is computed from the range's items alone.

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
        // At the right edge every span is cut off at N, so nothing limits the height but x.
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
        // Cut off at N, this is largest_subtree_child_index(x) + 1, the first x that is not below
        // the node; all that are below have their parent at x or behind it.
        self.rest.start = self.tree.span(node).end;
        Some(node)
    }
}

impl FusedIterator for SubtreeRoots {}
impl FusedIterator for OutboundRoots {}

fn checked(tree: Tree, range: Range<u64>) -> Range<u64> {
    assert!(
        range.end <= tree.items(),
        "{range:?} ends behind the last of {} items",
        tree.items()
    );
    range
}
