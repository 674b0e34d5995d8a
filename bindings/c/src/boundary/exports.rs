//! The functions of `treefold.h`, in its order.

use std::ffi::{c_char, c_void};
use std::slice;

use num_complex::Complex;

use super::pointers::{disjoint, elements, elements_mut, write, write_bytes};
use super::{Bytes, Combine, Function, guard};
use crate::element::ElementType;
use crate::exact;
use crate::failure::{self, Code, Failure, Status};
use crate::local::{self, By};
use crate::operator::{Builtin, Words};

/// The version: 10000 times the major number, plus 100 times the minor one, plus the patch.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_version() -> u32 {
    let number = |text: &str| text.parse::<u32>().expect("cargo checks versions");
    10_000 * number(env!("CARGO_PKG_VERSION_MAJOR"))
        + 100 * number(env!("CARGO_PKG_VERSION_MINOR"))
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// What went wrong in this thread's last call that failed.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_last_error() -> *const c_char {
    failure::last_message()
}

/// The rank that the last error of this thread is about, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_last_error_rank() -> i32 {
    let rank = failure::last_rank().and_then(|rank| i32::try_from(rank).ok());
    rank.unwrap_or(-1)
}

/// The name of a code.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_status_name(status: Status) -> *const c_char {
    Code::name(status).as_ptr()
}

/// A reduction of one array to one number.
///
/// # Safety
/// `x` has n elements, and `result` is one.
#[inline]
unsafe fn one_array<T: bytemuck::Pod, R: bytemuck::Pod, E: Into<Failure>>(
    x: *const T,
    n: usize,
    result: *mut R,
    reduce: impl FnOnce(&[T]) -> Result<R, E>,
) -> Status {
    guard(|| {
        let place = Bytes::of_place("result", result)?;
        let array = Bytes::of("x", x.cast(), n, size_of::<T>())?;
        disjoint(array, place)?;
        // SAFETY: the caller promises n elements.
        let x = unsafe { array.read(x.cast()) };
        let value = reduce(elements("x", x)?).map_err(Into::into)?;
        // SAFETY: the caller promises room for the result.
        unsafe { write("result", result, value) }
    })
}

/// A dot product.
///
/// # Safety
/// `x` has n elements, `y` has m, and `result` is one.
#[inline]
unsafe fn two_arrays<T: bytemuck::Pod, E: Into<Failure>>(
    (x, n): (*const T, usize),
    (y, m): (*const T, usize),
    result: *mut T,
    reduce: impl FnOnce(&[T], &[T]) -> Result<T, E>,
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
        // SAFETY: the caller promises n elements.
        let x = unsafe { x_array.read(x.cast()) };
        // SAFETY: the caller promises m elements.
        let y = unsafe { y_array.read(y.cast()) };
        let value = reduce(elements("x", x)?, elements("y", y)?).map_err(Into::into)?;
        // SAFETY: the caller promises room for the result.
        unsafe { write("result", result, value) }
    })
}

/// A sum, and that of the absolute values.
///
/// # Safety
/// `x` has n elements, and `sum` and `absolute_sum` are one each.
#[inline]
unsafe fn two_results<T: bytemuck::Pod, E: Into<Failure>>(
    x: *const T,
    n: usize,
    (sum, absolute_sum): (*mut T, *mut T),
    reduce: impl FnOnce(&[T]) -> Result<(T, T), E>,
) -> Status {
    guard(|| {
        let sum_place = Bytes::of_place("sum", sum)?;
        let absolute_place = Bytes::of_place("absolute_sum", absolute_sum)?;
        let array = Bytes::of("x", x.cast(), n, size_of::<T>())?;
        disjoint(sum_place, absolute_place)?;
        disjoint(array, sum_place)?;
        disjoint(array, absolute_place)?;
        // SAFETY: the caller promises n elements.
        let x = unsafe { array.read(x.cast()) };
        let (value, absolute_value) = reduce(elements("x", x)?).map_err(Into::into)?;
        // SAFETY: the caller promises room for the result.
        unsafe { write("sum", sum, value) }?;
        // SAFETY: the caller promises room for the result.
        unsafe { write("absolute_sum", absolute_sum, absolute_value) }
    })
}

/// `treefold_fold` and `treefold_par_fold`.
///
/// # Safety
/// `items` are n elements of the type, and `result` is one.
unsafe fn fold(
    by: By,
    (element_type, operator): (i32, i32),
    (items, n): (*const c_void, usize),
    result: *mut c_void,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let operator = Builtin::of_code(operator)?;
        let element_bytes = local::element_bytes(element_type);
        let place = Bytes::of("result", result, 1, element_bytes)?;
        let array = Bytes::of("items", items, n, element_bytes)?;
        disjoint(array, place.aligned(local::alignment(element_type))?)?;
        // SAFETY: the caller promises n elements.
        let items = unsafe { array.read(items) };
        let mut value = [0; size_of::<Complex<f64>>()];
        let value = &mut value[..element_bytes];
        local::fold(by, element_type, operator, items, value)?;
        // SAFETY: the caller promises room for an element, and `value` is on this stack.
        unsafe { write_bytes("result", result, value) }
    })
}

/// `treefold_fold_rows` and `treefold_par_fold_rows`.
///
/// # Safety
/// `items` are n elements of the type, and `result` are m.
unsafe fn fold_rows(
    by: By,
    (element_type, operator): (i32, i32),
    (items, n): (*const c_void, usize),
    width: usize,
    (result, m): (*mut c_void, usize),
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let operator = Builtin::of_code(operator)?;
        let element_bytes = local::element_bytes(element_type);
        let items_array = Bytes::of("items", items, n, element_bytes)?;
        let result_array = Bytes::of("result", result, m, element_bytes)?;
        disjoint(items_array, result_array)?;
        // SAFETY: the caller promises n elements.
        let items = unsafe { items_array.read(items) };
        // SAFETY: the caller promises m elements, which are no items, as was just found.
        let result = unsafe { result_array.write(result) };
        local::fold_rows(by, element_type, operator, items, width, result)
    })
}

/// `treefold_fields` and `treefold_par_fields`.
///
/// # Safety
/// `fields` are `count` pointers to n elements of the type each, and `result` are `count` elements.
unsafe fn fields(
    by: By,
    (element_type, operator): (i32, i32),
    (fields, count, n): (*const *const c_void, usize, usize),
    result: *mut c_void,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let operator = Builtin::of_code(operator)?;
        let element_bytes = local::element_bytes(element_type);
        let alignment = local::alignment(element_type);
        let pointers = Bytes::of("fields", fields.cast(), count, size_of::<*const c_void>())?;
        let pointers = pointers.aligned(align_of::<*const c_void>())?;
        let result_array = Bytes::of("result", result, count, element_bytes)?.aligned(alignment)?;
        disjoint(pointers, result_array)?;
        let pointers = match count {
            0 => &[],
            // SAFETY: the caller promises `count` pointers; they are not NULL and aligned, as was just found.
            _ => unsafe { slice::from_raw_parts(fields, count) },
        };
        let mut arrays = Vec::with_capacity(count);
        for &field in pointers {
            let array = Bytes::of("fields", field, n, element_bytes)?;
            disjoint(array, result_array)?;
            // SAFETY: the caller promises n elements at each.
            arrays.push(unsafe { array.read(field) });
        }
        // SAFETY: the caller promises `count` elements, which no field has, as was just found.
        let result = unsafe { result_array.write(result) };
        local::fields(by, element_type, operator, &arrays, result)
    })
}

/// `treefold_fold_user` and `treefold_par_fold_user`.
///
/// # Safety
/// `items` are n items of so many bytes, `empty` is NULL or one, `result` is one, and the operator is as in [`Function::new`].
unsafe fn fold_user(
    by: By,
    (items, n): (*const c_void, usize),
    item_bytes: usize,
    (combine, context): (Combine, *mut c_void),
    empty: *const c_void,
    result: *mut c_void,
) -> Status {
    guard(|| {
        Words::of_item(item_bytes)?;
        // SAFETY: the caller promises such an operator.
        let function = unsafe { Function::new(combine, context) }?;
        let place = Bytes::of("result", result, 1, item_bytes)?;
        let array = Bytes::of("items", items, n, item_bytes)?;
        let empty_item = Bytes::of("empty", empty, usize::from(!empty.is_null()), item_bytes)?;
        disjoint(array, place)?;
        disjoint(empty_item, place)?;
        // SAFETY: the caller promises n items.
        let items = unsafe { array.read(items) };
        // SAFETY: the caller promises one item, or NULL.
        let empty = unsafe { empty_item.read(empty) };
        let empty = (!empty.is_empty()).then(|| empty.to_vec());
        let mut value = vec![0; item_bytes];
        local::fold_user(by, item_bytes, items, function, empty, &mut value)?;
        // SAFETY: the caller promises room for an item, and `value` is this function's.
        unsafe { write_bytes("result", result, &value) }
    })
}

/// `treefold_exact_sum_rows_…`.
///
/// # Safety
/// `items` are n elements, and `result` are m.
unsafe fn exact_sum_rows<T: treefold::exact::Float + bytemuck::Pod>(
    (items, n): (*const T, usize),
    width: usize,
    (result, m): (*mut T, usize),
) -> Status {
    guard(|| {
        let (items, result) = (items.cast(), result.cast());
        let items_array = Bytes::of("items", items, n, size_of::<T>())?;
        let result_array = Bytes::of("result", result, m, size_of::<T>())?;
        disjoint(items_array, result_array)?;
        // SAFETY: the caller promises n elements.
        let items = unsafe { items_array.read(items) };
        // SAFETY: the caller promises m elements, which are no items, as was just found.
        let result = unsafe { result_array.write(result) };
        let items = elements::<T>("items", items)?;
        exact::sum_rows(items, width, elements_mut("result", result)?)
    })
}

/// The sum of n numbers.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_f32(x: *const f32, n: usize, result: *mut f32) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, treefold::sum) }
}

/// The sum of n numbers.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_f64(x: *const f64, n: usize, result: *mut f64) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, treefold::sum) }
}

/// The sum of n complex numbers.
///
/// # Safety
/// `x` has 2 n numbers, and `result` has 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_c32(x: *const f32, n: usize, result: *mut f32) -> Status {
    let (x, result) = (x.cast::<Complex<f32>>(), result.cast());
    // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.
    unsafe { one_array(x, n, result, treefold::sum) }
}

/// The sum of n complex numbers.
///
/// # Safety
/// `x` has 2 n numbers, and `result` has 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_c64(x: *const f64, n: usize, result: *mut f64) -> Status {
    let (x, result) = (x.cast::<Complex<f64>>(), result.cast());
    // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.
    unsafe { one_array(x, n, result, treefold::sum) }
}

/// The dot product.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_dot_f32(
    x: *const f32,
    n: usize,
    y: *const f32,
    m: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, treefold::dot) }
}

/// The dot product.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_dot_f64(
    x: *const f64,
    n: usize,
    y: *const f64,
    m: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, treefold::dot) }
}

/// The sum of the squares.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_squared_norm_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, treefold::squared_norm) }
}

/// The sum of the squares.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_squared_norm_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, treefold::squared_norm) }
}

/// The sum, and that of the absolute values.
///
/// # Safety
/// `x` has n numbers, and `sum` and `absolute_sum` are one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_and_absolute_sum_f32(
    x: *const f32,
    n: usize,
    sum: *mut f32,
    absolute_sum: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_results(x, n, (sum, absolute_sum), treefold::sum_and_absolute_sum) }
}

/// The sum, and that of the absolute values.
///
/// # Safety
/// `x` has n numbers, and `sum` and `absolute_sum` are one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sum_and_absolute_sum_f64(
    x: *const f64,
    n: usize,
    sum: *mut f64,
    absolute_sum: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_results(x, n, (sum, absolute_sum), treefold::sum_and_absolute_sum) }
}

/// The reduction of n items of any type by any operator.
///
/// # Safety
/// `items` are n elements of the type, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fold(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { fold(By::Caller, (element_type, op), (items, n), result) }
}

/// The reduction of rows, element by element.
///
/// # Safety
/// `items` are n elements of the type, and `result` are m.
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
    // SAFETY: the caller's promise is this function's.
    unsafe {
        fold_rows(
            By::Caller,
            (element_type, op),
            (items, n),
            width,
            (result, m),
        )
    }
}

/// The reductions of several fields.
///
/// # Safety
/// `fields` are `count` pointers to n elements of the type each, and `result` are `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fields(
    element_type: i32,
    op: i32,
    fields: *const *const c_void,
    count: usize,
    n: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { self::fields(By::Caller, (element_type, op), (fields, count, n), result) }
}

/// The reduction of n items by the caller's operator.
///
/// # Safety
/// `items` are n items of so many bytes, `empty` is NULL or one, `result` is one, and the operator does as `treefold.h` says.
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
    // SAFETY: the caller's promise is this function's.
    unsafe {
        fold_user(
            By::Caller,
            (items, n),
            item_bytes,
            (combine, context),
            empty,
            result,
        )
    }
}

/// The exact sum of n numbers.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::sum(By::Caller, x)) }
}

/// The exact sum of n numbers.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::sum(By::Caller, x)) }
}

/// The exact dot product.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_dot_f32(
    x: *const f32,
    n: usize,
    y: *const f32,
    m: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, |x, y| exact::dot(By::Caller, x, y)) }
}

/// The exact dot product.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_dot_f64(
    x: *const f64,
    n: usize,
    y: *const f64,
    m: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, |x, y| exact::dot(By::Caller, x, y)) }
}

/// The square root of the exact sum of the squares.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_norm_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::norm(By::Caller, x)) }
}

/// The square root of the exact sum of the squares.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_norm_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::norm(By::Caller, x)) }
}

/// The exact sums of the columns of rows.
///
/// # Safety
/// `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_rows_f32(
    items: *const f32,
    n: usize,
    width: usize,
    result: *mut f32,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { exact_sum_rows((items, n), width, (result, m)) }
}

/// The exact sums of the columns of rows.
///
/// # Safety
/// `items` are n numbers, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact_sum_rows_f64(
    items: *const f64,
    n: usize,
    width: usize,
    result: *mut f64,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { exact_sum_rows((items, n), width, (result, m)) }
}

/// The sum of n numbers, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_f32(x: *const f32, n: usize, result: *mut f32) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, local::par_sum) }
}

/// The sum of n numbers, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_f64(x: *const f64, n: usize, result: *mut f64) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, local::par_sum) }
}

/// The sum of n complex numbers, by all threads.
///
/// # Safety
/// `x` has 2 n numbers, and `result` has 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_c32(x: *const f32, n: usize, result: *mut f32) -> Status {
    let (x, result) = (x.cast::<Complex<f32>>(), result.cast());
    // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.
    unsafe { one_array(x, n, result, local::par_sum) }
}

/// The sum of n complex numbers, by all threads.
///
/// # Safety
/// `x` has 2 n numbers, and `result` has 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_c64(x: *const f64, n: usize, result: *mut f64) -> Status {
    let (x, result) = (x.cast::<Complex<f64>>(), result.cast());
    // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.
    unsafe { one_array(x, n, result, local::par_sum) }
}

/// The dot product, by all threads.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_dot_f32(
    x: *const f32,
    n: usize,
    y: *const f32,
    m: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, local::par_dot) }
}

/// The dot product, by all threads.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_dot_f64(
    x: *const f64,
    n: usize,
    y: *const f64,
    m: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, local::par_dot) }
}

/// The sum of the squares, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_squared_norm_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, local::par_squared_norm) }
}

/// The sum of the squares, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_squared_norm_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, local::par_squared_norm) }
}

/// The sum, and that of the absolute values, by all threads.
///
/// # Safety
/// `x` has n numbers, and `sum` and `absolute_sum` are one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_and_absolute_sum_f32(
    x: *const f32,
    n: usize,
    sum: *mut f32,
    absolute_sum: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_results(x, n, (sum, absolute_sum), local::par_sum_and_absolute_sum) }
}

/// The sum, and that of the absolute values, by all threads.
///
/// # Safety
/// `x` has n numbers, and `sum` and `absolute_sum` are one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_sum_and_absolute_sum_f64(
    x: *const f64,
    n: usize,
    sum: *mut f64,
    absolute_sum: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_results(x, n, (sum, absolute_sum), local::par_sum_and_absolute_sum) }
}

/// The reduction of n items of any type by any operator, by all threads.
///
/// # Safety
/// `items` are n elements of the type, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_fold(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { fold(By::Pool, (element_type, op), (items, n), result) }
}

/// The reduction of rows, element by element, by all threads.
///
/// # Safety
/// `items` are n elements of the type, and `result` are m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_fold_rows(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    width: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { fold_rows(By::Pool, (element_type, op), (items, n), width, (result, m)) }
}

/// The reductions of several fields, by all threads.
///
/// # Safety
/// `fields` are `count` pointers to n elements of the type each, and `result` are `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_fields(
    element_type: i32,
    op: i32,
    fields: *const *const c_void,
    count: usize,
    n: usize,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { self::fields(By::Pool, (element_type, op), (fields, count, n), result) }
}

/// The reduction of n items by the caller's operator, by all threads.
///
/// # Safety
/// `items` are n items of so many bytes, `empty` is NULL or one, `result` is one, and the operator does as `treefold.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_fold_user(
    items: *const c_void,
    n: usize,
    item_bytes: usize,
    combine: Combine,
    context: *mut c_void,
    empty: *const c_void,
    result: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe {
        fold_user(
            By::Pool,
            (items, n),
            item_bytes,
            (combine, context),
            empty,
            result,
        )
    }
}

/// The exact sum of n numbers, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_sum_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::sum(By::Pool, x)) }
}

/// The exact sum of n numbers, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_sum_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::sum(By::Pool, x)) }
}

/// The exact dot product, by all threads.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_dot_f32(
    x: *const f32,
    n: usize,
    y: *const f32,
    m: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, |x, y| exact::dot(By::Pool, x, y)) }
}

/// The exact dot product, by all threads.
///
/// # Safety
/// `x` has n numbers, `y` has m, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_dot_f64(
    x: *const f64,
    n: usize,
    y: *const f64,
    m: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { two_arrays((x, n), (y, m), result, |x, y| exact::dot(By::Pool, x, y)) }
}

/// The square root of the exact sum of the squares, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_norm_f32(
    x: *const f32,
    n: usize,
    result: *mut f32,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::norm(By::Pool, x)) }
}

/// The square root of the exact sum of the squares, by all threads.
///
/// # Safety
/// `x` has n numbers, and `result` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_par_exact_norm_f64(
    x: *const f64,
    n: usize,
    result: *mut f64,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { one_array(x, n, result, |x| exact::norm(By::Pool, x)) }
}
