//! Folds leaves that are too few for a kernel.

use crate::fold::counter::{Counter, eight, fold_last};
use crate::fold::source::Source;

/// For fewer leaves, setting up a kernel costs more than it saves.
pub(crate) const FEW_LEAVES: usize = 64;

/// The fold of any number of leaves; `None` for no leaves. It is fast for fewer than [`FEW_LEAVES`].
#[inline(always)]
pub(crate) fn fold_few<S: Source>(
    leaves: S,
    mut combine: impl FnMut(S::Leaf, S::Leaf) -> S::Leaf,
) -> Option<S::Leaf> {
    match leaves.len() {
        0 => None,
        1..8 => fold_last(leaves.leaves(&mut [leaves.filler(); 8]), &mut combine),
        8..16 => {
            let mut buffer = [leaves.filler(); 8];
            let (first, rest) = leaves.split_at(8);
            let left = eight(first.leaves(&mut buffer), &mut combine);
            let right = fold_last(rest.leaves(&mut buffer), &mut combine);
            Some(right.map_or(left, |right| combine(left, right)))
        }
        _ => Some(Counter::new().finish(leaves, combine)),
    }
}
