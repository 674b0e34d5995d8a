//! Sums of the columns of rows.

use crate::float::Float;
use crate::sum::Sum;

/// The columns and the rows of a tile, which is copied column by column: 128 KiB of doubles.
const TILE_COLUMNS: usize = 32;
const TILE_ROWS: usize = 512;

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
        let mut tile = vec![T::ZERO; TILE_COLUMNS.min(width) * TILE_ROWS];
        for rows in rows.chunks(TILE_ROWS * width.max(1)) {
            let count = rows.len() / width;
            for (group, sums) in sums.chunks_mut(TILE_COLUMNS).enumerate() {
                let first = group * TILE_COLUMNS;
                for (index, row) in rows.chunks_exact(width).enumerate() {
                    let places = tile[index..].iter_mut().step_by(TILE_ROWS);
                    for (place, &item) in places.zip(&row[first..][..sums.len()]) {
                        *place = item;
                    }
                }
                for (sum, column) in sums.iter_mut().zip(tile.chunks_exact(TILE_ROWS)) {
                    sum.add(&column[..count]);
                }
            }
        }
    }
}
