//! The 8-leaf subtree sum in plain Rust: it defines what every other level computes.

use core::ops::Add;

/// ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)).
#[inline]
pub(crate) fn subtree_sum8<T: Copy + Add<Output = T>>(x: &[T; 8]) -> T {
    ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
}

/// The sums of many.
pub(crate) fn subtree_sums8<T: Copy + Add<Output = T>>(subtrees: &[[T; 8]], sums: &mut [T]) {
    for (sum, subtree) in sums.iter_mut().zip(subtrees) {
        *sum = subtree_sum8(subtree);
    }
}
