//! Converts pointers with lengths to slices.

use std::ffi::{CStr, c_char, c_void};
use std::slice;

use bytemuck::{AnyBitPattern, NoUninit, Pod, PodCastError};

use crate::failure::{Code, Failure};

/// The location of an array in memory, and its name in the header.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    name: &'static str,
    begin: usize,
    count: usize,
}

impl Bytes {
    /// The bytes of an array.
    ///
    /// # Errors
    /// The pointer is NULL although the array has elements, or the array is longer than the address space allows.
    #[inline(always)]
    pub fn of(
        name: &'static str,
        pointer: *const c_void,
        length: usize,
        element_bytes: usize,
    ) -> Result<Self, Failure> {
        let begin = pointer.addr();
        let count = length.checked_mul(element_bytes);
        let count = count.filter(|&count| isize::try_from(count).is_ok());
        match count {
            Some(count) if count == 0 || (begin != 0 && begin.checked_add(count).is_some()) => {
                Ok(Self { name, begin, count })
            }
            _ => Err(Self::impossible(name, begin, length)),
        }
    }

    /// The memory to which one value will be written. The pointer is checked before the value is computed.
    ///
    /// # Errors
    /// Those of [`place`].
    #[inline(always)]
    pub fn of_place<T>(name: &'static str, pointer: *const T) -> Result<Self, Failure> {
        place(name, pointer)?;
        Self::of(name, pointer.cast(), 1, size_of::<T>())
    }

    /// The memory to which one value will be written. It has no bytes if the pointer is NULL.
    ///
    /// # Errors
    /// The address is not a multiple of the type's alignment.
    #[inline(always)]
    pub fn of_optional_place<T>(name: &'static str, pointer: *const T) -> Result<Self, Failure> {
        if pointer.is_null() {
            Self::of(name, pointer.cast(), 0, size_of::<T>())
        } else {
            Self::of_place(name, pointer)
        }
    }

    /// Checks that the array's address is a multiple of its elements' alignment. An array of no elements may have any address.
    ///
    /// # Errors
    /// The address is not aligned.
    #[inline(always)]
    pub fn aligned(self, alignment: usize) -> Result<Self, Failure> {
        if self.count == 0 || self.begin.is_multiple_of(alignment) {
            Ok(self)
        } else {
            Err(unaligned(self.name, alignment))
        }
    }

    #[cold]
    fn impossible(name: &str, begin: usize, length: usize) -> Failure {
        if begin == 0 {
            return Failure::null(name);
        }
        let message =
            format!("`{name}` cannot have {length} elements: they exceed the address space");
        Failure::new(Code::Length, message)
    }

    /// The array as a slice.
    ///
    /// # Safety
    /// `pointer` is the pointer from which `self` was made. If the array has elements, it can be read, and no thread writes to it, while
    /// the result is in use.
    #[inline]
    pub unsafe fn read<'a>(self, pointer: *const c_void) -> &'a [u8] {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: `of` has checked that the array is not NULL and has at most isize::MAX bytes, which do not wrap. The caller promises that
        // the array is readable and unchanged. Bytes need no alignment.
        unsafe { slice::from_raw_parts(pointer.cast(), self.count) }
    }

    /// The array as a mutable slice.
    ///
    /// # Safety
    /// `pointer` is the pointer from which `self` was made. If the array has elements, it can be read and written, and no other thread
    /// reads or writes it, while the result is in use.
    #[inline]
    pub unsafe fn write<'a>(self, pointer: *mut c_void) -> &'a mut [u8] {
        if self.count == 0 {
            return &mut [];
        }
        // SAFETY: as in `read`. No other thread reads or writes the array, as the caller promises.
        unsafe { slice::from_raw_parts_mut(pointer.cast(), self.count) }
    }
}

/// Checks that two arrays have no byte in common. A call's output must not overlap anything else that the call reads or writes.
///
/// # Errors
/// The arrays overlap.
#[inline(always)]
pub fn disjoint(one: Bytes, other: Bytes) -> Result<(), Failure> {
    // The ends of the arrays do not wrap, as `of` has checked.
    let is_before = one.begin + one.count <= other.begin;
    let is_after = other.begin + other.count <= one.begin;
    if is_before || is_after || one.count == 0 || other.count == 0 {
        Ok(())
    } else {
        Err(overlap(one.name, other.name))
    }
}

#[cold]
fn overlap(one: &str, other: &str) -> Failure {
    let message = format!("`{one}` and `{other}` overlap");
    Failure::new(Code::Argument, message)
}

/// The bytes as a slice of elements.
///
/// # Errors
/// The address is not a multiple of the type's alignment.
#[inline]
pub fn elements<'a, T: AnyBitPattern>(
    name: &'static str,
    bytes: &'a [u8],
) -> Result<&'a [T], Failure> {
    if bytes.is_empty() {
        return Ok(&[]);
    }
    bytemuck::try_cast_slice(bytes).map_err(|error| misfit::<T>(name, error))
}

/// The bytes as a mutable slice of elements.
///
/// # Errors
/// Those of [`elements`].
#[inline]
pub fn elements_mut<'a, T: Pod>(
    name: &'static str,
    bytes: &'a mut [u8],
) -> Result<&'a mut [T], Failure> {
    if bytes.is_empty() {
        return Ok(&mut []);
    }
    bytemuck::try_cast_slice_mut(bytes).map_err(|error| misfit::<T>(name, error))
}

/// Checks that an array's address has this alignment.
///
/// # Errors
/// The address is not aligned.
pub fn check_aligned(name: &str, array: &[u8], alignment: usize) -> Result<(), Failure> {
    if array.is_empty() || array.as_ptr().addr().is_multiple_of(alignment) {
        Ok(())
    } else {
        Err(unaligned(name, alignment))
    }
}

#[cold]
fn misfit<T>(name: &'static str, error: PodCastError) -> Failure {
    match error {
        PodCastError::TargetAlignmentGreaterAndInputNotAligned => unaligned(name, align_of::<T>()),
        error => Failure::argument(name, error),
    }
}

#[cold]
fn unaligned(name: &str, alignment: usize) -> Failure {
    let reason = format_args!("its address is not a multiple of {alignment}");
    Failure::argument(name, reason)
}

/// Writes a value through a pointer.
///
/// # Safety
/// `pointer` is NULL or can be written to.
///
/// # Errors
/// Those of [`place`].
#[inline]
pub unsafe fn write<T: NoUninit>(
    name: &'static str,
    pointer: *mut T,
    value: T,
) -> Result<(), Failure> {
    place(name, pointer)?;
    // SAFETY: `pointer` is aligned and not NULL, as was just checked, and it can be written to, as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Copies a value to a slice of bytes of the same size.
pub fn put<T: NoUninit>(value: T, bytes: &mut [u8]) {
    bytes.copy_from_slice(bytemuck::bytes_of(&value));
}

/// Copies bytes through a pointer.
///
/// # Safety
/// If the pointer is not NULL, `value.len()` bytes can be written through it, and these bytes do not overlap `value`.
///
/// # Errors
/// The pointer is NULL.
pub unsafe fn write_bytes(
    name: &'static str,
    pointer: *mut c_void,
    value: &[u8],
) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: `pointer` is not NULL. As the caller promises, `value.len()` bytes can be written through it; they do not overlap `value`.
    unsafe {
        pointer
            .cast::<u8>()
            .copy_from_nonoverlapping(value.as_ptr(), value.len())
    };
    Ok(())
}

/// Checks that a result can be written through a pointer. Called before the result is computed.
///
/// # Errors
/// The pointer is NULL, or its address is not a multiple of the type's alignment.
#[inline]
pub fn place<T>(name: &'static str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    if pointer.is_aligned() {
        Ok(())
    } else {
        Err(unaligned(name, align_of::<T>()))
    }
}

/// A C string, as UTF-8.
///
/// # Safety
/// If `pointer` is not NULL, it can be read up to its terminating 0, and no thread writes to it, while the result is in use.
///
/// # Errors
/// The string is NULL or not UTF-8.
pub unsafe fn text<'a>(name: &'static str, pointer: *const c_char) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: `pointer` is not NULL. As the caller promises, the string ends with a 0 and can be read up to there.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str();
    text.map_err(|_| Failure::argument(name, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::ptr;

    use super::{Bytes, disjoint, elements};
    use crate::failure::Code;

    #[test]
    fn arrays_that_cannot_be_are_refused() {
        let place = [0.0_f64; 4];
        let pointer = place.as_ptr().cast();
        let code = |pointer, length| Bytes::of("x", pointer, length, 8).map_err(|error| error.code);
        assert_eq!(code(ptr::null(), 1).unwrap_err(), Code::Null);
        assert!(code(ptr::null(), 0).is_ok());
        assert_eq!(code(pointer, usize::MAX).unwrap_err(), Code::Length);
        assert_eq!(
            code(pointer, usize::MAX / 16 + 1).unwrap_err(),
            Code::Length
        );
    }

    #[test]
    fn arrays_overlap_where_they_share_a_byte() {
        let place = [0_u8; 16];
        let array = |begin: usize, length| {
            let pointer = place[begin..].as_ptr().cast();
            Bytes::of("array", pointer, length, 1).unwrap()
        };
        let are_disjoint = |one, other| disjoint(one, other).is_ok();
        assert!(are_disjoint(array(0, 8), array(8, 8)));
        assert!(!are_disjoint(array(0, 9), array(8, 8)));
        assert!(!are_disjoint(array(4, 2), array(0, 16)));
        assert!(are_disjoint(array(4, 0), array(0, 16)));
    }

    #[test]
    fn elements_are_aligned() {
        let place = [0.0_f64; 2];
        let bytes: &[u8] = bytemuck::cast_slice(&place);
        assert_eq!(elements::<f64>("x", bytes).unwrap().len(), 2);
        let error = elements::<f64>("x", &bytes[1..9]).unwrap_err();
        assert_eq!(error.code, Code::Argument);
        assert_eq!(error.message, "`x`: its address is not a multiple of 8");
    }
}
