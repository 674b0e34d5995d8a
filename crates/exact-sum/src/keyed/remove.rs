//! Items that are taken back.

use std::error::Error;
use std::fmt;

use super::key::KeyError;
use crate::counters::{Counters, RemoveError};

/// Items that cannot be removed. No sum has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoveKeyedError {
    /// The keys cannot be.
    Key(KeyError),
    /// A key has fewer items, or fewer of a kind.
    Fewer {
        /// The key.
        key: usize,
        /// Which kind.
        error: RemoveError,
    },
}

impl fmt::Display for RemoveKeyedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            Self::Fewer { key, error } => write!(f, "key {key}: {error}"),
        }
    }
}

impl Error for RemoveKeyedError {}

/// Whether keys hold as many items of each kind as are to be removed: one entry for each of these, in any order.
pub(super) fn check_specials(
    mut removed: Vec<(usize, Counters)>,
    held: impl Fn(usize) -> Counters,
) -> Result<(), RemoveKeyedError> {
    removed.sort_unstable_by_key(|(key, _)| *key);
    for of_key in removed.chunk_by(|left, right| left.0 == right.0) {
        let key = of_key[0].0;
        let mut sum = Counters::default();
        for (_, counters) in of_key {
            sum.merge(counters.of_specials());
        }
        let left = held(key).of_specials().without(sum);
        left.map_err(|error| RemoveKeyedError::Fewer { key, error })?;
    }
    Ok(())
}

/// Whether keys have as many items as are to be removed.
pub(super) fn check_counts(
    removed: impl Iterator<Item = usize>,
    counts: &[u64],
) -> Result<(), RemoveKeyedError> {
    let mut sums = vec![Counters::default(); counts.len()];
    removed.for_each(|key| sums[key].items += 1);
    for (key, (sum, held)) in sums.iter().zip(counts).enumerate() {
        let held = Counters {
            items: held.cast_signed(),
            ..Counters::default()
        };
        held.without(*sum)
            .map_err(|error| RemoveKeyedError::Fewer { key, error })?;
    }
    Ok(())
}
