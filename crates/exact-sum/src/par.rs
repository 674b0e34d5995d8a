//! Computes exact sums with the threads of a rayon pool. The values are the same as on one thread.

use std::ops::Range;

use rayon::ThreadPool;

use crate::keyed::{Key, KeyError, Keyed, check, check_lengths};
use crate::number::counters::check_memory;
use crate::number::float::Float;
use crate::slots::product_sum::ProductSum;
use crate::slots::short::are_negative_zeros;
use crate::slots::sum::Sum;

/// The number of items that a thread adds alone: adding them takes about as long as waking another thread.
const GRAIN_ITEMS: usize = 1 << 17;

/// Items with keys are divided into this many parts per thread, if the parts are then long enough. Each part has its own sums by key.
const PARTS_OF_A_THREAD: usize = 4;

/// Runs both tasks, perhaps on two threads of the current rayon pool. Rayon's code is compiled once for all types of tasks.
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
    let done = "both tasks are done";
    (values.0.expect(done), values.1.expect(done))
}

/// Runs a task in a pool. As in [`join`], rayon's code is compiled once for all types of tasks.
#[doc(hidden)]
pub fn install<R: Send>(pool: &ThreadPool, task: impl FnOnce() -> R + Send) -> R {
    fn run(pool: &ThreadPool, task: &mut (dyn FnMut() + Send)) {
        pool.install(task);
    }
    let (mut task, mut value) = (Some(task), None);
    run(pool, &mut || value = task.take().map(|task| task()));
    value.expect("the task is done")
}

/// Divides a range into parts of at most `grain` numbers, applies `leaf` to each part, and merges the results from left to right. The
/// threads of the current rayon pool do the work. This function is compiled once for each type of results.
#[doc(hidden)]
pub fn by_parts<S: Send>(
    range: Range<usize>,
    grain: usize,
    leaf: &(dyn Fn(Range<usize>) -> S + Sync),
    merge: &(dyn Fn(S, S) -> S + Sync),
) -> S {
    let parts = range.len().div_ceil(grain);
    if parts < 2 {
        return leaf(range);
    }
    let middle = range.start + parts / 2 * grain;
    let (left, right) = join(
        || by_parts(range.start..middle, grain, leaf, merge),
        || by_parts(middle..range.end, grain, leaf, merge),
    );
    merge(left, right)
}

/// The exact sum of items, rounded to nearest, computed by the threads of the current rayon pool: see [`sum`](crate::sum).
///
/// ```
/// let x = vec![0.1; 1_000_000];
/// assert_eq!(exact_sum::par::sum(&x), exact_sum::sum(&x));
/// ```
#[must_use]
pub fn sum<T: Float>(items: &[T]) -> T {
    let leaf = |part: Range<usize>| Sum::without_zeros(&items[part]);
    let merge = |mut sum: Sum<T>, part: Sum<T>| {
        sum.total.merge(&part.total);
        sum
    };
    let merged = by_parts(0..items.len(), GRAIN_ITEMS, &leaf, &merge);
    if are_negative_zeros(items) {
        T::NEGATIVE_ZERO
    } else {
        merged.value()
    }
}

/// The exact sum of x0 * y0, x1 * y1, …, rounded to nearest, computed by the threads of the current rayon pool: see [`dot`](crate::dot).
///
/// # Panics
/// The slices differ in length.
#[must_use]
pub fn dot<T: Float>(x: &[T], y: &[T]) -> T {
    products(x, y).value()
}

/// The square root of the exact sum of x0 * x0, x1 * x1, …, rounded to nearest, computed by the threads of the current rayon pool:
/// see [`norm`](crate::norm).
#[must_use]
pub fn norm<T: Float>(x: &[T]) -> T {
    products(x, x).root()
}

fn products<T: Float>(x: &[T], y: &[T]) -> ProductSum<T> {
    assert_eq!(x.len(), y.len(), "the slices differ in length");
    let leaf = |part: Range<usize>| ProductSum::of(&x[part.clone()], &y[part]);
    let merge = |mut sum: ProductSum<T>, part: ProductSum<T>| {
        sum.total.merge(&part.total);
        sum
    };
    by_parts(0..x.len(), GRAIN_ITEMS, &leaf, &merge)
}

/// For each of the keys 0 to `sums` - 1, the exact sum of its items, rounded to nearest. The threads of the current rayon pool compute
/// the sums: see [`by_key`](crate::by_key).
///
/// # Errors
/// Those of [`by_key`](crate::by_key).
pub fn by_key<K: Key, T: Float>(keys: &[K], items: &[T], sums: usize) -> Result<Vec<T>, KeyError> {
    check_lengths(keys, items.len())?;
    check_memory::<T>(sums)?;
    let empty = Keyed::<Sum<T>>::for_such(sums, items)?;
    // Each part has its own sums, which are merged at the end. Splitting saves time only if a part has several items per key. With
    // several parts per thread, all threads end at about the same time.
    let of_thread = items.len().div_ceil(rayon::current_num_threads());
    let of_few_keys = GRAIN_ITEMS.max(sums.saturating_mul(64));
    let of_many_keys = sums.saturating_mul(4);
    let part_items = of_few_keys
        .max(of_thread / PARTS_OF_A_THREAD)
        .min(of_thread);
    let part_items = part_items.max(of_many_keys).max(GRAIN_ITEMS);
    let leaf = |part: Range<usize>| {
        let mut sums = empty.clone();
        sums.add(&keys[part.clone()], &items[part]).map(|()| sums)
    };
    let merge = |left: Result<Keyed<Sum<T>>, KeyError>, right| {
        let (mut sums, part): (_, Keyed<Sum<T>>) = (left?, right?);
        sums.merge(&part)?;
        Ok(sums)
    };
    match by_parts(0..items.len(), part_items, &leaf, &merge) {
        Ok(sums) => Ok(sums.values()),
        // If several parts have an error, the error of the first wrong key is returned.
        Err(error) => Err(check(keys, items.len(), sums).err().unwrap_or(error)),
    }
}
