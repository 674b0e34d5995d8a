//! What all exact sums have in common.

use std::fmt;

use bytemuck::Pod;

/// An exact sum of any kind, as messages hold it: [`Sum`](crate::Sum), [`ProductSum`](crate::ProductSum) and their complex kin.
///
/// The words of a merged sum stand for the same as those of its parts' sums added one by one, as MPI adds integers; up to 2^30 parts.
///
/// ```
/// use exact_sum::{Accumulator, Sum};
///
/// let [mut left, mut right] = [Sum::<f64>::new(); 2];
/// left.add(&[1e300, 1.0]);
/// right.add(&[-1e300]);
/// let mut words = left.words();
/// for (word, other) in words.iter_mut().zip(right.words()) {
///     *word += other;
/// }
/// let mut sum = Sum::<f64>::new();
/// sum.add_words(&words);
/// assert_eq!(sum.value(), 1.0);
/// ```
pub trait Accumulator: sealed::Sealed + Clone + Default + fmt::Debug + 'static {
    /// An array of `i64`, or an array of two of them.
    type Words: Pod;

    /// What it is, with the type of its items: ranks compare it.
    fn name() -> String;

    /// The sum as words.
    fn words(&self) -> Self::Words;

    /// Adds the sum that words stand for.
    fn add_words(&mut self, words: &Self::Words);
}

pub(crate) mod sealed {
    /// Other crates cannot implement it.
    pub trait Sealed {}
}
