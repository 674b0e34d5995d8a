//! Tests trees that are too large to enumerate, of up to 2^64 - 1 items, and the thesis' published counts.

mod oracle;

use proptest::prelude::*;
use tree_index::{Node, Tree, largest_subtree_child_index, message_count, parent};

const TOP: u64 = 1 << 63;

/// Numbers whose magnitudes are equally probable, and numbers near powers of two.
fn any_magnitude() -> impl Strategy<Value = u64> {
    let near_power = (0..64_u32, -2..=2_i64).prop_map(|(y, offset)| {
        let power = 1_u64 << y;
        power.saturating_add_signed(offset)
    });
    prop_oneof![
        (any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift),
        near_power,
        Just(u64::MAX),
    ]
}

fn tree_and_range() -> impl Strategy<Value = (u64, std::ops::Range<u64>)> {
    (any_magnitude(), any_magnitude(), any_magnitude()).prop_map(|values| {
        let mut sorted = <[u64; 3]>::from(values);
        sorted.sort();
        (sorted[2], sorted[0]..sorted[1])
    })
}

proptest! {
    #[test]
    fn fragments_are_counted((items, range) in tree_and_range()) {
        let tree = Tree::new(items);
        let listed = tree.subtree_roots(range.clone()).count();
        prop_assert_eq!(tree.fragment_len(range) as usize, listed);
    }

    #[test]
    fn fragments_equal_the_descent_from_the_root((items, range) in tree_and_range()) {
        let tree = Tree::new(items);
        for range in [range.clone(), 0..range.end, range.start..items, 0..items] {
            let nodes: Vec<_> = tree.subtree_roots(range.clone()).collect();
            prop_assert_eq!(&nodes, &oracle::fragment(items, &range));
            let height = tree.height() as usize;
            let at_edge = range.start == 0 || range.end == items;
            let bound = if at_edge { height } else { (2 * height).saturating_sub(2) };
            prop_assert!(nodes.len() <= bound.max(1));
        }
    }

    #[test]
    fn outbound_roots_tile_the_range_and_step_by_whole_subtrees((items, range) in tree_and_range()) {
        let tree = Tree::new(items);
        let mut next = range.start;
        for root in tree.outbound_roots(range.clone()) {
            prop_assert_eq!(root, Node { x: next, y: tree.max_y(next) });
            if next == 0 {
                next = items;
                continue;
            }
            prop_assert!(parent(next) < range.start);
            next = largest_subtree_child_index(next).saturating_add(1);
        }
        prop_assert!(range.is_empty() || next >= range.end);
    }

    #[test]
    fn message_count_is_the_number_of_intersecting_nodes(
        mut starts in prop::collection::vec(any_magnitude(), 1..20)
    ) {
        starts.push(0);
        starts.sort();
        let tree = Tree::new(starts[starts.len() - 1]);
        let nodes = starts
            .windows(2)
            .flat_map(|pair| tree.intersecting_nodes(pair[0]..pair[1]));
        prop_assert_eq!(message_count(starts.iter().copied()), nodes.count() as u64);
    }

    #[test]
    fn message_count_equals_the_count_over_all_nodes(
        mut starts in prop::collection::vec(0..3000_u64, 1..20)
    ) {
        starts.push(0);
        starts.sort();
        let counted = message_count(starts.iter().copied());
        prop_assert_eq!(counted, oracle::message_count(&starts));
    }
}

#[test]
fn the_published_counts() {
    const ITEMS: u64 = 504_850;
    const RANKS: u64 = 256;
    let (share, longer) = (ITEMS / RANKS, ITEMS % RANKS);
    let lower = (0..=RANKS).map(|i| i * share + i.min(longer));
    let upper = (0..=RANKS).map(|i| i * share + i.saturating_sub(RANKS - longer));
    let power_of_two = (0..RANKS).map(|i| i << share.ilog2()).chain([ITEMS]);

    assert_eq!(message_count(lower), 1640);
    assert_eq!(message_count(upper), 1401);
    assert_eq!(message_count(power_of_two), 256);
}

#[test]
fn heights_at_the_top() {
    let heights = [0, 1, 2, 3, TOP - 1, TOP, TOP + 1, u64::MAX].map(|n| Tree::new(n).height());
    assert_eq!(heights, [0, 0, 1, 2, 63, 63, 64, 64]);
}

#[test]
fn a_root_of_height_64() {
    let tree = Tree::new(u64::MAX);
    let root = tree.root().unwrap();
    assert_eq!(root, Node { x: 0, y: 64 });
    assert_eq!(tree.span(root), 0..u64::MAX);
    let right = Node { x: TOP, y: 63 };
    assert_eq!(tree.children(root), (Node { x: 0, y: 63 }, Some(right)));
    assert_eq!(tree.span(right), TOP..u64::MAX);
    assert!(tree.subtree_roots(TOP..u64::MAX).eq([right]));
    assert!(tree.outbound_roots(TOP..u64::MAX).eq([right]));
    assert!(tree.intersecting_nodes(TOP..u64::MAX).eq([root]));
    assert_eq!(message_count([0, TOP, u64::MAX]), 1);
    assert_eq!(message_count([0, 1, u64::MAX]), 64);
}

#[test]
fn exactly_two_to_the_63() {
    let tree = Tree::new(TOP);
    assert!(tree.subtree_roots(0..TOP).eq(tree.root()));
    assert_eq!(tree.subtree_roots(1..TOP - 1).count(), 2 * 63 - 2);
    assert_eq!(tree.outbound_roots(1..TOP).count(), 63);
}

#[test]
fn the_tree_without_items() {
    let tree = Tree::new(0);
    assert_eq!(tree.root(), None);
    assert_eq!(tree.subtree_roots(0..0).count(), 0);
    assert_eq!(tree.outbound_roots(0..0).count(), 0);
    assert_eq!(message_count([]), 0);
    assert_eq!(message_count([0]), 0);
    assert_eq!(message_count([0, 0, 0]), 0);
}

#[test]
fn an_empty_first_rank_leaves_the_root_to_the_next() {
    assert_eq!(message_count([0, 0, 3, 6, 9]), message_count([0, 3, 6, 9]));
    assert_eq!(message_count([0, 3, 3, 6, 9]), 4);
}

#[test]
#[should_panic(expected = "does not exist in the tree over 9 items")]
fn a_node_that_the_tree_lacks() {
    drop(Tree::new(9).span(Node { x: 4, y: 3 }));
}

#[test]
#[should_panic(expected = "ends after the last of 9 items")]
fn a_range_that_the_tree_lacks() {
    drop(Tree::new(9).subtree_roots(3..10));
}

#[test]
#[should_panic(expected = "the starts decrease from 5 to 4")]
fn starts_that_decrease() {
    message_count([0, 5, 4, 9]);
}
