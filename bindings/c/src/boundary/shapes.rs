//! What functions of `treefold.h` do that differ in nothing but the type or the operator: arrays become slices, and are reduced.

use std::ffi::c_void;
use std::slice;

use super::guard;
use crate::element::ElementType;
use crate::failure::{self, Failure, Status};
use crate::local::{self, By};
use crate::operator::Builtin;
use crate::raw::{Bytes, Combine, Function, disjoint, elements, elements_mut, write, write_bytes};

/// A reduction of one array to one number.
///
/// # Safety
/// `x` has n elements, and `result` is one.
#[inline]
pub(super) unsafe fn one_array<T: bytemuck::Pod, R: bytemuck::Pod, E: Into<Failure>>(
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
pub(super) unsafe fn two_arrays<T: bytemuck::Pod, E: Into<Failure>>(
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
pub(super) unsafe fn two_results<T: bytemuck::Pod, E: Into<Failure>>(
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
pub(super) unsafe fn fold(
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
        let mut value = [0; local::LONGEST_ELEMENT];
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
pub(super) unsafe fn fold_rows(
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
pub(super) unsafe fn fields(
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
        for (index, &field) in pointers.iter().enumerate() {
            let array = Bytes::of("fields", field, n, element_bytes).and_then(|array| {
                let array = array.aligned(alignment)?;
                disjoint(array, result_array)?;
                Ok(array)
            });
            let array = array.map_err(|failure| failure.of_element("fields", index))?;
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
pub(super) unsafe fn fold_user(
    by: By,
    (items, n): (*const c_void, usize),
    item_bytes: usize,
    (combine, context): (Combine, *mut c_void),
    empty: *const c_void,
    result: *mut c_void,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises such an operator.
        let function = unsafe { Function::new(item_bytes, combine, context) }?;
        let place = Bytes::of("result", result, 1, item_bytes)?;
        let array = Bytes::of("items", items, n, item_bytes)?;
        let empty_item = Bytes::of("empty", empty, usize::from(!empty.is_null()), item_bytes)?;
        disjoint(array, place)?;
        disjoint(empty_item, place)?;
        // SAFETY: the caller promises n items.
        let items = unsafe { array.read(items) };
        // SAFETY: the caller promises one item, or NULL.
        let empty = unsafe { empty_item.read(empty) };
        let empty = (!empty.is_empty()).then_some(empty);
        let mut value = vec![0; item_bytes];
        local::fold_user(by, items, function, empty, &mut value)?;
        // SAFETY: the caller promises room for an item, and `value` is this function's.
        unsafe { write_bytes("result", result, &value) }
    })
}

/// Several results of an array.
///
/// # Safety
/// `items` are n elements, and `result` are m.
pub(super) unsafe fn results<T: bytemuck::Pod>(
    (items, n): (*const T, usize),
    (result, m): (*mut T, usize),
    reduce: impl FnOnce(&[T], &mut [T]) -> Result<(), Failure>,
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
        reduce(elements("items", items)?, elements_mut("result", result)?)
    })
}
