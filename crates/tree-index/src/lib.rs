//! Computes the coordinates of nodes in the binary reduction tree, with integer arithmetic only.
//!
//! A reduction has the same bits for every number of ranks if the shape of its tree depends only on
//! the number of items. This crate computes that shape: parents, the subtrees that cover a range of
//! items, and the number of values that ranks must send. The crate neither stores nor sends values,
//! and needs no `std`.
//!
//! # The tree
//!
//! Node (x, y), with x a multiple of 2^y, covers the items x..min(N, x + 2^y). It combines its left
//! child (x, y - 1) with its right child (x + 2^(y-1), y - 1), left operand first. If the right child would
//! begin after the last item, the value of the left child moves up unchanged. The root is (0, ⌈log2 N⌉).
//! [`Tree::max_y`] is the height of the highest node that begins at x.
//!
//! Figure 2.2 of the thesis (C. Stelz, *Core-Count Independent Reproducible Reduce*, Karlsruhe 2022),
//! with N = 9 items on p = 3 ranks. A node is written as its x:
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
//! Rank 1 owns the items 3, 4 and 5. Two of its nodes have their parent on rank 0, so it sends the
//! values of these two. Rank 2 sends one value to rank 1 and one to rank 0:
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
//! // Node (2, 1) covers items of ranks 0 and 1, node (4, 2) items of ranks 1 and 2.
//! assert!(tree.intersecting_nodes(3..6).any(|node| node == Node { x: 2, y: 1 }));
//! assert!(tree.intersecting_nodes(6..9).any(|node| node == Node { x: 4, y: 2 }));
//! assert_eq!(message_count([0, 3, 6, 9]), 4);
//! ```
//!
//! Indices are `u64`. All functions are correct for up to `u64::MAX` items.
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
/// The path from the root to x turns right once for every set bit of x. Clearing the lowest set bit
/// undoes the last turn.
///
/// # Panics
///
/// If x = 0, because node (0, max_y(0)) is the root, which has no parent.
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
/// The function ignores the right edge of the tree, so the result may be larger than the last item.
///
/// # Panics
///
/// If x = 0, because node (0, max_y(0)) is the root, which covers all items.
///
/// ```
/// assert_eq!(tree_index::largest_subtree_child_index(4), 7);
/// assert_eq!(tree_index::largest_subtree_child_index(5), 5);
/// ```
#[must_use]
pub fn largest_subtree_child_index(x: u64) -> u64 {
    assert!(x > 0, "x must not be 0, because the root covers all items");
    x | (x - 1)
}
