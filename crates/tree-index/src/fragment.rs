//! Computes the fragment of any set of items, and merges adjacent fragments.
//!
//! A fragment is the list of the maximal nodes inside a set of items, left to right. The values of these
//! nodes are all that the rest of the tree needs from these items. Merging fragments is exactly
//! associative: each node is computed once, from the same operands, whichever fragments merge first. A
//! reduction in tree order can therefore follow any schedule.
//!
//! ```text
//! items 0..5 and 5..9 of N = 9; a node is written as (x, y)
//!
//!   (0,2) (4,0)  +  (5,0) (6,1) (8,3)
//!   (0,2) (4,1)        (6,1) (8,3)         (4,0) and (5,0) are siblings
//!   (0,2) (4,2)              (8,3)         (4,1) and (6,1) are siblings
//!   (0,3)                    (8,3)         (0,2) and (4,2) are siblings
//!   (0,4)                                  the result
//! ```

use core::iter::FusedIterator;
use core::ops::Range;

use crate::{Node, SubtreeRoots, Tree};

/// Iterator over the fragment of a set of items, returned by [`Tree::fragment`].
#[derive(Clone, Debug)]
pub struct Fragment<I: Iterator<Item = Range<u64>>> {
    tree: Tree,
    ranges: I,
    /// The range whose nodes follow `nodes`, if it has already been taken from `ranges`.
    next_range: Option<Range<u64>>,
    nodes: SubtreeRoots,
}

impl Tree {
    /// Returns the fragment of a union of ranges: the maximal nodes whose span is inside the union,
    /// left to right.
    ///
    /// The ranges must be sorted and disjoint. Adjacent ranges count as one, and empty ranges are
    /// ignored. For a single range, the nodes are those of [`subtree_roots`](Tree::subtree_roots).
    ///
    /// # Panics
    ///
    /// The iterator panics if a range ends after the last item or begins before the end of the previous range.
    ///
    /// ```
    /// use tree_index::{Node, Tree};
    ///
    /// // A hole: another rank owns item 2.
    /// let fragment = Tree::new(9).fragment([0..1, 1..2, 3..4, 4..8]);
    /// assert!(fragment.eq([Node { x: 0, y: 1 }, Node { x: 3, y: 0 }, Node { x: 4, y: 2 }]));
    /// ```
    pub fn fragment<I>(self, ranges: I) -> Fragment<I::IntoIter>
    where
        I: IntoIterator<Item = Range<u64>>,
    {
        Fragment {
            tree: self,
            ranges: ranges.into_iter(),
            next_range: None,
            nodes: self.subtree_roots(0..0),
        }
    }

    /// Counts the nodes in the fragment of a range, without listing them.
    ///
    /// Let m be the number from start to end that has the most trailing zeros. The subtrees before m
    /// grow from left to right, one for each bit set in m - start. The subtrees from m on shrink, one
    /// for each bit set in end - m. If the range ends at N, the last subtree may extend beyond N.
    ///
    /// ```
    /// use tree_index::Tree;
    ///
    /// assert_eq!(Tree::new(100).fragment_len(5..11), 4); // 5, 6..8, 8..10, 10
    /// assert_eq!(Tree::new(100).fragment_len(0..100), 1);
    /// ```
    #[must_use]
    pub fn fragment_len(self, range: Range<u64>) -> u32 {
        let (start, end) = (range.start, range.end.min(self.items()));
        if start >= end {
            return 0;
        }
        if end < self.items() {
            let middle = end >> (start ^ end).ilog2() << (start ^ end).ilog2();
            return (middle - start).count_ones() + (end - middle).count_ones();
        }
        let mut nodes_count = 1;
        let mut x = start;
        // The highest node that begins at x ends at x + 2^y, or is cut off at N.
        while x != 0 && end - x > 1 << x.trailing_zeros() {
            x += 1 << x.trailing_zeros();
            nodes_count += 1;
        }
        nodes_count
    }

    /// Returns the parent of two siblings, or `None` if the nodes are not siblings. If the parent is at
    /// the right edge of the tree, returns the parent's highest ancestor with the same span.
    ///
    /// Both arguments must be nodes of fragments, where such an ancestor also names a node at the right edge.
    ///
    /// ```
    /// use tree_index::{Node, Tree};
    ///
    /// let tree = Tree::new(6);
    /// // (4, 1) moves up unchanged to (4, 2), which is the sibling of (0, 2).
    /// let (left, right) = (Node { x: 0, y: 2 }, Node { x: 4, y: 2 });
    /// assert_eq!(tree.join(left, right), tree.root());
    /// assert_eq!(tree.join(Node { x: 1, y: 0 }, Node { x: 2, y: 0 }), None);
    /// ```
    #[must_use]
    pub fn join(self, left: Node, right: Node) -> Option<Node> {
        let x = left.x;
        // The comparison uses the difference, because x + 2^y may overflow.
        let are_adjacent = right.x > x && 1_u64.checked_shl(left.y) == Some(right.x - x);
        let is_left_child = x == 0 || x.trailing_zeros() > left.y;
        if left.y != right.y || !are_adjacent || !is_left_child {
            return None;
        }
        let y = if self.span(right).end == self.items() {
            self.max_y(x)
        } else {
            left.y + 1
        };
        Some(Node { x, y })
    }

    /// Merges the fragments concatenated in `nodes` into the fragment of their union, which is written to
    /// the front of `nodes`. Returns the length of the merged fragment; later entries are unspecified.
    ///
    /// The nodes must be sorted and disjoint; there may be holes between them. Each node has a value,
    /// such as the reduction of its span. `combine(left, right)` computes the value of the parent.
    ///
    /// ```
    /// use tree_index::{Node, Tree};
    ///
    /// let tree = Tree::new(3);
    /// let named = |range| tree.subtree_roots(range).map(|node| (node, format!("{}", node.x)));
    /// let mut nodes: Vec<_> = named(0..1).chain(named(1..3)).collect();
    /// let length = tree.merge(&mut nodes, |left, right| format!("({left}+{right})"));
    /// assert_eq!(nodes[..length], [(Node { x: 0, y: 2 }, "((0+1)+2)".to_owned())]);
    /// ```
    pub fn merge<V: Default>(
        self,
        nodes: &mut [(Node, V)],
        mut combine: impl FnMut(V, V) -> V,
    ) -> usize {
        // The front of the slice is the stack of merged nodes.
        let mut length = 0;
        for next in 0..nodes.len() {
            nodes.swap(length, next);
            length += 1;
            while length >= 2 {
                let Some(parent) = self.join(nodes[length - 2].0, nodes[length - 1].0) else {
                    break;
                };
                let left = core::mem::take(&mut nodes[length - 2].1);
                let right = core::mem::take(&mut nodes[length - 1].1);
                nodes[length - 2] = (parent, combine(left, right));
                length -= 1;
            }
        }
        length
    }
}

impl<I: Iterator<Item = Range<u64>>> Iterator for Fragment<I> {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        loop {
            if let Some(node) = self.nodes.next() {
                return Some(node);
            }
            let mut range = self.next_range.take().or_else(|| self.ranges.next())?;
            // Adjacent ranges are joined, so that a node may cross their boundary.
            for next in self.ranges.by_ref() {
                if range.is_empty() {
                    range = next;
                } else if next.is_empty() {
                } else if next.start == range.end {
                    range.end = next.end;
                } else {
                    assert!(
                        next.start > range.end,
                        "range {next:?} begins before the end of range {range:?}"
                    );
                    self.next_range = Some(next);
                    break;
                }
            }
            self.nodes = self.tree.subtree_roots(range);
        }
    }
}

impl<I: FusedIterator<Item = Range<u64>>> FusedIterator for Fragment<I> {}
