//! Lists the outbound roots and the fragment of a contiguous range of items, in O(log N) steps each.
//!
//! Both iterators go from subtree to subtree, left to right, but their subtrees differ in height. An
//! outbound root is the highest node that begins at its x. Its subtree may extend past the end of the
//! range, because the owner receives the missing values in Algorithm 1. A node of a fragment is inside
//! the range, because a fragment is computed from the items of the range only.

use core::iter::FusedIterator;
use core::ops::Range;

use crate::{Node, Tree, parent};

/// Iterator over a range's fragment, returned by [`Tree::subtree_roots`].
#[derive(Clone, Debug)]
pub struct SubtreeRoots {
    tree: Tree,
    rest: Range<u64>,
}

/// Iterator over a range's outbound subtree roots, returned by [`Tree::outbound_roots`].
#[derive(Clone, Debug)]
pub struct OutboundRoots {
    tree: Tree,
    rest: Range<u64>,
}

impl Tree {
    /// The *fragment* of a range: the maximal nodes whose span is inside the range, left to right.
    ///
    /// The values of these nodes are all that the rest of the tree needs from the range. From left to
    /// right the nodes grow, then shrink. There are at most max(1, 2⌈log2 N⌉ - 2) nodes, or
    /// max(1, ⌈log2 N⌉) if the range begins at 0 or ends at N. At the right edge, a node without a
    /// sibling is named by its highest ancestor with the same span, so the fragment of 0..N is the root.
    ///
    /// # Panics
    ///
    /// If the range ends after the last item.
    ///
    /// ```
    /// use tree_index::{Node, Tree};
    ///
    /// let fragment = Tree::new(9).subtree_roots(3..9);
    /// assert!(fragment.eq([Node { x: 3, y: 0 }, Node { x: 4, y: 2 }, Node { x: 8, y: 3 }]));
    /// ```
    #[must_use]
    pub fn subtree_roots(self, range: Range<u64>) -> SubtreeRoots {
        SubtreeRoots {
            tree: self,
            rest: checked(self, range),
        }
    }

    /// The outbound subtree roots of a range: the nodes (x, max_y(x)) that begin in the range and whose
    /// parent begins before `range.start` (thesis, eq. 3.5).
    ///
    /// In Algorithm 1 the owner of the range sends the values of these nodes in this order, each to the
    /// owner of the node's [`parent`]. A range that contains item 0 has one outbound root, the root of
    /// the tree, whose value is the result. The subtrees may extend past the end of the range; other
    /// ranks send the values of the items after the range.
    ///
    /// # Panics
    ///
    /// If the range ends after the last item.
    ///
    /// ```
    /// use tree_index::{Node, Tree};
    ///
    /// let roots = Tree::new(16).outbound_roots(5..11);
    /// assert!(roots.eq([Node { x: 5, y: 0 }, Node { x: 6, y: 1 }, Node { x: 8, y: 3 }]));
    /// ```
    #[must_use]
    pub fn outbound_roots(self, range: Range<u64>) -> OutboundRoots {
        OutboundRoots {
            tree: self,
            rest: checked(self, range),
        }
    }

    /// The PE-intersecting nodes of a range (thesis, chapter 2), in the order of its outbound roots. For an
    /// outbound root (x, max_y(x)) with x > 0, the node is (parent(x), max_y(x) + 1). The root is the
    /// node's right child; the left child is on an earlier rank.
    ///
    /// One value is sent for each node, so the number of nodes over all ranks is the number of messages.
    ///
    /// # Panics
    ///
    /// If the range ends after the last item.
    pub fn intersecting_nodes(self, range: Range<u64>) -> impl Iterator<Item = Node> {
        self.outbound_roots(range)
            .filter(|root| root.x > 0)
            .map(|right| Node {
                x: parent(right.x),
                y: right.y + 1,
            })
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
        // The next start is min(N, largest_subtree_child_index(x) + 1), the first item that is not below
        // the node. No outbound root begins at a skipped item, because its parent begins at x or after x.
        self.rest.start = self.tree.span(node).end;
        Some(node)
    }
}

impl FusedIterator for SubtreeRoots {}
impl FusedIterator for OutboundRoots {}

fn checked(tree: Tree, range: Range<u64>) -> Range<u64> {
    assert!(
        range.end <= tree.items(),
        "range {range:?} ends after the last of {} items",
        tree.items()
    );
    range
}
