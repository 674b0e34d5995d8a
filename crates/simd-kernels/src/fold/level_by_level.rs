//! Implements the thesis' kernel: each pass over the nodes computes three levels, by Algorithm 4.

use crate::fold::slice::tree_fold;
use crate::sets::dispatch::Float;
use crate::sets::level::Level;

/// The number of values of scratch memory that [`reduce_level_by_level`] needs: about a seventh of the number of leaves.
#[must_use]
pub const fn scratch_len(leaves: usize) -> usize {
    let (mut nodes, mut needed) = (leaves, 0);
    while nodes > 1 {
        nodes = nodes.div_ceil(8);
        needed += nodes;
    }
    needed
}

/// The sum of the leaves in tree order; `None` for no leaves.
///
/// Each pass turns groups of 8 nodes into their common ancestor three levels up (Algorithm 4). A shorter last group is folded in
/// tree order without padding. The first pass reads the leaves, the other passes read `scratch`. The initial contents of
/// `scratch` do not matter.
///
/// # Panics
/// `scratch` is shorter than [`scratch_len`] requires.
///
/// ```
/// use simd_kernels::{Level, reduce_level_by_level, scratch_len};
///
/// let leaves = [0.1; 100];
/// let mut scratch = [0.0; scratch_len(100)];
/// let total = reduce_level_by_level(Level::best(), &leaves, &mut scratch);
/// assert_eq!(total, simd_kernels::sum(Level::SCALAR, &leaves));
/// ```
pub fn reduce_level_by_level<T: Float>(level: Level, leaves: &[T], scratch: &mut [T]) -> Option<T> {
    let needed = scratch_len(leaves.len());
    assert!(
        scratch.len() >= needed,
        "{} leaves need {needed} values of scratch memory, not {}",
        leaves.len(),
        scratch.len()
    );
    let (mut nodes, mut rest) = (leaves, scratch);
    while nodes.len() > 1 {
        let (sums, unused) = rest.split_at_mut(nodes.len().div_ceil(8));
        three_levels(level, nodes, sums);
        (nodes, rest) = (sums, unused);
    }
    nodes.first().copied()
}

/// One pass: the ancestors of `nodes` three levels up.
fn three_levels<T: Float>(level: Level, nodes: &[T], ancestors: &mut [T]) {
    let (groups, last_group) = nodes.as_chunks::<8>();
    let (full, truncated) = ancestors.split_at_mut(groups.len());
    T::subtree_sums8(level, groups, full);
    if let (Some(ancestor), Some(sum)) = (
        truncated.first_mut(),
        tree_fold(last_group, |left, right| left + right),
    ) {
        *ancestor = sum;
    }
}
