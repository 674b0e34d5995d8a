//! Software prefetch, and the sizes from which it pays.

use core::ops::Range;

use crate::processor::prefetch;

/// Smaller inputs fit into a core's own caches, where prefetching costs more than it saves.
pub(crate) const OWN_CACHE_BYTES: usize = 1 << 20;

/// Smaller inputs fit into the shared cache, which has a lower latency than memory.
pub(crate) const SHARED_CACHE_BYTES: usize = 1 << 23;

/// Inputs of this size or more come mostly from memory.
#[cfg(target_arch = "x86_64")]
pub(crate) const MEMORY_BYTES: usize = 1 << 24;

/// The prefetch distance from the shared cache: it hides the latency, and the prefetched lines stay in L1 until they are used.
pub(crate) const SHARED_CACHE_AHEAD_BYTES: usize = 6 << 10;

/// The prefetch distance from memory.
pub(crate) const MEMORY_AHEAD_BYTES: usize = 25 << 9;

/// Rows of this many bytes in all, or more, are prefetched.
pub(crate) const PREFETCH_ROWS_FROM_BYTES: usize = 1 << 22;

/// Prefetches for these columns of rows. For whole rows the distance is fixed; otherwise it prefetches the same columns of the
/// next rows, as many as there are in `rows`.
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

/// Prefetches the cache lines `ahead_bytes` after these elements.
#[inline(always)]
pub(crate) fn prefetch_lines<T>(elements: &[T], ahead_bytes: usize) {
    for line in elements.chunks((64 / size_of::<T>().max(1)).max(1)) {
        prefetch(line.as_ptr().wrapping_byte_add(ahead_bytes));
    }
}
