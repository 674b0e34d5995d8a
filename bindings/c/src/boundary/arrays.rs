//! Converts a program's arrays to slices of bytes, and checks the places of results.

use std::ffi::c_void;

use crate::element::ElementType;
use crate::failure::Failure;
use crate::keyed::Keys;
use crate::local::{self, AnyElement, LONGEST_ELEMENT};
use crate::raw::{Bytes, disjoint, write_bytes};
use crate::statistic::Asked;

/// A program's array: its name in the header, its address and its length.
pub(super) type Array = (&'static str, *const c_void, usize);

/// A program's keys: the code of their type, their address and their number.
pub type KeysInput = (i32, *const c_void, usize);

/// Returns an input array as bytes. The array must not overlap the output, `written`.
///
/// # Safety
/// The array has the given number of elements.
///
/// # Errors
/// The array is NULL, too long, or overlaps the output.
pub(super) unsafe fn input<'a>(
    (name, pointer, length): Array,
    element_type: ElementType,
    written: &[Bytes],
) -> Result<&'a [u8], Failure> {
    let array = Bytes::of(name, pointer, length, local::element_bytes(element_type))?;
    let array = array.aligned(local::alignment(element_type))?;
    for &written in written {
        disjoint(array, written)?;
    }
    // SAFETY: the caller promises that the arrays have these lengths.
    Ok(unsafe { array.read(pointer) })
}

/// Returns several arrays, each as [`input`] does.
///
/// # Safety
/// The arrays have the given numbers of elements.
///
/// # Errors
/// Those of [`input`].
pub(super) unsafe fn read<'a, const N: usize>(
    arrays: [Array; N],
    element_type: ElementType,
    written: &[Bytes],
) -> Result<[&'a [u8]; N], Failure> {
    let mut slices: [&[u8]; N] = [&[]; N];
    for (slice, array) in slices.iter_mut().zip(arrays) {
        // SAFETY: the caller promises what the callee requires.
        *slice = unsafe { input(array, element_type, written) }?;
    }
    Ok(slices)
}

/// Applies a function to arrays of the same type, and writes the function's result, which is one element.
///
/// # Safety
/// The arrays have the given number of elements, and `result` points to one element.
///
/// # Errors
/// Those of [`input`] and [`place_of`], or an error of the function.
pub(super) unsafe fn reduced<const N: usize>(
    element_type: ElementType,
    arrays: [Array; N],
    result: *mut c_void,
    reduce: impl FnOnce([&[u8]; N], &mut [u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let place = place_of("result", result, element_type)?;
    // SAFETY: the caller promises that the arrays have these lengths.
    let arrays = unsafe { read(arrays, element_type, &[place]) }?;
    // SAFETY: the caller promises that there is room for an element.
    unsafe { write_element(result, element_type, |value| reduce(arrays, value)) }
}

/// Writes one element, which a function computes into a buffer.
///
/// # Safety
/// `result` points to one element of the type.
///
/// # Errors
/// `result` is NULL, or the function fails.
pub(super) unsafe fn write_element(
    result: *mut c_void,
    element_type: ElementType,
    make: impl FnOnce(&mut [u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut value: AnyElement = [0; LONGEST_ELEMENT];
    let value = &mut value[..local::element_bytes(element_type)];
    make(value)?;
    // SAFETY: the caller promises that there is room for an element, which cannot overlap the local variable `value`.
    unsafe { write_bytes("result", result, value) }
}

/// Returns the one or two arrays of a statistic. If the statistic takes one array, the second must be NULL and have no elements.
///
/// # Safety
/// The arrays have the given numbers of elements.
///
/// # Errors
/// Those of [`input`]; or there are two arrays, but the statistic takes one.
pub(super) unsafe fn inputs<'a>(
    [x, y]: [Array; 2],
    element_type: ElementType,
    asked: Asked,
    written: &[Bytes],
) -> Result<Vec<&'a [u8]>, Failure> {
    // SAFETY: the caller promises what the callee requires.
    let mut arrays = vec![unsafe { input(x, element_type, written) }?];
    let (name, pointer, length) = y;
    if asked.of_reals().inputs() > 1 {
        // SAFETY: the caller promises what the callee requires.
        arrays.push(unsafe { input(y, element_type, written) }?);
    } else if !pointer.is_null() || length > 0 {
        let reason = format_args!("it must be NULL, since {} takes one array", asked.name());
        return Err(Failure::argument(name, reason));
    }
    Ok(arrays)
}

/// The memory to which one element will be written.
///
/// # Errors
/// The pointer is NULL, or not aligned.
pub(super) fn place_of(
    name: &'static str,
    pointer: *const c_void,
    element_type: ElementType,
) -> Result<Bytes, Failure> {
    let place = Bytes::of(name, pointer, 1, local::element_bytes(element_type))?;
    place.aligned(local::alignment(element_type))
}

/// The keys as a slice, and their location in memory.
///
/// # Safety
/// The address is NULL, or points to the given number of keys of the type.
///
/// # Errors
/// There is no such type, or the array is NULL or too long.
pub unsafe fn keys_of<'k>((key_type, keys, k): KeysInput) -> Result<(Keys<'k>, Bytes), Failure> {
    let key_type = ElementType::of_argument("key_type", key_type)?;
    let array = Bytes::of("keys", keys, k, local::element_bytes(key_type))?;
    // SAFETY: the caller promises that there are k keys.
    let bytes = unsafe { array.read(keys) };
    Ok((Keys { key_type, bytes }, array))
}
