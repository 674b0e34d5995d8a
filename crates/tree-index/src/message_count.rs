//! Algorithm 2 of the thesis, which counts the messages of a distribution without visiting its items.

use crate::largest_subtree_child_index;

/// The number of values that ranks send in Algorithm 1. There is one value for each PE-intersecting node, a
/// node whose children are on different ranks (thesis, Algorithm 2 and eq. 3.5). Takes O(p log N) time.
///
/// `starts` holds the start index of every rank, then N. Ranks may be empty; such ranks send nothing. The
/// rank that owns item 0 does not send anything, either. The thesis does not define `startIndices`, the
/// input of Algorithm 2; with the definition of `starts`, the algorithm gives the published counts.
///
/// # Panics
///
/// If the starts decrease.
///
/// ```
/// // Ranks with 4 items each own whole subtrees: one message for each rank except the first.
/// assert_eq!(tree_index::message_count([0, 4, 8, 12, 16]), 3);
/// // With one more item on rank 0, every boundary moves and cuts subtrees.
/// assert_eq!(tree_index::message_count([0, 5, 9, 13, 17]), 9);
/// ```
pub fn message_count(starts: impl IntoIterator<Item = u64>) -> u64 {
    let mut starts = starts.into_iter();
    let mut messages = 0;
    let Some(mut start) = starts.next() else {
        return messages;
    };
    for end in starts {
        assert!(start <= end, "the starts decrease from {start} to {end}");
        // If the first rank is empty, a later rank owns item 0 and the root.
        if start > 0 {
            messages += outbound_roots(start, end);
        }
        start = end;
    }
    messages
}

fn outbound_roots(start: u64, end: u64) -> u64 {
    let mut roots = 0;
    let mut x = start;
    while x < end {
        roots += 1;
        x = largest_subtree_child_index(x).saturating_add(1);
    }
    roots
}
