//! Finds boundaries that cut the fewest subtrees: the numbers with the most trailing zeros.

use tree_index::parent;

/// The number with the most trailing zeros from `first` to `last`.
pub(crate) fn roundest(first: u64, last: u64) -> u64 {
    let mut x = last;
    while x > 0 && parent(x) >= first {
        x = parent(x);
    }
    x
}
