//! Exact sums by all threads of a process, on rayon. They have the values of those by one thread.

use rayon::prelude::*;

use crate::counters::check_memory;
use crate::float::Float;
use crate::keyed::{Key, KeyError, KeyedSums, check, check_lengths};
use crate::product_sum::ProductSum;
use crate::short::are_negative_zeros;
use crate::sum::Sum;

/// What a thread adds by itself: about as long as it takes to wake another.
const GRAIN_ITEMS: usize = 1 << 17;

/// The exact sum of items, rounded to nearest, by the threads of the current rayon pool: see [`sum`](crate::sum).
///
/// ```
/// let x = vec![0.1; 1_000_000];
/// assert_eq!(exact_sum::par::sum(&x), exact_sum::sum(&x));
/// ```
#[must_use]
pub fn sum<T: Float>(items: &[T]) -> T {
    let parts = items.par_chunks(GRAIN_ITEMS).map(Sum::without_zeros);
    let merged = parts.reduce(Sum::new, |mut sum, part| {
        sum.total.merge(&part.total);
        sum
    });
    if are_negative_zeros(items) {
        T::NEGATIVE_ZERO
    } else {
        merged.value()
    }
}

/// The exact sum of x0 * y0, x1 * y1, …, rounded to nearest, by the threads of the current rayon pool: see [`dot`](crate::dot).
///
/// # Panics
/// The slices differ in length.
#[must_use]
pub fn dot<T: Float>(x: &[T], y: &[T]) -> T {
    products(x, y).value()
}

/// The square root of the exact sum of x0 * x0, x1 * x1, …, rounded to nearest, by the threads of the current rayon pool: see
/// [`norm`](crate::norm).
#[must_use]
pub fn norm<T: Float>(x: &[T]) -> T {
    products(x, x).root()
}

fn products<T: Float>(x: &[T], y: &[T]) -> ProductSum<T> {
    assert_eq!(x.len(), y.len(), "the slices differ in length");
    let pairs = x.par_chunks(GRAIN_ITEMS).zip(y.par_chunks(GRAIN_ITEMS));
    let parts = pairs.map(|(x, y)| ProductSum::of(x, y));
    parts.reduce(ProductSum::new, |mut sum, part| {
        sum.total.merge(&part.total);
        sum
    })
}

/// The exact sums of the items of each of the keys 0 to `sums` - 1, rounded to nearest, by the threads of the current rayon pool: see
/// [`by_key`](crate::by_key).
///
/// # Errors
/// As [`by_key`](crate::by_key).
pub fn by_key<K: Key, T: Float>(keys: &[K], items: &[T], sums: usize) -> Result<Vec<T>, KeyError> {
    check_lengths(keys, items.len())?;
    check_memory::<T>(sums)?;
    let empty = KeyedSums::for_such(sums, items);
    // Some parts have sums of their own, which are merged: some items a key are worth that, and small parts if the sums are in the caches.
    let of_thread = items.len().div_ceil(rayon::current_num_threads());
    let of_few_keys = GRAIN_ITEMS.max(sums.saturating_mul(64));
    let of_many_keys = sums.saturating_mul(4);
    let part_items = of_thread
        .min(of_few_keys)
        .max(of_many_keys)
        .max(GRAIN_ITEMS);
    let parts = keys
        .par_chunks(part_items)
        .zip(items.par_chunks(part_items));
    let of_threads = parts.try_fold(
        || empty.clone(),
        |mut sums, (keys, items)| sums.add(keys, items).map(|()| sums),
    );
    let merged = of_threads.try_reduce_with(|mut sums, part| {
        sums.merge(&part)?;
        Ok(sums)
    });
    match merged {
        None => Ok(empty.values()),
        Some(Ok(sums)) => Ok(sums.values()),
        // Of several parts' errors, that of the first item.
        Some(Err(error)) => Err(check(keys, items.len(), sums).err().unwrap_or(error)),
    }
}
