//! Exact sums as words, and the operator of exact plans, which merges such sums.

use bytemuck::{cast_slice, cast_slice_mut};
use exact_sum::Accumulator;

use crate::error::RunError;
use crate::operator::WordsOperator;

/// The operator that merges the words of exact sums. Each sum is one item; a rank has one sum, or a row of sums.
pub(crate) fn merge<A: Accumulator>() -> WordsOperator {
    let empty = cast_slice(&[A::default().words()]).to_vec();
    let words = empty.len();
    WordsOperator::new(A::name(), words, Some(empty), |left, right, into| {
        into.copy_from_slice(left);
        let into: &mut [A::Words] = cast_slice_mut(into);
        A::merge_words(&mut into[0], &cast_slice(right)[0]);
    })
}

/// Converts words that this rank has received to a sum.
pub(super) fn of_words<A: Accumulator>(rank: usize, words: &A::Words) -> Result<A, RunError> {
    let mut sum = A::default();
    let added = sum.add_words(words);
    added.map_err(|error| RunError::Limit { rank, error })?;
    Ok(sum)
}

/// Like [`of_words`], for a row.
pub(super) fn sums<A: Accumulator>(rank: usize, words: &[A::Words]) -> Result<Vec<A>, RunError> {
    words.iter().map(|words| of_words(rank, words)).collect()
}

/// Writes the result of `make` for each sum of a row; writes nothing if one of the sums is over its limit.
pub(super) fn write<A: Accumulator, R>(
    rank: usize,
    words: &[A::Words],
    result: &mut [R],
    make: impl Fn(A) -> R,
) -> Result<(), RunError> {
    let checked = words.iter().try_for_each(A::check_words);
    checked.map_err(|error| RunError::Limit { rank, error })?;
    for (made, words) in result.iter_mut().zip(words) {
        *made = make(of_words(rank, words)?);
    }
    Ok(())
}

/// The words of each sum.
pub(super) fn to_words<A: Accumulator>(sums: &[A]) -> Vec<A::Words> {
    sums.iter().map(A::words).collect()
}
