//! Folds of a few leaves, too few for the kernels.

use crate::counter::{Counter, fold_last};
use crate::source::Source;

/// For fewer leaves, the set-up of a kernel costs more than it saves.
pub(crate) const SHORT_LEAVES: usize = 128;

/// The fold of fewer than [`SHORT_LEAVES`] leaves; `None` for no leaves.
///
/// Uses a small counter, because initialising the memory of a large one would dominate the time.
#[inline(always)]
pub(crate) fn fold_few<S: Source>(
    leaves: S,
    mut combine: impl FnMut(S::Leaf, S::Leaf) -> S::Leaf,
) -> Option<S::Leaf> {
    match leaves.len() {
        0 => None,
        1..8 => fold_last(leaves.leaves(&mut [leaves.filler(); 8]), &mut combine),
        _ => Some(Counter::<_, 7>::new(leaves.filler()).finish(leaves, combine)),
    }
}
