//! The reductions of one process in tree order. Items are passed as bytes; the program's type code says how to read them.

use std::cell::Cell;

use num_complex::Complex;
use treefold::{Float, Operator, Sum, environment, par};

use crate::element::{Element, ElementType};
use crate::failure::Failure;
use crate::operator::{Builtin, in_words, of_function};
use crate::raw::{Function, elements, elements_mut, put, threads};
use crate::{by_real, by_type};

/// The threads that run a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The caller's thread.
    Caller,
    /// The threads of a pool.
    Pool,
}

/// Up to this number of elements, one thread does all the work, as in `treefold::par`.
const DIVIDED_ELEMENTS: usize = 1 << 17;

/// The most threads that a program can ask for.
const THREADS_MAX: i32 = 65535;

thread_local! {
    /// The number of threads that this thread has set by `treefold_threads`.
    static THREADS: Cell<i32> = const { Cell::new(1) };
}

/// Sets how many threads the calls of this thread may use; 0 for one per core.
///
/// # Errors
/// `count` is negative or too large.
pub(crate) fn set_threads(count: i32) -> Result<(), Failure> {
    if !(0..=THREADS_MAX).contains(&count) {
        let reason = format_args!("it must be from 0 to {THREADS_MAX}, not {count}");
        return Err(Failure::argument("n", reason));
    }
    put_thread_count(count);
    Ok(())
}

fn put_thread_count(count: i32) {
    // A thread that is about to end has no thread-local storage any more.
    let _ = THREADS.try_with(|own| own.set(count));
}

/// The number of threads that [`set_threads`] has set; 0 for one per core.
pub(crate) fn thread_count() -> i32 {
    THREADS.try_with(Cell::get).unwrap_or(1)
}

/// Calls `body` with this thread's setting changed to one thread, and restores the setting.
pub(crate) fn alone<R>(body: impl FnOnce() -> R) -> R {
    struct Restored(i32);
    impl Drop for Restored {
        fn drop(&mut self) {
            put_thread_count(self.0);
        }
    }
    let _restored = Restored(thread_count());
    put_thread_count(1);
    body()
}

/// Runs a reduction of `elements` elements, on the thread pool if so many elements are worth waking it, otherwise on this thread.
///
/// # Errors
/// The threads cannot be started, or the reduction fails.
#[inline]
pub(crate) fn reduce<R: Send, E: Into<Failure> + Send>(
    elements: usize,
    reduce: impl FnOnce(By) -> Result<R, E> + Send,
) -> Result<R, Failure> {
    // The threads of a pool inherit the floating-point environment of the thread that starts them, so this environment must be the default.
    if elements > DIVIDED_ELEMENTS
        && let count = thread_count()
        && count != 1
        && environment::check().is_ok()
    {
        let pool = threads(usize::try_from(count).unwrap_or(0))?;
        return par::install(pool, || reduce(By::Pool)).map_err(Into::into);
    }
    reduce(By::Caller).map_err(Into::into)
}

#[inline]
pub(crate) fn sum<T: Copy + Send + Sync + 'static>(x: &[T]) -> Result<T, Failure>
where
    Sum: Operator<T>,
{
    reduce(x.len(), |by| match by {
        By::Caller => treefold::sum(x),
        By::Pool => par::sum(x),
    })
}

/// The dot product of arrays of the same length.
#[inline]
pub(crate) fn dot<T: Float + Send + Sync>(x: &[T], y: &[T]) -> Result<T, Failure>
where
    Sum: Operator<T>,
{
    // If both factors are the same array, the array is read only once.
    let is_square = x.as_ptr_range() == y.as_ptr_range();
    reduce(x.len(), |by| match (by, is_square) {
        (By::Caller, false) => treefold::dot(x, y),
        (By::Caller, true) => treefold::squared_norm(x),
        (By::Pool, false) => par::dot(x, y),
        (By::Pool, true) => par::squared_norm(x),
    })
}

/// The size of one element, in bytes.
pub(crate) fn element_bytes(element_type: ElementType) -> usize {
    by_type!(element_type, T => size_of::<T>())
}

/// The size of the longest element, in bytes.
pub(crate) const LONGEST_ELEMENT: usize = size_of::<Complex<f64>>();

/// An element of any type.
pub(crate) type AnyElement = [u8; LONGEST_ELEMENT];

/// The alignment of one element, in bytes.
pub(crate) fn alignment(element_type: ElementType) -> usize {
    by_type!(element_type, T => align_of::<T>())
}

/// Writes the reduction of the items to `result`, one item.
pub(crate) fn fold(
    element_type: ElementType,
    operator: Builtin,
    items: &[u8],
    result: &mut [u8],
) -> Result<(), Failure> {
    by_type!(element_type, T => {
        let operator = T::operator(operator)?;
        let items = elements::<T>("items", items)?;
        let value = reduce(items.len(), |by| match by {
            By::Caller => treefold::fold(items, &operator),
            By::Pool => par::fold(items, &operator),
        })?;
        put(value, result);
        Ok(())
    })
}

/// Writes the dot product of two arrays to `result`, one number.
pub(crate) fn dot_of(
    element_type: ElementType,
    [x, y]: [&[u8]; 2],
    result: &mut [u8],
) -> Result<(), Failure> {
    by_real!(element_type, T => {
        put(dot::<T>(elements("x", x)?, elements("y", y)?)?, result);
        Ok(())
    })
}

/// Writes the sum in lanes to `result`, one number.
pub(crate) fn sum_lanes(
    element_type: ElementType,
    x: &[u8],
    lanes: usize,
    result: &mut [u8],
) -> Result<(), Failure> {
    by_real!(element_type, T => {
        let x = elements::<T>("x", x)?;
        let sum = reduce(x.len(), |by| match by {
            By::Caller => treefold::sum_lanes(x, lanes),
            By::Pool => par::sum_lanes(x, lanes),
        })?;
        put(sum, result);
        Ok(())
    })
}

/// Writes the sum of an array, and the sum of its absolute values.
pub(crate) fn sum_and_absolute_sum(
    element_type: ElementType,
    x: &[u8],
    [sum, absolute_sum]: [&mut [u8]; 2],
) -> Result<(), Failure> {
    by_real!(element_type, T => {
        let x = elements::<T>("x", x)?;
        let sums = reduce(x.len(), |by| match by {
            By::Caller => treefold::sum_and_absolute_sum(x),
            By::Pool => par::sum_and_absolute_sum(x),
        })?;
        put(sums.0, sum);
        put(sums.1, absolute_sum);
        Ok(())
    })
}

/// Writes the reduction of rows to `result`, one row.
pub(crate) fn fold_rows(
    element_type: ElementType,
    operator: Builtin,
    items: &[u8],
    width: usize,
    result: &mut [u8],
) -> Result<(), Failure> {
    by_type!(element_type, T => {
        let operator = T::operator(operator)?;
        let items = elements::<T>("items", items)?;
        let result = elements_mut::<T>("result", result)?;
        reduce(items.len(), |by| match by {
            By::Caller => treefold::fold_rows(items, width, &operator, result),
            By::Pool => par::fold_rows(items, width, &operator, result),
        })
    })
}

/// Writes the reduction of each field to `result`, one item per field.
pub(crate) fn fields(
    element_type: ElementType,
    operator: Builtin,
    fields: &[&[u8]],
    result: &mut [u8],
) -> Result<(), Failure> {
    by_type!(element_type, T => {
        let operator = T::operator(operator)?;
        let fields = fields.iter().map(|&field| elements::<T>("fields", field));
        let fields: Vec<&[T]> = fields.collect::<Result<_, _>>()?;
        let longest = fields.first().map_or(0, |field| field.len());
        let values = reduce(longest, |by| match by {
            By::Caller => treefold::fields(&fields, &operator),
            By::Pool => par::fields(&fields, &operator),
        })?;
        result.copy_from_slice(bytemuck::cast_slice(&values));
        Ok(())
    })
}

/// Writes the reduction of items by the caller's operator to `result`, one item.
pub(crate) fn fold_user(
    items: &[u8],
    function: Function,
    empty: Option<&[u8]>,
    result: &mut [u8],
) -> Result<(), Failure> {
    let operator = of_function("the operator".to_owned(), function, empty);
    let items = in_words(items, result.len())?;
    let value = reduce(items.len(), |by| match by {
        By::Caller => operator.fold(&items),
        By::Pool => par::fold_words(&items, &operator),
    })?;
    result.copy_from_slice(&bytemuck::cast_slice(&value)[..result.len()]);
    Ok(())
}

/// The division of an array among the caller's threads. The number of items of a part is a power of two; only the last part may have fewer.
/// Each part is a subtree, so the results of the parts are reduced in tree order, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    items: usize,
    each: usize,
}

/// The minimum number of items in a part, and the maximum number of parts.
const PART_ITEMS: usize = 1 << 15;
const PARTS_MAX: usize = 256;

impl Parts {
    pub(crate) fn of(items: usize) -> Self {
        let each = items.div_ceil(PARTS_MAX).next_power_of_two();
        Self {
            items,
            each: each.max(PART_ITEMS),
        }
    }

    /// The number of parts; 0 if there are no items.
    pub(crate) fn count(self) -> usize {
        self.items.div_ceil(self.each)
    }

    /// One part of an array whose elements have `element_bytes` bytes.
    pub(crate) fn part(self, array: &[u8], element_bytes: usize, part: usize) -> &[u8] {
        let begin = part * self.each;
        let end = self.items.min(begin + self.each);
        &array[begin * element_bytes..end * element_bytes]
    }
}

/// Writes the reduction of the parts' results to `result`, one item.
pub(crate) fn fold_parts(
    element_type: ElementType,
    operator: Builtin,
    parts: &[AnyElement],
    result: &mut [u8],
) -> Result<(), Failure> {
    by_type!(element_type, T => {
        let value = |part: &AnyElement| bytemuck::pod_read_unaligned(&part[..size_of::<T>()]);
        let values: Vec<T> = parts.iter().map(value).collect();
        let operator = T::operator(operator)?;
        put(treefold::fold(&values, &operator)?, result);
        Ok(())
    })
}
