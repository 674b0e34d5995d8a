//! Software prefetch, and the sizes from which it pays.

use core::ops::Range;

use crate::processor::prefetch;

/// Smaller inputs fit into a core's own caches, where prefetching costs more than it saves.
pub(crate) const OWN_CACHE_BYTES: usize = 1 << 20;

/// Smaller inputs fit into the shared cache, which has a lower latency than memory.
pub(crate) const SHARED_CACHE_BYTES: usize = 1 << 23;

/// Inputs of this size or more come mostly from memory.
pub(crate) const MEMORY_BYTES: usize = 1 << 24;

/// The prefetch distance from the shared cache: it hides the latency, and the prefetched lines stay in L1 until they are used.
pub(crate) const SHARED_CACHE_AHEAD_BYTES: usize = 6 << 10;

/// The prefetch distance from memory.
pub(crate) const MEMORY_AHEAD_BYTES: usize = 25 << 9;

/// From so many bytes on, the beginnings of long rows are prefetched.
const PREFETCH_STREAMS_FROM_BYTES: usize = 1 << 22;

/// Longer rows are so many streams, which the processor follows once they have begun.
const STREAM_BYTES: usize = 1 << 12;

/// The bytes at the beginning of such a stream that are prefetched.
const STREAM_BEGIN_BYTES: usize = 512;

/// Whether rows of so many bytes, `all_bytes` together, are prefetched.
pub(crate) const fn prefetches_rows(row_bytes: usize, all_bytes: usize) -> bool {
    match row_bytes > STREAM_BYTES {
        true => all_bytes >= PREFETCH_STREAMS_FROM_BYTES,
        false => all_bytes >= MEMORY_BYTES,
    }
}

/// Prefetches for these columns of rows, of which there are more behind. Short rows follow each other, so the distance is fixed; of long ones
/// it prefetches where the same columns of the next rows begin, as many as there are in `rows`.
#[inline(always)]
pub(crate) fn prefetch_rows<T>(rows: &[T], width: usize, columns: &Range<usize>) {
    if width * size_of::<T>() <= STREAM_BYTES {
        prefetch_lines(rows, MEMORY_AHEAD_BYTES.max(size_of_val(rows)));
    } else {
        let begin = columns.len().min(STREAM_BEGIN_BYTES / size_of::<T>());
        for row in rows.chunks_exact(width) {
            prefetch_lines(&row[columns.start..][..begin], size_of_val(rows));
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
