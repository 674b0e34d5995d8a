//! Exact sums by all threads of a process, on rayon. They have the values of those by one thread.

use std::ops::Range;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::counters::check_memory;
use crate::float::Float;
use crate::keyed::{Key, KeyError, KeyedSums, check, check_lengths};
use crate::product_sum::ProductSum;
use crate::short::are_negative_zeros;
use crate::sum::Sum;

/// What a thread adds by itself: about as long as it takes to wake another.
const GRAIN_ITEMS: usize = 1 << 17;

/// Does both, perhaps by two threads of the current rayon pool. Rayon is compiled once for tasks of all types.
#[doc(hidden)]
pub fn join<L: Send, R: Send>(
    left: impl FnOnce() -> L + Send,
    right: impl FnOnce() -> R + Send,
) -> (L, R) {
    fn both(left: &mut (dyn FnMut() + Send), right: &mut (dyn FnMut() + Send)) {
        rayon::join(left, right);
    }
    let (mut tasks, mut values) = ((Some(left), Some(right)), (None, None));
    let (left, right) = (&mut tasks.0, &mut tasks.1);
    let (left_value, right_value) = (&mut values.0, &mut values.1);
    both(
        &mut || *left_value = left.take().map(|task| task()),
        &mut || *right_value = right.take().map(|task| task()),
    );
    let done = "both are done";
    (values.0.expect(done), values.1.expect(done))
}

/// Does it in a pool. As [`join`], it has no type to rayon.
#[doc(hidden)]
pub fn install<R: Send>(pool: &ThreadPool, task: impl FnOnce() -> R + Send) -> R {
    fn run(pool: &ThreadPool, task: &mut (dyn FnMut() + Send)) {
        pool.install(task);
    }
    let (mut task, mut value) = (Some(task), None);
    run(pool, &mut || value = task.take().map(|task| task()));
    value.expect("it is done")
}

/// The sum of what `leaf` makes of the parts of a range, by threads.
fn merged<S: Send>(
    range: Range<usize>,
    leaf: &(impl Fn(Range<usize>) -> S + Sync),
    merge: &(impl Fn(&mut S, &S) + Sync),
) -> S {
    let parts = range.len().div_ceil(GRAIN_ITEMS);
    if parts < 2 {
        return leaf(range);
    }
    let middle = range.start + parts / 2 * GRAIN_ITEMS;
    let (mut sum, right) = join(
        || merged(range.start..middle, leaf, merge),
        || merged(middle..range.end, leaf, merge),
    );
    merge(&mut sum, &right);
    sum
}

/// The exact sum of items, rounded to nearest, by the threads of the current rayon pool: see [`sum`](crate::sum).
///
/// ```
/// let x = vec![0.1; 1_000_000];
/// assert_eq!(exact_sum::par::sum(&x), exact_sum::sum(&x));
/// ```
#[must_use]
pub fn sum<T: Float>(items: &[T]) -> T {
    let leaf = |part: Range<usize>| Sum::without_zeros(&items[part]);
    let merge = |sum: &mut Sum<T>, part: &Sum<T>| sum.total.merge(&part.total);
    let merged = merged(0..items.len(), &leaf, &merge);
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
    let leaf = |part: Range<usize>| ProductSum::of(&x[part.clone()], &y[part]);
    let merge = |sum: &mut ProductSum<T>, part: &ProductSum<T>| sum.total.merge(&part.total);
    merged(0..x.len(), &leaf, &merge)
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
