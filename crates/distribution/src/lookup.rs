//! Looks up the rank that owns an item x in a table of start indices (thesis, eq. 3.4):
//! max { i | start(i) <= x }.
//!
//! [`Distribution::rank_of`](crate::Distribution::rank_of) needs no table if a formula gives the starts, and otherwise uses
//! [`logarithmic`]. Measurements compare `rank_of` with [`linear`] and [`logarithmic`] (thesis, section 3.1.3 and Figure 3.6).
//!
//! Both functions take a table of the starts of all ranks, followed by N, in nondecreasing order. If several ranks have the same
//! start, only the last of them can own items, and both functions return it.

/// Finds the owner of an item in O(p), by a scan for the first start after the item. The thesis'
/// first implementation did the same.
///
/// # Panics
///
/// If no rank owns the item.
///
/// ```
/// assert_eq!(distribution::lookup::linear(&[0, 3, 3, 9], 3), 2); // rank 1 is empty
/// ```
#[must_use]
pub fn linear(starts: &[u64], item: u64) -> usize {
    let first_behind = starts.iter().position(|&start| start > item);
    owner(first_behind.unwrap_or(starts.len()), starts, item)
}

/// Finds the owner of an item in O(log p), by binary search.
///
/// # Panics
///
/// If no rank owns the item.
///
/// ```
/// assert_eq!(distribution::lookup::logarithmic(&[0, 3, 3, 9], 3), 2); // rank 1 is empty
/// ```
#[must_use]
pub fn logarithmic(starts: &[u64], item: u64) -> usize {
    let first_behind = starts.partition_point(|&start| start <= item);
    owner(first_behind, starts, item)
}

fn owner(first_behind: usize, starts: &[u64], item: u64) -> usize {
    assert!(
        (1..starts.len()).contains(&first_behind),
        "no rank owns item {item}"
    );
    first_behind - 1
}
