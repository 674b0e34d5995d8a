//! Sums the columns of rows.
//!
//! Adjacent columns are added in the lanes of registers, each at its own scale. A column whose items do not all fit its scale is
//! copied, and added as a slice.

use simd_kernels::{Exponents, Level, Quiet, SPLIT_ROWS, SplitScale, split_columns, without_traps};

use crate::number::blocks::FIRST_ITEMS;
use crate::number::float::Float;
use crate::slots::sum::Sum;

/// The number of adjacent columns that are added together.
const GROUP_COLUMNS: usize = 48;

impl<T: Float> Sum<T> {
    /// Adds rows of one item per sum: item c of each row to sum c.
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
            "{} items are not whole rows of {width}",
            rows.len()
        );
        if let [sum] = sums {
            return sum.add(rows);
        }
        let quiet = Quiet::now();
        if quiet.is_none() && without_traps(&mut || Self::add_rows(sums, rows)) {
            return;
        }
        let level = Level::best();
        let mut buffer = Vec::with_capacity(SPLIT_ROWS);
        for rows in rows.chunks(SPLIT_ROWS * width.max(1)) {
            for (group, sums) in sums.chunks_mut(GROUP_COLUMNS).enumerate() {
                let first = group * GROUP_COLUMNS;
                let mut is_added = [false; GROUP_COLUMNS];
                if quiet.is_some() {
                    let columns = first..first + sums.len();
                    T::columns_in_doubles(rows, width, columns, |rows, width, first| {
                        is_added = add_beside_each_other(level, sums, rows, width, first);
                    });
                }
                let others = sums.iter_mut().zip(first..).zip(is_added);
                for ((sum, column), _) in others.filter(|(_, is_added)| !is_added) {
                    buffer.clear();
                    buffer.extend(column_of(rows, width, column));
                    sum.add(&buffer);
                }
            }
        }
        if let Some(quiet) = quiet {
            quiet.forget_since();
        }
    }
}

/// Adds columns to `sums`, one column to each sum, beginning with column `first`. Returns which columns were added.
fn add_beside_each_other<T: Float>(
    level: Level,
    sums: &mut [Sum<T>],
    rows: &[f64],
    width: usize,
    first: usize,
) -> [bool; GROUP_COLUMNS] {
    let mut scales = [SplitScale::for_exponent(0).expect("0 is in range"); GROUP_COLUMNS];
    for ((scale, sum), column) in scales.iter_mut().zip(&*sums).zip(first..) {
        let mut first = [0.0; FIRST_ITEMS];
        for (first, item) in first.iter_mut().zip(column_of(rows, width, column)) {
            *first = item;
        }
        let exponents = || Exponents::of(Level::SCALAR, &first);
        *scale = sum.guess(exponents).unwrap_or(*scale);
    }
    let mut splits = [None; GROUP_COLUMNS];
    let count = sums.len();
    let (scales, splits) = (&scales[..count], &mut splits[..count]);
    split_columns(level, rows, width, first, scales, splits);
    let mut is_added = [false; GROUP_COLUMNS];
    let columns = sums.iter_mut().zip(scales).zip(splits).zip(&mut is_added);
    for ((((sum, &scale), split), is_added), column) in columns.zip(first..) {
        if let Some(split) = *split {
            sum.add_split(column_of(rows, width, column), split, scale);
            *is_added = true;
        }
    }
    is_added
}

/// The items of a column.
fn column_of<T: Copy>(rows: &[T], width: usize, column: usize) -> impl ExactSizeIterator<Item = T> {
    rows[column..].iter().step_by(width).copied()
}
