//! Implements the definitions in their simplest form, as a reference for the tests.
//!
//! These functions follow the recursive equations 2.1 to 2.3 of the thesis, or visit every item. They
//! use `u128`, so they cannot overflow, and they share no bit tricks with the code under test.

use std::ops::Range;

use tree_index::Node;

/// ⌈log2 N⌉ by doubling.
pub(crate) fn height(items: u64) -> u32 {
    let covers_all = |&y: &u32| 1_u128 << y >= u128::from(items);
    (0..).find(covers_all).expect("2^64 covers every u64")
}

/// The items below a node, cut off at N.
pub(crate) fn span(items: u64, node: Node) -> Range<u64> {
    let end = u128::from(node.x) + (1_u128 << node.y);
    node.x..u64::try_from(end).map_or(items, |end| end.min(items))
}

/// The child nodes of equations 2.2 and 2.3.
pub(crate) fn children(items: u64, node: Node) -> (Node, Option<Node>) {
    let (x, y) = (node.x, node.y - 1);
    let right = u128::from(x) + (1_u128 << y);
    let right = u64::try_from(right).ok().filter(|&x| x < items);
    (Node { x, y }, right.map(|x| Node { x, y }))
}

/// The maximal nodes inside a range, found by descending from the root.
pub(crate) fn fragment(items: u64, range: &Range<u64>) -> Vec<Node> {
    let mut nodes = Vec::new();
    if items > 0 {
        let y = height(items);
        descend(items, Node { x: 0, y }, range, &mut nodes);
    }
    nodes
}

fn descend(items: u64, node: Node, range: &Range<u64>, nodes: &mut Vec<Node>) {
    let span = span(items, node);
    if span.end <= range.start || range.end <= span.start {
        return;
    }
    if range.start <= span.start && span.end <= range.end {
        return nodes.push(node);
    }
    let (left, right) = children(items, node);
    descend(items, left, range, nodes);
    if let Some(right) = right {
        descend(items, right, range, nodes);
    }
}

/// Every node of the tree with two children, together with its right child.
pub(crate) fn joins(items: u64) -> Vec<(Node, Node)> {
    let mut joins = Vec::new();
    let mut stack = Vec::new();
    if items > 0 {
        stack.push(Node {
            x: 0,
            y: height(items),
        });
    }
    while let Some(node) = stack.pop() {
        if node.y == 0 {
            continue;
        }
        let (left, right) = children(items, node);
        stack.push(left);
        if let Some(right) = right {
            joins.push((node, right));
            stack.push(right);
        }
    }
    joins
}

/// The rank that owns an item, by eq. 3.4. `starts` holds the start of every rank, then N.
pub(crate) fn rank_of(starts: &[u64], item: u64) -> usize {
    let ranks = 0..starts.len() - 1;
    let owner = ranks.rev().find(|&i| starts[i] <= item);
    owner.expect("the first rank starts at item 0")
}

/// Counts the PE-intersecting nodes by their definition: the nodes whose two children are on different ranks.
pub(crate) fn message_count(starts: &[u64]) -> u64 {
    let items = starts[starts.len() - 1];
    let crosses = |node: Node, right: Node| rank_of(starts, node.x) != rank_of(starts, right.x);
    let crossing = joins(items)
        .into_iter()
        .filter(|&(node, right)| crosses(node, right));
    crossing.count() as u64
}
