//! Sums of the columns of rows.

use crate::float::Float;
use crate::sum::Sum;

/// The columns of a tile, which is copied column by column.
const TILE_COLUMNS: usize = 8;

/// The rows of a tile.
const TILE_ROWS: usize = 512;

/// Columns of a tile lie this far apart. A power of two would put all of them into one set of the cache.
const TILE_STRIDE: usize = TILE_ROWS + 8;

impl<T: Float> Sum<T> {
    /// Adds rows of as many items as there are sums: item c of each row to sum c.
    ///
    /// ```
    /// use exact_sum::Sum;
    ///
    /// let mut sums = [Sum::<f64>::new(); 2];
    /// Sum::add_rows(&mut sums, &[1e300, 1.0, 5.0, 2.0, -1e300, 3.0]);
    /// assert_eq!(sums.map(|sum| sum.value()), [5.0, 6.0]);
    /// ```
    ///
    /// # Panics
    /// There are items, and they are not whole rows.
    pub fn add_rows(sums: &mut [Self], rows: &[T]) {
        let width = sums.len();
        assert!(
            rows.len().is_multiple_of(width),
            "{} items are not rows of {width}",
            rows.len()
        );
        if let [sum] = sums {
            return sum.add(rows);
        }
        let mut tile = [[T::ZERO; TILE_STRIDE]; TILE_COLUMNS];
        for rows in rows.chunks(TILE_ROWS * width.max(1)) {
            for (group, sums) in sums.chunks_mut(TILE_COLUMNS).enumerate() {
                let first = group * TILE_COLUMNS;
                let rows = rows.chunks_exact(width);
                let count = rows.len();
                for (index, row) in rows.enumerate() {
                    match row[first..].first_chunk::<TILE_COLUMNS>() {
                        Some(row) => put(&mut tile, index, row),
                        None => put(&mut tile, index, &row[first..]),
                    }
                }
                for (sum, column) in sums.iter_mut().zip(&tile) {
                    sum.add(&column[..count]);
                }
            }
        }
    }
}

/// Copies a row to a tile.
#[inline(always)]
fn put<T: Copy>(tile: &mut [[T; TILE_STRIDE]; TILE_COLUMNS], index: usize, row: &[T]) {
    for (column, &item) in tile.iter_mut().zip(row) {
        column[index] = item;
    }
}
