//! Asking for memory ahead of use.

use core::ops::Range;

/// More than this many bytes are fetched ahead of use; fewer lie in near caches, where fetching costs more than it brings.
pub(crate) const PREFETCH_FROM_BYTES: usize = 1 << 22;

/// How far ahead, in bytes.
const PREFETCH_BYTES: usize = 1 << 14;

/// Asks for the lines that lie ahead of these elements.
#[inline(always)]
pub(crate) fn prefetch_ahead<T>(elements: &[T]) {
    prefetch_lines(elements, PREFETCH_BYTES);
}

/// Asks for the lines that lie ahead of these columns of rows: further on where they are whole rows, else in as many rows
/// to come.
#[inline(always)]
pub(crate) fn prefetch_rows<T>(rows: &[T], width: usize, columns: &Range<usize>) {
    if columns.len() == width {
        prefetch_lines(rows, PREFETCH_BYTES.max(size_of_val(rows)));
    } else {
        for row in rows.chunks_exact(width) {
            prefetch_lines(&row[columns.clone()], size_of_val(rows));
        }
    }
}

/// Asks for the lines that lie so many bytes behind these elements.
#[inline(always)]
fn prefetch_lines<T>(elements: &[T], ahead_bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in elements.chunks((64 / size_of::<T>().max(1)).max(1)) {
        crate::x86::prefetch(line.as_ptr().wrapping_byte_add(ahead_bytes));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, ahead_bytes);
}
