//! Several columns by key at once.

use simd_kernels::Pair;

use super::KeyedSums;
use super::key::{self, Key, KeyError};
use super::remove::RemoveKeyedError;
use crate::number::counters::LimitError;
use crate::number::float::Float;

/// The rows whose places are computed at once.
const BLOCK_ROWS: usize = 256;

/// A sum for each column of the rows of each of the keys 0 to K - 1, exact until it is rounded: [`KeyedSums`] of items that have several columns.
///
/// ```
/// use exact_sum::KeyedColumns;
///
/// let mut sums = KeyedColumns::<f64>::new(2, 3)?;
/// sums.add(&[1, 0, 1_u8], &[1e300, 1.0, 0.1, 2.0, 2.0, 2.0, -1e300, 3.0, 0.2])?;
/// assert_eq!(sums.values(), [2.0, 2.0, 2.0, 0.0, 4.0, 0.1 + 0.2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyedColumns<T: Float> {
    keys: usize,
    columns: usize,
    /// That of column c of key k is number k * columns + c.
    sums: KeyedSums<T>,
}

impl<T: Float> KeyedColumns<T> {
    /// Sums of no rows, for so many keys and columns.
    ///
    /// # Panics
    /// There is no column.
    ///
    /// # Errors
    /// No memory has room for so many sums.
    pub fn new(keys: usize, columns: usize) -> Result<Self, LimitError> {
        assert_ne!(columns, 0, "rows have columns");
        let bytes = [keys, columns, size_of::<Pair>()].map(|number| number as u128);
        let bytes = bytes
            .iter()
            .fold(1, |product: u128, number| product.saturating_mul(*number));
        if bytes > isize::MAX as u128 {
            return Err(LimitError::Memory { bytes });
        }
        Ok(Self {
            keys,
            columns,
            sums: KeyedSums::new(keys * columns),
        })
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Adds rows, which follow each other, to the sums of their keys.
    ///
    /// # Panics
    /// The items are not whole rows.
    ///
    /// # Errors
    /// There are not as many keys as rows, or a key has no sum. No sum has changed then.
    pub fn add<K: Key>(&mut self, keys: &[K], rows: &[T]) -> Result<(), KeyError> {
        self.check(keys, rows)?;
        self.sums.check_room(rows)?;
        for (places, rows) in self.blocks(keys, rows) {
            self.sums.add(&places, rows).expect("the keys are right");
        }
        Ok(())
    }

    /// Takes back rows that were added with these keys.
    ///
    /// # Panics
    /// The items are not whole rows.
    ///
    /// # Errors
    /// As [`KeyedSums::remove`]. The key of an error of a special item is that of [`values`](Self::values).
    pub fn remove<K: Key>(&mut self, keys: &[K], rows: &[T]) -> Result<(), RemoveKeyedError> {
        self.check(keys, rows).map_err(RemoveKeyedError::Key)?;
        let places: Vec<usize> = places(keys, self.columns).collect();
        self.sums.remove(&places, rows)
    }

    fn check<K: Key>(&self, keys: &[K], rows: &[T]) -> Result<(), KeyError> {
        assert!(
            rows.len().is_multiple_of(self.columns),
            "{} items are not whole rows of {}",
            rows.len(),
            self.columns
        );
        key::check(keys, rows.len() / self.columns, self.keys)
    }

    /// Some rows at a time, with the places of their items' sums.
    fn blocks<'r, K: Key>(
        &self,
        keys: &'r [K],
        rows: &'r [T],
    ) -> impl Iterator<Item = (Vec<usize>, &'r [T])> + use<'r, K, T> {
        let columns = self.columns;
        let blocks = keys.chunks(BLOCK_ROWS);
        let blocks = blocks.zip(rows.chunks(BLOCK_ROWS * columns));
        blocks.map(move |(keys, rows)| (places(keys, columns).collect(), rows))
    }

    /// Adds other sums of as many columns, key by key. If they have more keys, so will these.
    ///
    /// # Panics
    /// They have another number of columns.
    ///
    /// # Errors
    /// As [`KeyedSums::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        assert_eq!(self.columns, other.columns, "the columns differ in number");
        self.sums.merge(&other.sums)?;
        self.keys = self.keys.max(other.keys);
        Ok(())
    }

    /// The bytes that are allocated.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.sums.memory()
    }

    /// The sums of all keys, each a row, rounded once.
    #[must_use]
    pub fn values(&self) -> Vec<T> {
        self.sums.values()
    }
}

impl<T: Float> PartialEq for KeyedColumns<T> {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns && self.sums == other.sums
    }
}

impl<T: Float> Eq for KeyedColumns<T> {}

fn places<K: Key>(keys: &[K], columns: usize) -> impl Iterator<Item = usize> {
    let rows = keys.iter().map(move |key| key.place() * columns);
    rows.flat_map(move |first| first..first + columns)
}
