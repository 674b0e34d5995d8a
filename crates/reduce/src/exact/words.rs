//! Exact sums as words, and the operator of exact plans, which merges them.

use std::fmt;
use std::marker::PhantomData;

use bytemuck::Zeroable;
use exact_sum::Accumulator;

use crate::error::RunError;
use crate::operator::Operator;

/// Merges the words of exact sums.
pub(crate) struct Merge<A> {
    /// What they are sums of.
    name: String,
    accumulator: PhantomData<fn() -> A>,
}

impl<A: Accumulator> Merge<A> {
    pub(crate) fn new() -> Self {
        Self {
            name: A::name(),
            accumulator: PhantomData,
        }
    }
}

impl<A> fmt::Debug for Merge<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<A: Accumulator> Operator<A::Words> for Merge<A> {
    fn name(&self) -> &str {
        &self.name
    }

    fn combine(&self, mut left: A::Words, right: A::Words) -> A::Words {
        A::merge_words(&mut left, &right);
        left
    }

    fn empty(&self) -> Option<A::Words> {
        Some(A::default().words())
    }

    /// There is one form of the words of a sum.
    fn canonical(&self, words: A::Words) -> A::Words {
        words
    }

    /// A rank's sum is one item.
    fn fold_runs(&self, items: &[A::Words], lengths: &[usize], results: &mut [A::Words]) {
        assert!(lengths.iter().all(|&length| length == 1));
        results.copy_from_slice(items);
    }

    fn fold_rows(
        &self,
        items: &[A::Words],
        _width: usize,
        _scratch: &mut Vec<A::Words>,
        result: &mut [A::Words],
    ) -> Option<()> {
        copy_row(items, result)
    }

    fn combine_rows(&self, left: &[A::Words], right: &[A::Words], into: &mut [A::Words]) {
        into.copy_from_slice(left);
        for (into, right) in into.iter_mut().zip(right) {
            A::merge_words(into, right);
        }
    }

    fn combine_rows_canonical(&self, left: &[A::Words], right: &[A::Words], into: &mut [A::Words]) {
        self.combine_rows(left, right, into);
    }

    fn make_canonical(&self, _row: &mut [A::Words]) {}

    fn copy_canonical(&self, row: &[A::Words], into: &mut [A::Words]) {
        into.copy_from_slice(row);
    }
}

/// Folds a rank's rows where it has one: copies it.
pub(super) fn copy_row<T: Copy>(row: &[T], result: &mut [T]) -> Option<()> {
    result.copy_from_slice(row);
    Some(())
}

/// What words stand for that this rank got.
pub(super) fn of_words<A: Accumulator>(rank: usize, words: &A::Words) -> Result<A, RunError> {
    let mut sum = A::default();
    let added = sum.add_words(words);
    added.map_err(|error| RunError::Limit { rank, error })?;
    Ok(sum)
}

/// The same of a row.
pub(super) fn sums<A: Accumulator>(rank: usize, words: &[A::Words]) -> Result<Vec<A>, RunError> {
    words.iter().map(|words| of_words(rank, words)).collect()
}

/// Sums as words.
pub(super) fn to_words<A: Accumulator>(sums: &[A]) -> Vec<A::Words> {
    sums.iter().map(A::words).collect()
}

/// Words of sums of nothing.
pub(super) fn zeroed<A: Accumulator>(count: usize) -> Vec<A::Words> {
    vec![A::Words::zeroed(); count]
}
