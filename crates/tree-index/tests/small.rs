//! Tests every tree of up to 40 items, every range in each tree, and every distribution of a few items
//! against the recursive definition.

mod oracle;

use std::collections::BTreeMap;

use tree_index::{Node, Tree, message_count, parent};

/// Large enough for every shape of the right edge of trees up to height 5.
const ITEMS_MAX: u64 = 40;

fn ranges() -> impl Iterator<Item = (Tree, std::ops::Range<u64>)> {
    (0..=ITEMS_MAX).flat_map(|items| {
        (0..=items).flat_map(move |end| (0..=end).map(move |start| (Tree::new(items), start..end)))
    })
}

#[test]
fn nodes_follow_the_recursive_definition() {
    for items in 1..=ITEMS_MAX {
        let tree = Tree::new(items);
        let mut stack = vec![tree.root().unwrap()];
        let mut y_max = BTreeMap::new();
        while let Some(node) = stack.pop() {
            let y = y_max.entry(node.x).or_insert(0);
            *y = node.y.max(*y);
            assert_eq!(tree.span(node), oracle::span(items, node));
            if node.y > 0 {
                let (left, right) = tree.children(node);
                assert_eq!((left, right), oracle::children(items, node));
                stack.push(left);
                stack.extend(right);
            }
        }
        assert!(y_max.keys().copied().eq(0..items), "N = {items}");
        for (x, y) in y_max {
            assert_eq!(tree.max_y(x), y, "x = {x}, N = {items}");
        }
    }
}

#[test]
fn fragments_are_the_maximal_nodes_inside() {
    for (tree, range) in ranges() {
        let nodes: Vec<_> = tree.subtree_roots(range.clone()).collect();
        assert_eq!(
            nodes,
            oracle::fragment(tree.items(), &range),
            "{range:?} of {tree:?}"
        );
    }
}

#[test]
fn fragments_are_counted_without_being_listed() {
    for (tree, range) in ranges() {
        let listed = tree.subtree_roots(range.clone()).count();
        assert_eq!(
            tree.fragment_len(range.clone()) as usize,
            listed,
            "{tree:?}, {range:?}"
        );
    }
}

#[test]
fn fragments_keep_their_size_bounds_and_reach_them() {
    for items in 1..=130 {
        let tree = Tree::new(items);
        let height = tree.height() as usize;
        let (mut largest, mut largest_at_edge) = (0, 0);
        for end in 0..=items {
            for start in 0..=end {
                let nodes = tree.subtree_roots(start..end).count();
                if start == 0 || end == items {
                    largest_at_edge = largest_at_edge.max(nodes);
                } else {
                    largest = largest.max(nodes);
                }
            }
        }
        let bound = (2 * height).saturating_sub(2).max(1);
        let bound_at_edge = height.max(1);
        assert!(largest <= bound, "{largest} nodes, N = {items}");
        assert!(
            largest_at_edge <= bound_at_edge,
            "{largest_at_edge} nodes, N = {items}"
        );
        if items.is_power_of_two() && items > 2 {
            assert_eq!((largest, largest_at_edge), (bound, bound_at_edge));
        }
    }
}

#[test]
fn outbound_roots_are_the_items_whose_parent_lies_before_the_range() {
    for (tree, range) in ranges() {
        let leaves_range = |&x: &u64| x == 0 || parent(x) < range.start;
        let expected: Vec<_> = range.clone().filter(leaves_range).collect();
        let roots: Vec<_> = tree.outbound_roots(range.clone()).collect();
        assert!(
            roots.iter().map(|root| root.x).eq(expected),
            "{range:?} of {tree:?}"
        );
        assert!(roots.iter().all(|root| root.y == tree.max_y(root.x)));
    }
}

#[test]
fn intersecting_nodes_have_their_right_child_inside_and_their_left_before() {
    for (tree, range) in ranges() {
        let mut nodes: Vec<_> = tree.intersecting_nodes(range.clone()).collect();
        let mut expected: Vec<Node> = oracle::joins(tree.items())
            .into_iter()
            .filter(|(node, right)| node.x < range.start && range.contains(&right.x))
            .map(|(node, _)| node)
            .collect();
        nodes.sort();
        expected.sort();
        assert_eq!(nodes, expected, "{range:?} of {tree:?}");
    }
}

/// All nondecreasing starts of four ranks, including empty ranks in every position.
#[test]
fn message_counts_of_four_ranks_equal_the_count_over_all_nodes() {
    for items in 0..=12 {
        for c in 0..=items {
            for b in 0..=c {
                for a in 0..=b {
                    let starts = [0, a, b, c, items];
                    let counted = message_count(starts);
                    assert_eq!(counted, oracle::message_count(&starts), "{starts:?}");
                }
            }
        }
    }
}
