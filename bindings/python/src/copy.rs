//! Copies of elements that lie on two strides. `strided` alone asks for them, with addresses and strides of an array.

use std::ptr;

/// A line of elements in memory.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) len: usize,
    pub(crate) stride: isize,
}

/// The address of an element of a line.
pub(crate) fn place(first: *const u8, stride: isize, index: usize) -> *const u8 {
    first.wrapping_offset(stride * index.cast_signed())
}

/// Copies elements of `BYTES` bytes, row by row.
pub(crate) fn copy<const BYTES: usize>(
    first: *const u8,
    rows: Line,
    columns: Line,
    into: &mut [u8],
) {
    let (into, _) = into.as_chunks_mut::<BYTES>();
    if columns.len == 1 {
        return copy_line(first, rows, into);
    }
    if rows.len > 1 && rows.stride.unsigned_abs() < columns.stride.unsigned_abs() {
        return transpose(first, rows, columns, into);
    }
    for (row, into) in into.chunks_exact_mut(columns.len).enumerate() {
        copy_line(place(first, rows.stride, row), columns, into);
    }
}

/// Copies elements that are nearer to those below than to those beside them: what is near in memory is read together, and as many columns at once
/// as fill a line of the cache that is written to.
fn transpose<const BYTES: usize>(
    first: *const u8,
    rows: Line,
    columns: Line,
    into: &mut [[u8; BYTES]],
) {
    const BESIDE: usize = 8;
    for column in (0..columns.len).step_by(BESIDE) {
        let place_of = |beside| place(first, columns.stride, column + beside);
        let firsts: [_; BESIDE] = std::array::from_fn(place_of);
        let count = BESIDE.min(columns.len - column);
        for (row, into) in into.chunks_exact_mut(columns.len).enumerate() {
            let into = &mut into[column..][..count];
            for (into, first) in into.iter_mut().zip(firsts) {
                *into = element(place(first, rows.stride, row));
            }
        }
    }
}

#[expect(unsafe_code, reason = "neighbours are copied at once")]
fn copy_line<const BYTES: usize>(first: *const u8, line: Line, into: &mut [[u8; BYTES]]) {
    assert_eq!(line.len, into.len(), "the line has another length");
    if line.stride == BYTES.cast_signed() {
        // SAFETY: these are elements of the array, side by side, and `into` is memory of this library.
        unsafe {
            ptr::copy_nonoverlapping(
                first,
                into.as_flattened_mut().as_mut_ptr(),
                line.len * BYTES,
            )
        };
        return;
    }
    let backward = -BYTES.cast_signed();
    if line.stride == backward {
        // The compiler turns registers around where it knows the stride.
        copy_each(first, backward, into);
    } else {
        copy_each(first, line.stride, into);
    }
}

#[inline(always)]
fn copy_each<const BYTES: usize>(first: *const u8, stride: isize, into: &mut [[u8; BYTES]]) {
    for (index, into) in into.iter_mut().enumerate() {
        *into = element(place(first, stride, index));
    }
}

/// The bytes of an element, which may lie at any address.
#[inline(always)]
#[expect(unsafe_code, reason = "an array's element lies where its strides say")]
fn element<const BYTES: usize>(at: *const u8) -> [u8; BYTES] {
    // SAFETY: `strided` passes addresses by the array's own lengths and strides, and NumPy has all of its elements in memory.
    unsafe { ptr::read(at.cast::<[u8; BYTES]>()) }
}
