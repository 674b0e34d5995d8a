//! Asking for memory ahead of use.

use core::ops::Range;

/// Leaves in fewer bytes lie in a core's own caches, where fetching ahead costs more than it brings.
pub(crate) const OWN_CACHE_BYTES: usize = 1 << 20;

/// Leaves in fewer bytes lie in the cache that cores share, where an answer does not take long.
pub(crate) const SHARED_CACHE_BYTES: usize = 1 << 23;

/// Leaves in so many bytes come from memory, for the most part.
pub(crate) const MEMORY_BYTES: usize = 1 << 24;

/// How far ahead leaves are fetched from the shared cache: far enough to hide it, and near enough that what is fetched stays in the first
/// cache until it is used.
pub(crate) const SHARED_CACHE_AHEAD_BYTES: usize = 6 << 10;

/// How far ahead leaves are fetched from memory.
pub(crate) const MEMORY_AHEAD_BYTES: usize = 25 << 9;

/// Rows in more bytes are fetched ahead of use.
pub(crate) const PREFETCH_ROWS_FROM_BYTES: usize = 1 << 22;

/// Asks for the lines that lie ahead of these columns of rows: further on where they are whole rows, else in as many rows
/// to come.
#[inline(always)]
pub(crate) fn prefetch_rows<T>(rows: &[T], width: usize, columns: &Range<usize>) {
    if columns.len() == width {
        prefetch_lines(rows, MEMORY_AHEAD_BYTES.max(size_of_val(rows)));
    } else {
        for row in rows.chunks_exact(width) {
            prefetch_lines(&row[columns.clone()], size_of_val(rows));
        }
    }
}

/// Asks for the lines that lie so many bytes behind these elements.
#[inline(always)]
pub(crate) fn prefetch_lines<T>(elements: &[T], ahead_bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in elements.chunks((64 / size_of::<T>().max(1)).max(1)) {
        crate::x86::prefetch(line.as_ptr().wrapping_byte_add(ahead_bytes));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, ahead_bytes);
}
