//! Defines the types of elements that have exact sums, and computes the exact sums of columns.

use std::ops::Range;

use bytemuck::Pod;
use num_complex::Complex;
use rayon::ThreadPool;
use treefold::exact::par::{by_parts, install};
use treefold::exact::{self, Accumulator, ComplexSum, Float, Sum};

use crate::pool::DIVIDED_ELEMENTS;

/// The number of columns that are added at once: the exact sum of a column takes half a kilobyte.
const COLUMNS: usize = 256;

/// The number of rows that are copied at once if a row has more than `COLUMNS` columns.
const ROWS: usize = 512;

pub(crate) trait ExactItem: Pod + Send + Sync {
    /// The type of an item's one or two parts.
    type Part: Float + Pod;

    fn sums(items: &[Self]) -> Vec<Sum<Self::Part>>;
}

macro_rules! real {
    ($($float:ty),+) => {$(
        impl ExactItem for $float {
            type Part = Self;

            fn sums(items: &[Self]) -> Vec<Sum<Self>> {
                let mut sum = Sum::new();
                sum.add(items);
                vec![sum]
            }
        }

        impl ExactItem for Complex<$float> {
            type Part = $float;

            fn sums(items: &[Self]) -> Vec<Sum<$float>> {
                let mut sum = ComplexSum::<$float>::new();
                sum.add(bytemuck::cast_slice(items));
                sum.words().iter().map(sum_of).collect()
            }
        }
    )+};
}

real!(f32, f64);

/// The merged state of `items` items. Calls `of` for ranges of at least `grain` items on a pool's threads, or for all items on this thread.
pub(crate) fn held<S: Send>(
    pool: Option<&ThreadPool>,
    items: usize,
    grain: usize,
    of: &(dyn Fn(Range<usize>) -> S + Sync),
    merge: &(dyn Fn(S, S) -> S + Sync),
) -> S {
    match pool {
        None => of(0..items),
        Some(pool) => install(pool, || by_parts(0..items, grain, of, merge)),
    }
}

/// Why the counts of an array's items cannot overflow.
pub(crate) const FEWER: &str = "memory has room for fewer items";

/// Reads a sum from its words.
pub(crate) fn sum_of<F: Float>(words: &<Sum<F> as Accumulator>::Words) -> Sum<F> {
    let mut sum = Sum::new();
    sum.add_words(words).expect(FEWER);
    sum
}

/// The number of floats in `items` items.
pub(crate) const fn floats<T: ExactItem>(items: usize) -> usize {
    items * (size_of::<T>() / size_of::<T::Part>())
}

/// Writes the exact sum of each column of the rows, rounded once, to `results`, a single row.
pub(crate) fn sums<T: ExactItem>(pool: Option<&ThreadPool>, rows: &[T], results: &mut [T]) {
    let rows: &[T::Part] = bytemuck::cast_slice(rows);
    let results: &mut [T::Part] = bytemuck::cast_slice_mut(results);
    match (pool, results) {
        (None, [result]) => *result = exact::sum(rows),
        (Some(pool), [result]) => *result = exact::par::install(pool, || exact::par::sum(rows)),
        (pool, results) => {
            let width = results.len();
            for (columns, results) in groups(width).zip(results.chunks_mut(COLUMNS)) {
                for (result, sum) in results.iter_mut().zip(add::<T>(pool, rows, width, columns)) {
                    *result = sum.value();
                }
            }
        }
    }
}

/// The ranges of columns that are added at once.
pub(crate) fn groups(width: usize) -> impl Iterator<Item = Range<usize>> {
    let firsts = (0..width).step_by(COLUMNS);
    firsts.map(move |first| first..width.min(first + COLUMNS))
}

/// The exact sums of some columns of rows of `width` floats.
pub(crate) fn add<T: ExactItem>(
    pool: Option<&ThreadPool>,
    rows: &[T::Part],
    width: usize,
    columns: Range<usize>,
) -> Vec<Sum<T::Part>> {
    let of = |part: Range<usize>| {
        add_alone::<T>(
            &rows[part.start * width..part.end * width],
            width,
            columns.clone(),
        )
    };
    let merge = |mut sums: Vec<Sum<T::Part>>, parts: Vec<_>| {
        for (sum, part) in sums.iter_mut().zip(&parts) {
            sum.merge(part).expect(FEWER);
        }
        sums
    };
    let part_rows = DIVIDED_ELEMENTS.div_ceil(columns.len());
    held(pool, rows.len() / width, part_rows, &of, &merge)
}

fn add_alone<T: ExactItem>(
    rows: &[T::Part],
    width: usize,
    columns: Range<usize>,
) -> Vec<Sum<T::Part>> {
    if width == floats::<T>(1) {
        return T::sums(bytemuck::cast_slice(rows));
    }
    let mut sums = vec![Sum::new(); columns.len()];
    if columns.len() == width {
        Sum::add_rows(&mut sums, rows);
        return sums;
    }
    let mut copied = Vec::new();
    for rows in rows.chunks(ROWS * width) {
        copied.clear();
        for row in rows.chunks_exact(width) {
            copied.extend_from_slice(&row[columns.clone()]);
        }
        Sum::add_rows(&mut sums, &copied);
    }
    sums
}
