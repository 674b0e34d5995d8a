//! Tests fragments of unions of ranges, and that the order of merges does not change their result.
//!
//! The value of a node is a string: the expression that computes the node. Wrong operands are visible in it.

#[allow(dead_code, reason = "each test file uses only some functions")]
mod oracle;

use std::ops::Range;

use proptest::prelude::*;
use tree_index::{Node, Tree};

/// The expression for a node, by the recursive definition.
fn expression(items: u64, node: Node) -> String {
    if node.y == 0 {
        return node.x.to_string();
    }
    match oracle::children(items, node) {
        (left, None) => expression(items, left),
        (left, Some(right)) => {
            format!("({} {})", expression(items, left), expression(items, right))
        }
    }
}

type Values = Vec<(Node, String)>;

fn values(tree: Tree, range: Range<u64>) -> Values {
    let named = |node| (node, expression(tree.items(), node));
    tree.subtree_roots(range).map(named).collect()
}

fn merge(tree: Tree, parts: impl IntoIterator<Item = Values>) -> Values {
    let mut nodes: Values = parts.into_iter().flatten().collect();
    nodes.sort_by_key(|&(node, _)| node);
    let length = tree.merge(&mut nodes, |left, right| format!("({left} {right})"));
    nodes.truncate(length);
    nodes
}

/// The maximal nodes whose items are all in the set, found by descending from the root.
fn oracle_fragment(items: u64, is_in: &dyn Fn(u64) -> bool) -> Vec<Node> {
    fn descend(items: u64, node: Node, is_in: &dyn Fn(u64) -> bool, found: &mut Vec<Node>) {
        if oracle::span(items, node).all(is_in) {
            return found.push(node);
        }
        if node.y > 0 {
            let (left, right) = oracle::children(items, node);
            descend(items, left, is_in, found);
            right
                .into_iter()
                .for_each(|right| descend(items, right, is_in, found));
        }
    }
    let mut found = Vec::new();
    if let Some(root) = Tree::new(items).root() {
        descend(items, root, is_in, &mut found);
    }
    found
}

/// Cuts each range of every tree of up to 20 items into three pieces, and merges them in three orders.
#[test]
fn merging_is_associative() {
    for items in 0..=20 {
        let tree = Tree::new(items);
        for end in 0..=items {
            for start in 0..=end {
                let whole = values(tree, start..end);
                for a in start..=end {
                    for b in a..=end {
                        let part = |range| values(tree, range);
                        let left = merge(tree, [part(start..a), part(a..b)]);
                        let right = merge(tree, [part(a..b), part(b..end)]);
                        assert_eq!(merge(tree, [left, part(b..end)]), whole);
                        assert_eq!(merge(tree, [part(start..a), right]), whole);
                        // The piece in the middle is merged last.
                        let around = merge(tree, [part(start..a), part(b..end)]);
                        assert_eq!(merge(tree, [around, part(a..b)]), whole);
                    }
                }
            }
        }
    }
}

/// Checks the fragment of every subset of up to 12 items: computed from ranges, and merged from single items.
#[test]
fn fragments_of_every_set() {
    for items in 0..=12_u64 {
        let tree = Tree::new(items);
        for set in 0_u32..1 << items {
            let is_in = |item: u64| set >> item & 1 == 1;
            let expected = oracle_fragment(items, &is_in);
            let singles = (0..items).filter(|&item| is_in(item));
            let ranges = singles.clone().map(|item| item..item + 1);
            assert!(tree.fragment(ranges).eq(expected.iter().copied()));
            let merged = merge(tree, singles.map(|item| values(tree, item..item + 1)));
            let expected: Values = expected
                .iter()
                .map(|&node| (node, expression(items, node)))
                .collect();
            assert_eq!(merged, expected, "{set:b} of {items}");
        }
    }
}

#[test]
#[should_panic(expected = "begins before the end of")]
fn overlapping_ranges_are_a_bug() {
    Tree::new(9).fragment([0..4, 3..5]).for_each(drop);
}

#[test]
fn the_largest_trees_join_to_their_root() {
    for items in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) + 1] {
        let tree = Tree::new(items);
        for cut in [1, (1 << 62) + 1, 1 << 63, items - 1] {
            let mut nodes: Vec<(Node, ())> = [0..cut, cut..items]
                .into_iter()
                .flat_map(|range| tree.subtree_roots(range))
                .map(|node| (node, ()))
                .collect();
            let length = tree.merge(&mut nodes, |(), ()| ());
            assert_eq!((length, Some(nodes[0].0)), (1, tree.root()));
        }
    }
}

proptest! {
    /// Cuts the items at random places, and merges the pieces, adjacent or not, in random order.
    #[test]
    fn merging_in_any_order_gives_the_tree(
        items in 1_u64..600,
        cuts in prop::collection::vec(any::<u64>(), 0..12),
        order in prop::collection::vec(any::<prop::sample::Index>(), 13),
    ) {
        let tree = Tree::new(items);
        let mut boundaries: Vec<u64> = cuts.iter().map(|cut| cut % (items + 1)).collect();
        boundaries.extend([0, items]);
        boundaries.sort_unstable();
        let mut pieces: Vec<Values> = boundaries
            .windows(2)
            .map(|pair| values(tree, pair[0]..pair[1]))
            .collect();
        for index in order {
            if pieces.len() < 2 {
                break;
            }
            let a = pieces.swap_remove(index.index(pieces.len()));
            let b = pieces.swap_remove(index.index(pieces.len()));
            pieces.push(merge(tree, [a, b]));
        }
        let root = tree.root().expect("there are items");
        prop_assert_eq!(&merge(tree, pieces), &vec![(root, expression(items, root))]);
    }
}
