//! The functions of `treefold.h` for exact statistics, of all items, by key, and of windows.

use std::ffi::c_void;

use treefold::exact::{Placement, Statistic};

use super::arrays::{input, inputs, keys_of, place_of, write_element};
use super::guard;
use super::tree::{of_one_array, of_two_arrays};
use crate::element::ElementType;
use crate::exact;
use crate::failure::{Code, Failure, Status};
use crate::keyed::{self, Extent, Window};
use crate::local;
use crate::raw::{Bytes, disjoint, place};
use crate::statistic::{Asked, Question};

of_one_array! {
    treefold_exact_sum_f32, f32, exact::sum;
    treefold_exact_sum_f64, f64, exact::sum;
}

of_two_arrays! {
    treefold_exact_dot_f32, f32, exact::dot;
    treefold_exact_dot_f64, f64, exact::dot;
}

/// Writes a statistic of all items.
///
/// # Safety
/// `x` points to n elements of `element_type`, `y` points to m of them or is NULL, and `result` points to one element of the result's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_exact(
    element_type: i32,
    statistic: i32,
    ddof: f64,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
    result: *mut c_void,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let question = Question::of_codes(statistic, ddof)?;
        let asked = question.asked;
        let result_type = asked.element_type(element_type);
        let written = [place_of("result", result, result_type)?];
        let arrays = [("x", x, n), ("y", y, m)];
        // SAFETY: the caller promises that the arrays have these lengths.
        let arrays = unsafe { inputs(arrays, element_type, asked, &written) }?;
        let make = |value: &mut [u8]| exact::statistic(element_type, question, &arrays, value);
        // SAFETY: the caller promises that there is room for an element.
        unsafe { write_element(result, result_type, make) }
    })
}

/// Writes a statistic of each key's items.
///
/// # Safety
/// `keys` points to k keys, `x` to n elements of `element_type`, `y` to l of them or is NULL, and `result` to m of the result type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_by_key(
    element_type: i32,
    statistic: i32,
    ddof: f64,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    l: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let question = Question::of_codes(statistic, ddof)?;
        let asked = question.asked;
        let result_bytes = local::element_bytes(asked.element_type(element_type));
        let results = Bytes::of("result", result, m, result_bytes)?;
        // SAFETY: the caller promises that the keys can be read.
        let (keys, keys_array) = unsafe { keys_of((key_type, keys, k)) }?;
        disjoint(keys_array, results)?;
        if k != n {
            let message = format!("`keys` has {k} elements, but `x` has {n}");
            return Err(Failure::new(Code::Length, message));
        }
        let arrays = [("x", x, n), ("y", y, l)];
        // SAFETY: the caller promises that the arrays have these lengths.
        let mut arrays = unsafe { inputs(arrays, element_type, asked, &[results]) }?;
        if asked == Asked::Of(Statistic::Norm) {
            arrays.push(arrays[0]);
        }
        // SAFETY: the caller promises that there are m elements. They overlap neither keys nor items, as was just checked.
        let result = (unsafe { results.write(result) }, m);
        keyed::of_arrays(element_type, question, Some(keys), &arrays, 1, result)
    })
}

/// Writes a statistic of each column of each key's rows, or of each column of all rows.
///
/// # Safety
/// `keys` points to k keys or is NULL, `items` points to n elements of `element_type`, and `result` to m elements of the result's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_by_key_rows(
    element_type: i32,
    statistic: i32,
    ddof: f64,
    width: usize,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        element_type.check_real()?;
        let question = Question::of_codes(statistic, ddof)?;
        let asked = question.asked;
        if asked.of_reals().held().inputs() > 1 {
            return Err(asked.missing("rows"));
        }
        let result_bytes = local::element_bytes(asked.element_type(element_type));
        let results = Bytes::of("result", result, m, result_bytes)?;
        // If there are no rows, NULL means an array of no keys.
        let keys = if keys.is_null() && k == 0 && n > 0 {
            None
        } else {
            // SAFETY: the caller promises that the keys can be read.
            let (keys, keys_array) = unsafe { keys_of((key_type, keys, k)) }?;
            disjoint(keys_array, results)?;
            Some(keys)
        };
        // SAFETY: the caller promises that there are n elements.
        let items = unsafe { input(("items", items, n), element_type, &[results]) }?;
        // SAFETY: the caller promises that there are m elements. They overlap neither keys nor items, as was just checked.
        let result = (unsafe { results.write(result) }, m);
        keyed::of_arrays(element_type, question, keys, &[items], width, result)
    })
}

/// The `treefold_window` of `treefold.h`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct treefold_window {
    items: usize,
    index: *const c_void,
    width: *const c_void,
    index_type: i32,
    placement: i32,
    least_items: usize,
    skip_nan: i32,
}

/// Writes a statistic of each item's window.
///
/// # Safety
/// `window` points to a window. The window's `index` points to n numbers and its `width` to one number, or both are NULL. `x` points to n
/// elements of the type, `y` to l elements or is NULL, and `result` to m elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_rolling(
    element_type: i32,
    statistic: i32,
    ddof: f64,
    window: *const treefold_window,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    l: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let question = Question::of_codes(statistic, ddof)?;
        place("window", window)?;
        let results = Bytes::of("result", result, m, local::element_bytes(element_type))?;
        disjoint(Bytes::of_place("window", window)?, results)?;
        // SAFETY: `window` is aligned and not NULL, as was just checked, and the caller promises that it points to a window.
        let window = unsafe { window.read() };
        // SAFETY: the caller promises that the index and the width can be read.
        let window = unsafe { window_of(window, n, results) }?;
        let arrays = [("x", x, n), ("y", y, l)];
        // SAFETY: the caller promises that the arrays have these lengths.
        let arrays = unsafe { inputs(arrays, element_type, question.asked, &[results]) }?;
        // SAFETY: the caller promises that there are m elements. They overlap no other array, as was just checked.
        let result = unsafe { results.write(result) };
        keyed::rolling(element_type, question, window, &arrays, result)
    })
}

/// Converts a window's pointers to slices.
///
/// # Safety
/// `index` has `items` numbers of the index's type and `width` has one, or both pointers are NULL.
unsafe fn window_of<'a>(
    window: treefold_window,
    items: usize,
    results: Bytes,
) -> Result<Window<'a>, Failure> {
    const EXPANDING: i32 = 3;
    let placement = match window.placement {
        0 | EXPANDING => Placement::Trailing,
        1 => Placement::Forward,
        2 => Placement::Centred,
        other => {
            let reason = format_args!("`placement` must be from 0 to 3, not {other}");
            return Err(Failure::argument("window", reason));
        }
    };
    let extent = match (window.placement, window.items, window.index.is_null()) {
        (EXPANDING, ..) => Extent::Expanding,
        (_, items, true) => Extent::Items(items),
        (_, 0, false) => {
            let index_type = ElementType::of_argument("index_type", window.index_type)?;
            // SAFETY: the caller promises that the index has one number for each item.
            let index = unsafe { input(("index", window.index, items), index_type, &[results]) }?;
            // SAFETY: the caller promises that the pointer points to a number.
            let width = unsafe { input(("width", window.width, 1), index_type, &[results]) }?;
            Extent::Range {
                index_type,
                index,
                width,
            }
        }
        _ => {
            let reason = "set either `items` or `index`, not both";
            return Err(Failure::argument("window", reason));
        }
    };
    Ok(Window {
        extent,
        placement,
        least_items: window.least_items,
        skips_nan: window.skip_nan != 0,
    })
}
