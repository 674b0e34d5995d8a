//! Algorithm 2 of the thesis: the number of messages of a distribution, without visiting its items.

use crate::largest_subtree_child_index;

/// The number of values that ranks send in Algorithm 1: one for each PE-intersecting node, that is, a
/// node with its children on different ranks (thesis, Algorithm 2 and eq. 3.5). Takes O(p log N) time.
///
/// `starts` holds the start index of every rank, then N. Empty ranks are legal, and send nothing. The
/// rank that owns item 0 sends nothing, either. The thesis does not define its `startIndices`; with this
/// definition Algorithm 2 gives the published counts.
///
/// # Panics
///
/// If the starts decrease.
///
/// ```
/// // Ranks with 4 items each own whole subtrees: one message for each rank except the first.
/// assert_eq!(tree_index::message_count([0, 4, 8, 12, 16]), 3);
/// // One more item on rank 0 shifts every boundary, so that boundaries cut subtrees.
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
