//! The functions of `treefold.h` that reduce in tree order.

use std::ffi::c_void;
use std::slice;

use bytemuck::Pod;

use super::arrays::{input, place_of, reduced};
use super::guard;
use crate::element::ElementType;
use crate::failure::{self, Failure, Status};
use crate::local;
use crate::operator::Builtin;
use crate::raw::{Bytes, Combine, Function, disjoint, elements, write, write_bytes};

/// Reduces one array to one number.
///
/// # Safety
/// `x` points to n elements, and `result` to one element.
#[inline]
pub(super) unsafe fn one_array<T: Pod>(
    x: *const T,
    n: usize,
    result: *mut T,
    reduce: impl FnOnce(&[T]) -> Result<T, Failure>,
) -> Status {
    guard(|| {
        let place = Bytes::of_place("result", result)?;
        let array = Bytes::of("x", x.cast(), n, size_of::<T>())?;
        disjoint(array, place)?;
        // SAFETY: the caller promises that there are n elements.
        let x = unsafe { array.read(x.cast()) };
        let value = reduce(elements("x", x)?)?;
        // SAFETY: the caller promises that there is room for the result.
        unsafe { write("result", result, value) }
    })
}

/// Reduces two arrays of the same length to one number.
///
/// # Safety
/// `x` points to n elements, `y` to m elements, and `result` to one element.
#[inline]
pub(super) unsafe fn two_arrays<T: Pod>(
    (x, n): (*const T, usize),
    (y, m): (*const T, usize),
    result: *mut T,
    reduce: impl FnOnce(&[T], &[T]) -> Result<T, Failure>,
) -> Status {
    guard(|| {
        let place = Bytes::of_place("result", result)?;
        let x_array = Bytes::of("x", x.cast(), n, size_of::<T>())?;
        let y_array = Bytes::of("y", y.cast(), m, size_of::<T>())?;
        disjoint(x_array, place)?;
        disjoint(y_array, place)?;
        if n != m {
            return Err(failure::lengths(n, m));
        }
        // SAFETY: the caller promises that there are n elements.
        let x = unsafe { x_array.read(x.cast()) };
        // SAFETY: the caller promises that there are m elements.
        let y = unsafe { y_array.read(y.cast()) };
        let value = reduce(elements("x", x)?, elements("y", y)?)?;
        // SAFETY: the caller promises that there is room for the result.
        unsafe { write("result", result, value) }
    })
}

/// Defines functions that reduce one array of `float` or `double`.
macro_rules! of_one_array {
    ($($function:ident, $float:ty, $reduce:path;)+) => {$(
        /// See `treefold.h`.
        ///
        /// # Safety
        /// `x` points to n numbers, and `result` to one number.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            x: *const $float,
            n: usize,
            result: *mut $float,
        ) -> $crate::failure::Status {
            // SAFETY: the caller promises what the callee requires.
            unsafe { $crate::boundary::tree::one_array(x, n, result, $reduce) }
        }
    )+};
}

/// Defines functions that reduce two arrays of `float` or `double`.
macro_rules! of_two_arrays {
    ($($function:ident, $float:ty, $reduce:path;)+) => {$(
        /// See `treefold.h`.
        ///
        /// # Safety
        /// `x` points to n numbers, `y` to m numbers, and `result` to one number.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            x: *const $float,
            n: usize,
            y: *const $float,
            m: usize,
            result: *mut $float,
        ) -> $crate::failure::Status {
            // SAFETY: the caller promises what the callee requires.
            unsafe { $crate::boundary::tree::two_arrays((x, n), (y, m), result, $reduce) }
        }
    )+};
}

pub(super) use {of_one_array, of_two_arrays};

of_one_array! {
    treefold_sum_f32, f32, local::sum;
    treefold_sum_f64, f64, local::sum;
}

of_two_arrays! {
    treefold_dot_f32, f32, local::dot;
    treefold_dot_f64, f64, local::dot;
}

/// Reduces n items of any type with any operator.
///
/// # Safety
/// `items` points to n elements of the type, and `result` to one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fold(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let operator = Builtin::of_code(op)?;
        let fold = |[items]: [&[u8]; 1], value: &mut [u8]| {
            local::fold(element_type, operator, items, value)
        };
        // SAFETY: the caller promises what the callee requires.
        unsafe { reduced(element_type, [("items", items, n)], result, fold) }
    })
}

/// Reduces rows, element by element.
///
/// # Safety
/// `items` points to n elements of the type, and `result` to m elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fold_rows(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    width: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let operator = Builtin::of_code(op)?;
        let results = Bytes::of("result", result, m, local::element_bytes(element_type))?;
        // SAFETY: the caller promises that there are n elements.
        let items = unsafe { input(("items", items, n), element_type, &[results]) }?;
        // SAFETY: the caller promises that there are m elements. They do not overlap the items, as was just checked.
        let result = unsafe { results.write(result) };
        local::fold_rows(element_type, operator, items, width, result)
    })
}

/// Reduces several fields, each to one item.
///
/// # Safety
/// `fields` points to `count` pointers, each of which points to n elements of the type. `result` points to `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fields(
    element_type: i32,
    op: i32,
    fields: *const *const c_void,
    count: usize,
    n: usize,
    result: *mut c_void,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let operator = Builtin::of_code(op)?;
        let element_bytes = local::element_bytes(element_type);
        let alignment = local::alignment(element_type);
        let pointers = Bytes::of("fields", fields.cast(), count, size_of::<*const c_void>())?;
        let pointers = pointers.aligned(align_of::<*const c_void>())?;
        let results = Bytes::of("result", result, count, element_bytes)?.aligned(alignment)?;
        disjoint(pointers, results)?;
        let pointers = match count {
            0 => &[],
            // SAFETY: `fields` is aligned and not NULL, as was just checked, and the caller promises `count` pointers there.
            _ => unsafe { slice::from_raw_parts(fields, count) },
        };
        let mut arrays = Vec::with_capacity(count);
        for (index, &field) in pointers.iter().enumerate() {
            let array = Bytes::of("fields", field, n, element_bytes).and_then(|array| {
                let array = array.aligned(alignment)?;
                disjoint(array, results)?;
                Ok(array)
            });
            let array = array.map_err(|failure| failure.of_element("fields", index))?;
            // SAFETY: the caller promises that there are n elements at each pointer.
            arrays.push(unsafe { array.read(field) });
        }
        // SAFETY: the caller promises that there are `count` elements. They overlap no field, as was just checked.
        let result = unsafe { results.write(result) };
        local::fields(element_type, operator, &arrays, result)
    })
}

/// Reduces n items with the caller's operator.
///
/// # Safety
/// `items` points to n items of `item_bytes` bytes, `empty` points to one item or is NULL, and `result` points to one item. The operator is
/// as [`Function::new`] requires. If this thread has allowed several threads, they may call the operator at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fold_user(
    items: *const c_void,
    n: usize,
    item_bytes: usize,
    combine: Combine,
    context: *mut c_void,
    empty: *const c_void,
    result: *mut c_void,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises that the operator behaves as `treefold.h` requires.
        let function = unsafe { Function::new(item_bytes, combine, context) }?;
        let place = Bytes::of("result", result, 1, item_bytes)?;
        let array = Bytes::of("items", items, n, item_bytes)?;
        let empty_item = Bytes::of("empty", empty, usize::from(!empty.is_null()), item_bytes)?;
        disjoint(array, place)?;
        disjoint(empty_item, place)?;
        // SAFETY: the caller promises that there are n items.
        let items = unsafe { array.read(items) };
        // SAFETY: the caller promises that `empty` points to one item or is NULL.
        let empty = unsafe { empty_item.read(empty) };
        let empty = (!empty.is_empty()).then_some(empty);
        let mut value = vec![0; item_bytes];
        local::fold_user(items, function, empty, &mut value)?;
        // SAFETY: the caller promises that there is room for an item, which cannot overlap this function's own `value`.
        unsafe { write_bytes("result", result, &value) }
    })
}

/// Writes the dot product.
///
/// # Safety
/// `x` points to n elements of the type, `y` to m elements, and `result` to one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_dot(
    element_type: i32,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { dot_by(element_type, (x, n), (y, m), result, local::dot_of) }
}

/// Checks both arrays, and writes the result of the function `dot` on them.
///
/// # Safety
/// `x` points to n elements of the type, `y` to m elements, and `result` to one element.
pub(super) unsafe fn dot_by(
    element_type: i32,
    (x, n): (*const c_void, usize),
    (y, m): (*const c_void, usize),
    result: *mut c_void,
    dot: impl FnOnce(ElementType, [&[u8]; 2], &mut [u8]) -> Result<(), Failure>,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let dot = |arrays: [&[u8]; 2], value: &mut [u8]| {
            if n != m {
                return Err(failure::lengths(n, m));
            }
            dot(element_type, arrays, value)
        };
        // SAFETY: the caller promises what the callee requires.
        unsafe { reduced(element_type, [("x", x, n), ("y", y, m)], result, dot) }
    })
}

/// Writes the sum in lanes.
///
/// # Safety
/// `x` points to n elements of the type, and `result` to one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_lanes(
    element_type: i32,
    x: *const c_void,
    n: usize,
    lanes: usize,
    result: *mut c_void,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let sum =
            |[x]: [&[u8]; 1], value: &mut [u8]| local::sum_lanes(element_type, x, lanes, value);
        // SAFETY: the caller promises what the callee requires.
        unsafe { reduced(element_type, [("x", x, n)], result, sum) }
    })
}

/// Writes the sum of an array, and the sum of its absolute values.
///
/// # Safety
/// `x` points to n elements of the type, and `sum` and `absolute_sum` to one element each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_and_absolute_sum(
    element_type: i32,
    x: *const c_void,
    n: usize,
    sum: *mut c_void,
    absolute_sum: *mut c_void,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let places = [
            place_of("sum", sum, element_type)?,
            place_of("absolute_sum", absolute_sum, element_type)?,
        ];
        disjoint(places[0], places[1])?;
        // SAFETY: the caller promises that there are n elements.
        let x = unsafe { input(("x", x, n), element_type, &places) }?;
        // SAFETY: the caller promises that there is room for an element.
        let sum = unsafe { places[0].write(sum) };
        // SAFETY: as before, and the two do not overlap, as was just checked.
        let absolute_sum = unsafe { places[1].write(absolute_sum) };
        local::sum_and_absolute_sum(element_type, x, [sum, absolute_sum])
    })
}
