//! Defines the tree over N items: which nodes exist, and their children and spans.
//!
//! For N > 2^63 the root has height 64, and its size of 2^64 items does not fit into a `u64`. The size
//! saturates to `u64::MAX`; the span is still exact, because spans are cut off at N.

use core::ops::Range;

/// The subtree of height `y` whose leftmost leaf is item `x`.
///
/// Nodes are ordered by `x`, then by `y`, so the nodes of a fragment are sorted from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The global index of the leftmost leaf, a multiple of 2^`y`.
    pub x: u64,
    /// The height above the leaves, 0 for an item.
    pub y: u32,
}

/// The reduction tree over N items (thesis, chapter 2).
///
/// ```
/// use tree_index::{Node, Tree};
///
/// let tree = Tree::new(9);
/// assert_eq!(tree.root(), Some(Node { x: 0, y: 4 }));
/// assert_eq!(tree.span(Node { x: 4, y: 2 }), 4..8);
/// // Item 8 has no right sibling: its value moves up unchanged as far as (8, 3).
/// assert_eq!(tree.children(Node { x: 8, y: 3 }), (Node { x: 8, y: 2 }, None));
/// assert_eq!(
///     tree.children(Node { x: 0, y: 4 }),
///     (Node { x: 0, y: 3 }, Some(Node { x: 8, y: 3 })),
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tree {
    items: u64,
}

impl Tree {
    /// Creates the tree over a number of items, which may be 0.
    #[must_use]
    pub const fn new(items: u64) -> Self {
        Self { items }
    }

    /// N, the number of items.
    #[must_use]
    pub const fn items(self) -> u64 {
        self.items
    }

    /// ⌈log2 N⌉, the y-coordinate of the root; 0 for N <= 1.
    #[must_use]
    pub const fn height(self) -> u32 {
        u64::BITS - self.items.saturating_sub(1).leading_zeros()
    }

    /// The root (0, ⌈log2 N⌉), or `None` if there are no items.
    #[must_use]
    pub const fn root(self) -> Option<Node> {
        match self.items {
            0 => None,
            _ => Some(Node {
                x: 0,
                y: self.height(),
            }),
        }
    }

    /// The y-coordinate of the highest node that starts at x: the number of trailing zeros of x,
    /// or the tree's height for x = 0 (thesis, section 3).
    ///
    /// # Panics
    ///
    /// If x >= N.
    ///
    /// ```
    /// let tree = tree_index::Tree::new(9);
    /// assert_eq!([0, 3, 4, 8].map(|x| tree.max_y(x)), [4, 0, 2, 3]);
    /// ```
    #[must_use]
    pub fn max_y(self, x: u64) -> u32 {
        assert!(
            x < self.items,
            "item {x} does not exist: the tree has {} items",
            self.items
        );
        match x {
            0 => self.height(),
            _ => x.trailing_zeros(),
        }
    }

    /// The items below a node: x to min(N, x + 2^y).
    ///
    /// # Panics
    ///
    /// If the tree has no such node.
    #[must_use]
    pub fn span(self, node: Node) -> Range<u64> {
        self.assert_has(node);
        let size_items = 1_u64.checked_shl(node.y).unwrap_or(u64::MAX);
        node.x..node.x.saturating_add(size_items).min(self.items)
    }

    /// The left and the right operand of a node with y > 0 (thesis, eq. 2.2 and 2.3).
    ///
    /// If x + 2^(y-1) >= N there is no right child, and the node has the value of its left child.
    ///
    /// # Panics
    ///
    /// If the node is a leaf, or the tree has no such node.
    #[must_use]
    pub fn children(self, node: Node) -> (Node, Option<Node>) {
        self.assert_has(node);
        assert!(node.y > 0, "item {} is a leaf without children", node.x);
        let y = node.y - 1;
        let left = Node { x: node.x, y };
        let right = Node {
            x: node.x.saturating_add(1 << y),
            y,
        };
        (left, (right.x < self.items).then_some(right))
    }

    fn assert_has(self, node: Node) {
        assert!(
            node.x < self.items && node.y <= self.max_y(node.x),
            "{node:?} does not exist in the tree over {} items",
            self.items
        );
    }
}
