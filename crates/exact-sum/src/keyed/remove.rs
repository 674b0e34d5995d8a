//! Checks whether items can be removed from keys, before any sum changes.

use std::error::Error;
use std::fmt;

use super::key::{Key, KeyError};
use crate::number::counters::{Counters, LimitError, RemoveError, check_items as check_items_of};

/// Items could not be removed. No sum has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoveKeyedError {
    /// The keys are invalid.
    Key(KeyError),
    /// A key has fewer items, or fewer items of one kind, than are to be removed.
    Fewer {
        /// The key.
        key: usize,
        /// The kind and the numbers of items.
        error: RemoveError,
    },
    /// An item's key has no items.
    Unknown {
        /// The number of the item, counted from 0.
        item: usize,
    },
    /// Items cannot be removed from extrema.
    Never,
}

impl From<LimitError> for RemoveKeyedError {
    fn from(error: LimitError) -> Self {
        Self::Key(error.into())
    }
}

impl fmt::Display for RemoveKeyedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            Self::Fewer { key, error } => write!(f, "key {key}: {error}"),
            Self::Unknown { item } => write!(f, "the key of item {item} has no items"),
            Self::Never => f.write_str("items cannot be removed from extrema"),
        }
    }
}

impl Error for RemoveKeyedError {}

/// Checks that each key has at least as many NaNs and infinities as are to be removed from it.
pub(super) fn check_items<K: Key>(
    keys: &[K],
    items: impl Iterator<Item = f64>,
    held: &dyn Fn(usize) -> Counters,
) -> Result<(), RemoveKeyedError> {
    let pairs = keys.iter().map(|key| key.place()).zip(items);
    let specials = pairs.filter(|(_, item)| !item.is_finite());
    let counted = specials.map(|(key, item)| (key, Counters::of_special(item)));
    check_specials(counted.collect(), held)
}

/// Checks that each key has at least as many items of each kind as are to be removed from it. `removed` has one entry per item, in any order.
pub(super) fn check_specials(
    mut removed: Vec<(usize, Counters)>,
    held: &dyn Fn(usize) -> Counters,
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

/// If there is less than one item per this many keys, the items' keys are sorted, because that is faster than visiting all keys.
const KEYS_AN_ITEM: usize = 16;

/// Checks that each key has at least as many items as are to be removed from it.
pub(super) fn check_counts<K: Key>(removed: &[K], counts: &[u64]) -> Result<(), RemoveKeyedError> {
    if removed.len() < counts.len() / KEYS_AN_ITEM {
        return check_few(removed.iter().map(|key| key.place()).collect(), counts);
    }
    let mut sums = vec![0; counts.len()];
    for key in removed {
        sums[key.place()] += 1;
    }
    let mut sums = sums.into_iter().enumerate();
    sums.try_for_each(|(key, sum)| check_count(key, counts[key], sum))
}

fn check_few(mut keys: Vec<usize>, counts: &[u64]) -> Result<(), RemoveKeyedError> {
    keys.sort_unstable();
    let mut of_keys = keys.chunk_by(|left, right| left == right);
    of_keys.try_for_each(|of_key| check_count(of_key[0], counts[of_key[0]], of_key.len() as u64))
}

/// Checks that `removed` items can be removed from a key that has `held` items.
#[inline]
pub(super) fn check_count(key: usize, held: u64, removed: u64) -> Result<(), RemoveKeyedError> {
    check_items_of(held, removed).map_err(|error| RemoveKeyedError::Fewer { key, error })
}
