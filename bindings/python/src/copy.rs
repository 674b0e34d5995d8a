//! Copies the elements of an array along two axes of any strides. Only `strided` calls this module, with addresses and strides of an array.

use std::ptr;

use simd_kernels::{Level, vectorized};

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

/// Copies elements of `BYTES` bytes into `into`, row by row.
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

/// The number of columns that are read together. Their 8-byte elements fill a cache line of the output.
const BESIDE: usize = 8;

/// Copies elements whose neighbours in a column are nearer in memory than their neighbours in a row. Reads `BESIDE` columns together.
fn transpose<const BYTES: usize>(
    first: *const u8,
    rows: Line,
    columns: Line,
    into: &mut [[u8; BYTES]],
) {
    for column in (0..columns.len).step_by(BESIDE) {
        let count = BESIDE.min(columns.len - column);
        let first = place(first, columns.stride, column);
        let into = &mut into[column..];
        let firsts: [_; BESIDE] =
            std::array::from_fn(|beside| place(first, columns.stride, beside));
        let done = if BYTES == 8 && rows.stride == 8 && count == BESIDE {
            transpose_by_fours(firsts, rows.len, columns, into.as_flattened_mut())
        } else {
            0
        };
        for row in done..rows.len {
            let into = &mut into[row * columns.len..][..count];
            for (into, first) in into.iter_mut().zip(firsts) {
                *into = element(place(first, rows.stride, row));
            }
        }
    }
}

/// Copies rows of eight columns of eight bytes, four rows at a time, into rows of `columns.len` elements. Returns the number of copied
/// rows, which is 0 without AVX2.
#[cfg(not(target_arch = "x86_64"))]
fn transpose_by_fours(_: [*const u8; BESIDE], _: usize, _: Line, _: &mut [u8]) -> usize {
    0
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "the compiler does not vectorise this loop with shuffles"
)]
fn transpose_by_fours(
    firsts: [*const u8; BESIDE],
    rows: usize,
    columns: Line,
    into: &mut [u8],
) -> usize {
    use std::arch::x86_64::{
        __m128d, __m256d, _MM_HINT_T0, _mm_loadu_pd, _mm_prefetch, _mm256_castpd128_pd256,
        _mm256_insertf128_pd, _mm256_storeu_pd, _mm256_unpackhi_pd, _mm256_unpacklo_pd,
    };

    #[target_feature(enable = "avx2")]
    fn by_fours(firsts: [*const u8; BESIDE], rows: usize, columns: Line, into: &mut [u8]) {
        let width = 8 * columns.len;
        assert!(rows == 0 || (rows - 1) * width + 8 * BESIDE <= into.len());
        let into = into.as_mut_ptr();
        for row in (0..rows).step_by(4) {
            if row % 8 == 0 {
                // Prefetches the next columns, which are far away in memory.
                for first in firsts {
                    let ahead = place(first, columns.stride, BESIDE);
                    _mm_prefetch::<_MM_HINT_T0>(place(ahead, 8, row).cast());
                }
            }
            for column in [0, 4] {
                let load = |beside: usize, below: usize| -> __m128d {
                    let at = place(firsts[column + beside], 8, row + below);
                    // SAFETY: these are two elements of a column, which are adjacent in memory.
                    unsafe { _mm_loadu_pd(at.cast()) }
                };
                for below in [0, 2] {
                    let [left, right] = [0, 1].map(|beside| -> __m256d {
                        let low = _mm256_castpd128_pd256(load(beside, below));
                        _mm256_insertf128_pd::<1>(low, load(beside + 2, below))
                    });
                    let pair = [
                        _mm256_unpacklo_pd(left, right),
                        _mm256_unpackhi_pd(left, right),
                    ];
                    for (next, four) in pair.into_iter().enumerate() {
                        let to = place(into, 1, (row + below + next) * width + 8 * column);
                        // SAFETY: the row has eight columns, and these are four of them.
                        unsafe { _mm256_storeu_pd(to.cast_mut().cast(), four) };
                    }
                }
            }
        }
    }

    let rows = rows / 4 * 4;
    if !is_x86_feature_detected!("avx2") {
        return 0;
    }
    // SAFETY: the processor has AVX2.
    unsafe { by_fours(firsts, rows, columns, into) };
    rows
}

#[expect(unsafe_code, reason = "adjacent elements are copied at once")]
fn copy_line<const BYTES: usize>(first: *const u8, line: Line, into: &mut [[u8; BYTES]]) {
    assert_eq!(
        line.len,
        into.len(),
        "the line and the buffer have different lengths"
    );
    if line.stride == BYTES.cast_signed() {
        // SAFETY: these are adjacent elements of the array, and `into` is memory of this library.
        unsafe {
            ptr::copy_nonoverlapping(
                first,
                into.as_flattened_mut().as_mut_ptr(),
                line.len * BYTES,
            )
        };
        return;
    }
    // The compiler vectorises with shuffles only if the stride is a constant in each loop.
    let level = Level::best();
    if line.stride == -BYTES.cast_signed() {
        vectorized(level, || copy_each(first, -BYTES.cast_signed(), into));
    } else if line.stride == 2 * BYTES.cast_signed() {
        vectorized(level, || copy_each(first, 2 * BYTES.cast_signed(), into));
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

/// The bytes of an element, which may be at any address.
#[inline(always)]
#[expect(unsafe_code, reason = "strides determine the address of an element")]
fn element<const BYTES: usize>(at: *const u8) -> [u8; BYTES] {
    // SAFETY: `strided` computes addresses from the array's lengths and strides, and all elements of the array are in memory.
    unsafe { ptr::read(at.cast::<[u8; BYTES]>()) }
}
