//! The rank that owns an item, looked up in a table of start indices (thesis, eq. 3.4):
//! max { i | start(i) <= x }.
//!
//! [`Distribution::rank_of`](crate::Distribution::rank_of) needs no table where shares are regular, and uses [`logarithmic`]
//! where they are not. Measurements compare `rank_of` with both functions here (thesis, section 3.1.3 and Figure 3.6).
//!
//! Both functions take the start of every rank, then N, in nondecreasing order. Of several ranks with the same start, only the
//! last can own items; both functions return that rank.

/// The owner of an item: scans for the first start after the item, in O(p). This is the thesis'
/// first implementation.
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

/// The owner of an item by binary search, in O(log p).
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
