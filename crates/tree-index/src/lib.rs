//! Coordinates of the binary reduction tree, in integers only.
//!
//! A reduction keeps its bits for every number of ranks when the tree it follows depends on the
//! number of items alone. This crate is that tree: who is whose parent, which subtrees cover a
//! range of items, and how many values a distribution sends. It holds no value and knows no
//! transport, so the same arithmetic serves every port, `no_std` included.
//!
//! # The tree
//!
//! Node (x, y) covers the items x to x + 2^y, cut off at N, with x a multiple of 2^y. It combines
//! (x, y - 1) with (x + 2^(y-1), y - 1), left operand first; where that right child would lie
//! behind the last item, the left child's value moves up unchanged. The root is
//! (0, ⌈log2 N⌉), and [`Tree::max_y`] tells how far up a given x reaches.
//!
//! Figure 2.2 of the thesis, N = 9 items on p = 3 ranks. A node is written as its x:
//!
//! ```text
//!   y
//!   4   0 ──────────────────────────────────────┐
//!       │                                       │
//!   3   0 ──────────────────┐                   8
//!       │                   │                   │
//!   2   0 ────────┐         4 ────────┐         8
//!       │         │         │         │         │
//!   1   0 ───┐    2 ───┐    4 ───┐    6 ───┐    8
//!       │    │    │    │    │    │    │    │    │
//!   0   0    1    2    3    4    5    6    7    8
//!       ╰─ rank 0 ╯    ╰─ rank 1 ╯    ╰─ rank 2 ╯
//! ```
//!
//! Rank 1 owns the items 3, 4 and 5. Two of its nodes have their parent on rank 0, so those are the
//! values it sends; rank 2's go to rank 1 and to rank 0:
//!
//! ```
//! use tree_index::{Node, Tree, message_count, parent};
//!
//! let tree = Tree::new(9);
//! let sends = |range| tree.outbound_roots(range).collect::<Vec<_>>();
//! assert_eq!(sends(0..3), [Node { x: 0, y: 4 }]); // the root: the result itself
//! assert_eq!(sends(3..6), [Node { x: 3, y: 0 }, Node { x: 4, y: 2 }]);
//! assert_eq!(sends(6..9), [Node { x: 6, y: 1 }, Node { x: 8, y: 3 }]);
//! assert_eq!((parent(6), parent(8)), (4, 0)); // items of rank 1 and of rank 0
//!
//! // The red dots of the figure are A = (2, 1) and B = (4, 2).
//! assert!(tree.intersecting_nodes(3..6).any(|node| node == Node { x: 2, y: 1 }));
//! assert!(tree.intersecting_nodes(6..9).any(|node| node == Node { x: 4, y: 2 }));
//! assert_eq!(message_count([0, 3, 6, 9]), 4);
//! ```
//!
//! Indices are `u64`, and every function holds for every number of items up to `u64::MAX`.
#![no_std]
#![forbid(unsafe_code)]

mod fragment;
mod message_count;
mod roots;
mod tree;

pub use fragment::Fragment;
pub use message_count::message_count;
pub use roots::{OutboundRoots, SubtreeRoots};
pub use tree::{Node, Tree};

/// The x-coordinate of the parent of node (x, max_y(x)): `x & (x - 1)` (thesis, eq. 3.1).
///
/// The path from the root to x turns right once for every set bit; the last turn is undone.
///
/// # Panics
///
/// If x = 0, whose highest node is the root.
///
/// ```
/// assert_eq!(tree_index::parent(6), 4);
/// assert_eq!(tree_index::parent(4), 0);
/// ```
#[must_use]
pub fn parent(x: u64) -> u64 {
    assert!(x > 0, "the root has no parent");
    x & (x - 1)
}

/// The largest x-coordinate below node (x, max_y(x)): `x | (x - 1)` (thesis, eq. 3.6).
///
/// The tree's right edge is not considered: the result may lie behind the last item.
///
/// # Panics
///
/// If x = 0, below which lies every item there is.
///
/// ```
/// assert_eq!(tree_index::largest_subtree_child_index(4), 7);
/// assert_eq!(tree_index::largest_subtree_child_index(5), 5);
/// ```
#[must_use]
pub fn largest_subtree_child_index(x: u64) -> u64 {
    assert!(x > 0, "below the root lies every item there is");
    x | (x - 1)
}
